//! The explanation of a past moment.
//!
//! The state of an alert at a past moment is not stored. What is stored are its history, which has its status and its firings, and
//! the daily bars of its stocks. So the explanation replays the bars ([`evaluation::replay`]) from the alert's last activation before
//! the moment, and takes the comparisons from the engine as of then. Status, snooze and cooldown come from the history.

use std::ops::ControlFlow;

use alerts::engine::{EngineConfig, Explanation};
use alerts::expression::Fraction;
use alerts::{Alert, Condition, NewAlert, Status};
use evaluation::replay::{Replay, ReplayAlert, ReplayPeriod};
use evaluation::stocks::RecordedFacts;
use foundation::{Actor, ServiceError};
use jiff::{Span, Timestamp};
use market::calendar::{new_york, new_york_date};
use market::records::SplitRow;
use market::{Calendar, Price, Symbol};
use sources::folder::MarketData;
use store::model::AccountId;

use super::past_state::PastState;
use super::{BlockingReason, ExplainedAlert, ExplainedPast, gates, sentence_of};
use crate::alerts::Alerts;
use crate::alerts::preview::{PreviewPlan, WARM_UP_DAYS, bar_calendar};

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
        let facts = alerts.iter().fold(RecordedFacts::default(), |all, past| {
            let facts = past.plan.facts();
            RecordedFacts {
                insiders: all.insiders || facts.insiders,
                mentions: all.mentions || facts.mentions,
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
        };
        let explain = move || {
            let _running = permit;
            explain(replay)
        };
        let explained = tokio::task::spawn_blocking(explain).await;
        explained.map_err(ServiceError::internal)
    }
}

/// Replays the bars up to the moment and explains each alert.
fn explain(replay: PastReplay) -> Vec<ExplainedAlert> {
    let PastReplay { alerts, data, at, .. } = &replay;
    let played = alerts.iter().map(|past| played(past, data)).collect();
    let first = alerts.iter().map(|past| past.state.armed_at).min().unwrap_or(*at);
    let period = ReplayPeriod {
        from: new_york_date(first),
        to: new_york_date(*at),
    };
    let continue_always = |_| ControlFlow::Continue(());
    let config = replay.config.clone();
    let run = Replay::with_config(data, &replay.calendar, period, played, config, continue_always);
    let found = run.explain_at(*at);
    let explained = alerts.iter().zip(found);
    explained
        .map(|(past, explanation)| explained_alert(past, explanation, &replay.service_calendar, *at))
        .collect()
}

/// Returns an alert as it was armed, in the shares of that day.
fn played(past: &PastAlert, data: &MarketData) -> ReplayAlert {
    let (armed_at, set_at) = (past.state.armed_at, past.alert.threshold_set_at);
    let armed_on = new_york_date(armed_at);
    let mut alert = past.plan.alert.clone();
    let mut initial_price = past.alert.initial_price;
    let later = data
        .splits
        .iter()
        .filter(|split| split.symbol == past.alert.symbol && split.date > armed_on);
    for split in later {
        let before = |price: Price| Price::from_micros(split.ratio.multiply(price.micros())).unwrap_or(price);
        if let Condition::Price { threshold, .. } = &mut alert.condition {
            *threshold = before(*threshold);
        }
        initial_price = initial_price.map(before);
    }
    if let Condition::Expression(set) = alert.condition.clone() {
        // A later expression is in later shares; an earlier one is judged in the shares of its day.
        let since_then = |split: &&SplitRow| split.date > armed_on && new_york(split.date, 0, 0) <= set_at;
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

fn explained_alert(
    past: &PastAlert,
    mut explanation: Option<Explanation>,
    calendar: &Calendar,
    at: Timestamp,
) -> ExplainedAlert {
    let PastAlert { alert, state, .. } = past;
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
    ExplainedAlert {
        sentence: sentence_of(alert, explanation.as_ref()),
        explanation,
        gates,
        next_check: None,
        past: Some(ExplainedPast {
            at,
            changed_at: Some(alert.threshold_set_at).filter(|&changed_at| changed_at > at),
        }),
    }
}
