//! The explanation of a past moment.
//!
//! The state of an alert at a past moment is not stored. What is stored are its history, which has its status and its firings, and
//! the bars of its stocks. So the explanation replays the bars ([`evaluation::replay`]) from the alert's last activation before
//! the moment, and takes the comparisons from the engine as of then. Status, snooze and cooldown come from the history.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use alerts::engine::{EngineConfig, Explanation};
use alerts::expression::Fraction;
use alerts::{Alert, Condition, NewAlert, Status};
use evaluation::replay::{Replay, ReplayAlert, ReplayPeriod, bar_calendar};
use evaluation::stocks::RecordedFacts;
use foundation::{Actor, ServiceError};
use jiff::civil::Date;
use jiff::{Span, Timestamp};
use market::calendar::{new_york, new_york_date};
use market::records::SplitRow;
use market::{Bar, Calendar, Price, SplitRatio, Symbol};
use sources::folder::MarketData;
use store::model::AccountId;

use super::past_state::PastState;
use super::{BlockingReason, ExplainedAlert, ExplainedPast, gates, sentence_of};
use crate::alerts::Alerts;
use crate::alerts::preview::resolution::Resolution;
use crate::alerts::preview::{PreviewPlan, ReplayCancellation, WARM_UP_DAYS};

/// The number of days before each day among which there is a session.
const LAST_SESSION_DAYS: i64 = 5;

/// An alert with its state at a past moment.
#[derive(Clone, Debug)]
pub(super) struct PastAlert {
    alert: Alert,
    plan: PreviewPlan,
    state: PastState,
}

impl PastAlert {
    pub(super) const fn status(&self) -> Status {
        self.state.status
    }
}

/// The input of the replay.
#[derive(Debug)]
struct PastReplay {
    alerts: Vec<PastAlert>,
    data: MarketData,
    /// The calendar of the bars.
    calendar: Calendar,
    /// The calendar by which the service evaluates.
    service_calendar: Calendar,
    config: EngineConfig,
    at: Timestamp,
    today: Date,
}

impl Alerts {
    pub(super) async fn explain_past(
        &self,
        actor: &Actor,
        alert: Alert,
        at: Timestamp,
    ) -> Result<ExplainedAlert, ServiceError> {
        self.require_past(at)?;
        let created_at = alert.created_at;
        let Some(past) = self.past_alert(alert, at).await? else {
            let message = format!("must not be before the alert's creation at {created_at:.0}");
            return Err(ServiceError::field("at", message));
        };
        let mut explained = self.explain_all_past(actor.account, vec![past.clone()], at).await?;
        let mut found = explained.pop().ok_or_else(super::no_such_alert)?;
        found.gates.extend(gates::of_plan(actor.plan, &past.alert));
        Ok(found)
    }

    /// # Errors
    /// [`ServiceError::Invalid`] for a moment in the future.
    pub(super) fn require_past(&self, at: Timestamp) -> Result<(), ServiceError> {
        let now = self.ports.clock.now();
        if at > now {
            return Err(ServiceError::field(
                "at",
                format!("must not be in the future, but is after {now:.0}"),
            ));
        }
        Ok(())
    }

    /// Returns an alert with its state at a past moment; `None` if it did not exist then.
    pub(super) async fn past_alert(&self, alert: Alert, at: Timestamp) -> Result<Option<PastAlert>, ServiceError> {
        let Some(state) = self.past_state(&alert, at).await? else {
            return Ok(None);
        };
        let plan = PreviewPlan::of(NewAlert {
            symbol: alert.symbol,
            condition: alert.condition.clone(),
            notification: alert.notification,
            parameters: None,
            note: None,
            tags: alert.tags.clone(),
            options: alert.options.clone(),
            routing: alerts::Routing::default(),
            managed_by: None,
            email: None,
        });
        Ok(Some(PastAlert { alert, plan, state }))
    }

    /// Explains alerts at a past moment, in their order.
    pub(super) async fn explain_all_past(
        &self,
        account: AccountId,
        alerts: Vec<PastAlert>,
        at: Timestamp,
    ) -> Result<Vec<ExplainedAlert>, ServiceError> {
        let mut symbols: Vec<Symbol> = alerts.iter().flat_map(|past| past.plan.symbols()).collect();
        symbols.sort_unstable();
        symbols.dedup();
        let last_sessions = new_york_date(at).saturating_sub(Span::new().days(LAST_SESSION_DAYS));
        let facts = alerts.iter().fold(RecordedFacts::default(), |all, past| {
            let facts = past.plan.facts();
            RecordedFacts {
                insiders: all.insiders || facts.insiders,
                mentions: all.mentions || facts.mentions,
                // Those of the last session before the moment, also after a long weekend: many alerts may be explained at once.
                intraday_from: all.intraday_from.or(facts.intraday_from.map(|_| last_sessions)),
            }
        });
        let armed_at = alerts.iter().map(|past| past.state.armed_at).min().unwrap_or(at);
        let warm_up = new_york_date(armed_at).saturating_sub(Span::new().days(WARM_UP_DAYS));
        let permit = self.previews.acquire_for(account).await?;
        let replay = PastReplay {
            data: self.stocks.recorded_market(&symbols, warm_up, facts).await?,
            calendar: bar_calendar(&self.settings.calendar),
            service_calendar: self.settings.calendar.clone(),
            config: self.settings.engine.clone(),
            alerts,
            at,
            today: new_york_date(self.ports.clock.now()),
        };
        let cancellation = ReplayCancellation::default();
        let is_cancelled = cancellation.flag();
        let explain = move || {
            let _running = permit;
            explain(replay, &is_cancelled)
        };
        let explained = tokio::task::spawn_blocking(explain).await;
        explained.map_err(ServiceError::internal)
    }
}

/// Replays the bars up to the moment and explains each alert. The result of a cancelled explanation is not used.
fn explain(replay: PastReplay, is_cancelled: &AtomicBool) -> Vec<ExplainedAlert> {
    let PastReplay { alerts, data, at, .. } = &replay;
    let played = alerts.iter().map(|past| played(past, data, replay.today)).collect();
    let first = alerts.iter().map(|past| past.state.armed_at).min().unwrap_or(*at);
    let period = ReplayPeriod {
        from: new_york_date(first),
        to: new_york_date(*at),
    };
    let continue_always = |_| ControlFlow::Continue(());
    let config = replay.config.clone();
    let run = Replay::with_config(data, &replay.calendar, period, played, config, continue_always);
    let found = run.explain_at(*at, |_| !is_cancelled.load(Ordering::Relaxed));
    let explained = alerts.iter().zip(found);
    explained
        .map(|(past, explanation)| explained_alert(past, explanation, &replay))
        .collect()
}

/// Returns an alert as it was armed, in the shares of that day.
fn played(past: &PastAlert, data: &MarketData, today: Date) -> ReplayAlert {
    let (armed_at, set_at) = (past.state.armed_at, past.alert.threshold_set_at);
    let armed_on = new_york_date(armed_at);
    let mut alert = past.plan.alert.clone();
    let (condition, initial_price) = prices_of_day(&past.alert, data, armed_on, today);
    alert.condition = condition;
    if let Condition::Expression(set) = alert.condition.clone() {
        // A later expression is in later shares; an earlier one is judged in the shares of its day.
        let since_then =
            |split: &&SplitRow| armed_on < split.date && split.date <= today && new_york(split.date, 0, 0) <= set_at;
        let shares_then = |symbol: Option<Symbol>| {
            let symbol = symbol.unwrap_or(past.alert.symbol);
            let splits = data.splits.iter().filter(|split| split.symbol == symbol);
            let ratios = splits
                .filter(since_then)
                .map(|split| Fraction::from_micros(split.ratio.micros()));
            let ratio = ratios.reduce(|product, ratio| product.multiply(&ratio))?;
            Fraction::from_whole(1).divide(&ratio)
        };
        if let Some(expression) = set.expression.in_new_shares(&shares_then) {
            alert.condition = Condition::expression(expression, set.within);
        }
    }
    ReplayAlert {
        // The price of a later activation says nothing about this moment.
        initial_price: initial_price.filter(|_| past.alert.initial_price_set_at <= armed_at),
        condition_set_at: Some(set_at.min(armed_at)),
        ..ReplayAlert::new(alert, Some(armed_at))
    }
}

/// Returns the resolution of the last session that had begun at a moment, for the stocks of an alert together.
fn resolution_at(past: &PastAlert, replay: &PastReplay) -> Resolution {
    let at = replay.at;
    let has_begun = |day: &&Bar| {
        replay
            .calendar
            .session(day.date)
            .is_some_and(|session| session.open <= at)
    };
    let is_intraday = |symbol: &Symbol| {
        let Some(bars) = replay.data.bars.get(symbol) else {
            return false;
        };
        let last = bars.intraday.iter().rev().find(|bar| bar.time <= at);
        let session = bars.daily.iter().rev().find(has_begun);
        session.is_some() && last.map(|bar| new_york_date(bar.time)) == session.map(|day| day.date)
    };
    let symbols = past.plan.symbols();
    let intraday = symbols.iter().filter(|symbol| is_intraday(symbol)).count();
    Resolution::of(intraday, symbols.len())
}

/// Returns the condition and the initial price of an alert with its prices in the shares of a past day. Splits after `today` are
/// announced, but not applied.
fn prices_of_day(alert: &Alert, data: &MarketData, day: Date, today: Date) -> (Condition, Option<Price>) {
    let (mut condition, mut initial_price) = (alert.condition.clone(), alert.initial_price);
    let splits = data.splits.iter();
    for split in splits.filter(|split| split.symbol == alert.symbol && day < split.date && split.date <= today) {
        let before = |price: Price| before_split(price, split.ratio);
        if let Condition::Price { threshold, .. } = &mut condition {
            *threshold = before(*threshold);
        }
        initial_price = initial_price.map(before);
    }
    (condition, initial_price)
}

/// Returns a price per share of before a split. One in whole cents is found again, although the price after it is rounded.
fn before_split(price: Price, ratio: SplitRatio) -> Price {
    const CENT: i64 = 10_000;
    let micros = ratio.multiply(price.micros());
    let cents = micros.saturating_add(CENT / 2) / CENT * CENT;
    // Half a millionth of a dollar after the split is at most so much before it.
    let rounding = ratio.multiply(1);
    let is_rounded = (micros - cents).abs() <= rounding;
    Price::from_micros(if is_rounded { cents } else { micros }).unwrap_or(price)
}

fn explained_alert(past: &PastAlert, mut explanation: Option<Explanation>, replay: &PastReplay) -> ExplainedAlert {
    let PastAlert { alert, state, .. } = past;
    let (calendar, at) = (&replay.service_calendar, replay.at);
    let mut gates: Vec<BlockingReason> = Vec::new();
    gates.extend(gates::of_status(state.status, state.has_expired));
    gates.extend(gates::of_market(calendar, alert, at));
    gates.extend(gates::of_past_extended_hours(calendar, alert, at));
    if state.status == Status::Active {
        let wait = explanation.as_ref().and_then(|explanation| explanation.wait);
        gates.extend(state.wait(&alert.options, wait, at).and_then(gates::of_wait));
    }
    if let Some(explanation) = &mut explanation {
        gates.extend(gates::of_unknown(explanation));
        explanation.next_check = None;
    }
    let (condition, initial_price) = prices_of_day(alert, &replay.data, new_york_date(at), replay.today);
    let shown = Alert {
        condition,
        initial_price,
        ..alert.clone()
    };
    ExplainedAlert {
        sentence: sentence_of(&shown, explanation.as_ref()),
        explanation,
        gates,
        next_check: None,
        past: Some(ExplainedPast {
            at,
            changed_at: Some(alert.threshold_set_at).filter(|&changed_at| changed_at > at),
            resolution: resolution_at(past, replay),
        }),
    }
}
