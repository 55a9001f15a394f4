//! Preview: the firings that an alert would have had on the stored bars.
//!
//! The replay ([`evaluation::replay`]) runs the engine of the service over the stored history of the stocks that the alert
//! names. Nothing is stored, and no alert is armed in the service.
//!
//! * [`plan`]: the alert as it is played: one that fires once plays as if it fired each time.
//! * [`run()`]: plays it; [`coverage`]: the days with bars of all stocks; [`resolution`]: those with
//!   the parts of their sessions; [`outcome`]: what came after the firings;
//!   [`noise`]: whether the alert fires too often.

pub mod coverage;
mod limit;
pub mod noise;
pub mod outcome;
mod plan;
mod request;
pub mod resolution;
mod run;

use std::collections::BTreeSet;

use alerts::request::{ParseContext, parse_create, parse_template};
use alerts::scope::shown_symbol;
use alerts::{AlertScope, Condition, NewAlert, plan as plans};
use evaluation::market::completed_session;
use evaluation::replay::bar_calendar;
use jiff::Span;
use jiff::civil::Date;
use market::Symbol;
use market::calendar::new_york_date;
use serde_json::Value;

use crate::alerts::Alerts;
use crate::alerts::scoped::{at_place, read_scope};
use foundation::request::Request;
use foundation::{Actor, ServiceError};

pub(crate) use limit::PreviewLimit;
pub(super) use limit::ReplayCancellation;
pub use plan::PreviewPlan;
pub use request::PreviewAlertRequest;
use resolution::keep_common_sessions;
pub use run::{MAX_PREVIEW_FIRINGS, Preview, PreviewFiring, PreviewInput, run};

/// The longest period of a preview.
const MAX_PREVIEW_YEARS: i16 = 10;
/// The period of a preview without `from`.
const DEFAULT_PREVIEW_YEARS: i16 = 5;
/// How many days before the period bars are read, so that every indicator has its values at the beginning; as many as the engine of
/// the service keeps.
pub const WARM_UP_DAYS: i64 = 1_100;

/// The requested days.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RequestedDays {
    from: Date,
    to: Date,
}

impl Alerts {
    /// Plays an alert over the stored bars: `{alert, from?, to?}`, with `alert` as in a create request. One over many stocks is
    /// played on each of them; a scope with a watchlist has its present stocks.
    ///
    /// # Errors
    /// As [`Self::create_alert`] up to the plan's features; [`ServiceError::Invalid`] for invalid days;
    /// [`ServiceError::Overloaded`] if too many previews are waiting.
    pub async fn preview_alert(&self, actor: &Actor, body: &Value) -> Result<Preview, ServiceError> {
        let request = PreviewAlertRequest::read(body)?;
        let now = self.ports.clock.now();
        let context = ParseContext {
            now,
            time_zone: &actor.time_zone,
            calendar: &self.settings.calendar,
        };
        let body = &request.alert.0;
        let scope = body.get("scope").filter(|scope| !scope.is_null());
        let (alert, symbols) = match scope.map(read_scope).transpose()? {
            None => {
                let alert = parse_create(body, &context)?;
                let symbols = vec![alert.symbol];
                (alert, symbols)
            }
            Some(AlertScope::Symbols(symbols)) => (parse_template(body, &context)?, symbols),
            Some(AlertScope::Watchlist(intention)) => {
                let symbols = self.ports.store.watchlist_symbols(actor.account, intention).await?;
                (parse_template(body, &context)?, symbols)
            }
        };
        let today = new_york_date(now);
        let completed = completed_session(&bar_calendar(&self.settings.calendar), now).unwrap_or(today);
        let days = requested_days(&request, completed)?;
        plans::check_alert_features(actor.plan, &alert.condition, alert.notification)?;
        for &symbol in &symbols {
            let known = self.prices.require_stock_to_read(symbol).await;
            known.map_err(|error| match scope {
                Some(sent) => at_place(sent, symbol, error),
                None => error,
            })?;
        }
        if matches!(alert.condition, Condition::Expression(_)) {
            self.require_named_stocks(body, alert.symbol).await?;
        }

        let permit = self.previews.acquire_for(actor.account).await?;
        // A client that goes away drops this future, which ends the thread of the stock that is played.
        let cancellation = ReplayCancellation::default();
        self.note_previewed(&alert, &symbols).await;
        // One stock after the other, so that the bars of 500 stocks are not in memory at once.
        let mut played = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            let member = NewAlert {
                symbol,
                ..alert.clone()
            };
            let input = self.preview_input(member, days).await?;
            let (permit, is_cancelled) = (permit.clone(), cancellation.flag());
            let play = move || {
                let _running = permit;
                run::play(&input, &is_cancelled)
            };
            let stock = tokio::task::spawn_blocking(play).await;
            played.push(stock.map_err(ServiceError::internal)?);
        }
        Ok(run::combine(played, &bar_calendar(&self.settings.calendar)))
    }

    /// Records a read of the stocks of a preview. Those of a scope ask the source for few stocks at most.
    async fn note_previewed(&self, alert: &NewAlert, symbols: &[Symbol]) {
        let named = PreviewPlan::of(alert.clone()).used_symbols();
        let named = named.into_iter().filter_map(shown_symbol);
        let own = match symbols {
            [symbol] => vec![*symbol],
            many => self.prices.bounded_reads(many),
        };
        let reads: BTreeSet<Symbol> = named.chain(own).collect();
        for symbol in reads {
            self.prices.note_read(symbol).await;
        }
    }

    async fn preview_input(&self, alert: NewAlert, days: RequestedDays) -> Result<PreviewInput, ServiceError> {
        let plan = PreviewPlan::of(alert);
        let symbols: Vec<Symbol> = plan.symbols();
        let warm_up = days.from.saturating_sub(Span::new().days(WARM_UP_DAYS));
        let mut data = self.stocks.recorded_market(&symbols, warm_up, plan.facts()).await?;
        keep_common_sessions(&mut data, &plan.used_symbols());
        let benchmark = self.settings.benchmark;
        let facts = evaluation::stocks::RecordedFacts::default();
        let benchmark_data = self.stocks.recorded_market(&[benchmark], days.from, facts).await?;
        Ok(PreviewInput {
            plan,
            data,
            from: days.from,
            to: days.to,
            benchmark,
            benchmark_data,
            calendar: bar_calendar(&self.settings.calendar),
            config: self.settings.engine.clone(),
        })
    }
}

/// Returns the days of a request, at most [`MAX_PREVIEW_YEARS`] up to the last completed session.
fn requested_days(request: &PreviewAlertRequest, completed: Date) -> Result<RequestedDays, ServiceError> {
    let (from, to) = (request.from.map(|day| day.0), request.to.map(|day| day.0));
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(ServiceError::field("from", "must not be after `to`"));
    }
    if let Some(from) = from.filter(|&from| from > completed) {
        let message = format!("must not be after the last completed session, {completed}, but is {from}");
        return Err(ServiceError::field("from", message));
    }
    let to = to.map_or(completed, |to| to.min(completed));
    let years_before = |years: i16| to.saturating_sub(Span::new().years(years));
    let from = from.unwrap_or_else(|| years_before(DEFAULT_PREVIEW_YEARS));
    Ok(RequestedDays {
        from: from.max(years_before(MAX_PREVIEW_YEARS)),
        to,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use serde_json::json;

    fn days(from: Value, to: Value) -> Result<(Date, Date), String> {
        let body = json!({"alert": {}, "from": from, "to": to});
        let request = PreviewAlertRequest::read(&body).map_err(|error| error.to_string())?;
        let days = requested_days(&request, date(2024, 3, 8)).map_err(|error| error.to_string())?;
        Ok((days.from, days.to))
    }

    #[test]
    fn period_has_five_years_and_at_most_ten() {
        let none = Value::Null;
        assert_eq!(
            days(none.clone(), none.clone()),
            Ok((date(2019, 3, 8), date(2024, 3, 8)))
        );
        assert_eq!(
            days(json!("1990-01-01"), none.clone()),
            Ok((date(2014, 3, 8), date(2024, 3, 8)))
        );
        assert_eq!(
            days(none.clone(), json!("2030-01-01")),
            Ok((date(2019, 3, 8), date(2024, 3, 8)))
        );
        assert_eq!(
            days(none, json!("2020-02-29")),
            Ok((date(2015, 2, 28), date(2020, 2, 29)))
        );
        assert_eq!(
            days(json!("2024-03-08"), json!("2024-03-08")),
            Ok((date(2024, 3, 8), date(2024, 3, 8)))
        );
    }

    #[test]
    fn invalid_days_are_errors_of_their_field() {
        for (from, to, error) in [
            (json!("2024-03-08"), json!("2024-03-07"), "from: must not be after `to`"),
            (
                json!("2024-03-09"),
                Value::Null,
                "from: must not be after the last completed session, 2024-03-08, but is 2024-03-09",
            ),
            (
                json!("yesterday"),
                Value::Null,
                "from: must be a date such as 2024-03-08, or null",
            ),
            (Value::Null, json!(7), "to: must be a date such as 2024-03-08, or null"),
        ] {
            assert_eq!(days(from, to), Err(error.to_owned()));
        }
    }
}
