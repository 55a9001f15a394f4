//! The explanation of a past moment.
//!
//! The state of an alert at a past moment is not stored. What is stored are its history, which has its status and its firings, and
//! the daily bars of its stocks. So the explanation replays the bars ([`evaluation::replay`]) from the alert's last activation before
//! the moment, and takes the comparisons from the engine as of then. Status, snooze and cooldown come from the history.

use std::ops::ControlFlow;

use alerts::engine::{EngineConfig, Explanation};
use alerts::expression::Truth;
use alerts::lifecycle::{WaitReason, cooldown_end};
use alerts::transition::{HistoryAction, HistoryStatus};
use alerts::{Alert, Condition, NewAlert, Status};
use evaluation::replay::{Replay, ReplayAlert, ReplayPeriod};
use evaluation::stocks::RecordedFacts;
use foundation::{Actor, ServiceError};
use jiff::{Span, Timestamp};
use market::calendar::new_york_date;
use market::{Calendar, Price, Symbol};
use sources::folder::MarketData;

use super::{BlockingReason, ExplainedAlert, ExplainedPast, gates, sentence_of};
use crate::alerts::Alerts;
use crate::alerts::preview::{PreviewPlan, WARM_UP_DAYS, bar_calendar};

/// How many entries of a history are read at once.
const HISTORY_PAGE: u32 = 100;

/// The state of an alert at a past moment, according to its history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PastState {
    status: Status,
    has_expired: bool,
    /// The last creation, activation or change of the alert before the moment.
    armed_at: Timestamp,
    /// The last firing since then.
    last_fired_at: Option<Timestamp>,
    /// Whether the last change before the moment was a snooze.
    is_snoozed: bool,
}

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
    calendar: Calendar,
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
            let message = format!("must not be before the alert's creation at {created_at}");
            return Err(ServiceError::field("at", message));
        };
        let mut explained = self.explain_all_past(vec![past.clone()], at).await?;
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

    async fn past_state(&self, alert: &Alert, at: Timestamp) -> Result<Option<PastState>, ServiceError> {
        let mut state: Option<PastState> = None;
        let mut last_fired_at = None;
        let mut before = i64::MAX;
        loop {
            let (page, next) = self
                .ports
                .store
                .history_until(alert.id, alert.symbol, at, before, HISTORY_PAGE)
                .await?;
            for row in page.iter().filter(|row| !row.is_noted_by_client()) {
                let HistoryStatus::Of(status) = row.entry.new_status else {
                    continue;
                };
                let state = state.get_or_insert(PastState {
                    status,
                    has_expired: row.entry.action == HistoryAction::Expired,
                    armed_at: alert.created_at,
                    last_fired_at: None,
                    is_snoozed: false,
                });
                match row.entry.action {
                    HistoryAction::Triggered => last_fired_at = last_fired_at.or(Some(row.at)),
                    HistoryAction::Created
                    | HistoryAction::Updated
                    | HistoryAction::Snoozed
                    | HistoryAction::Reactivated
                    | HistoryAction::Verified => {
                        return Ok(Some(PastState {
                            armed_at: row.at,
                            last_fired_at,
                            is_snoozed: row.entry.action == HistoryAction::Snoozed,
                            ..*state
                        }));
                    }
                    HistoryAction::Paused
                    | HistoryAction::Deleted
                    | HistoryAction::Expired
                    | HistoryAction::Adjusted
                    | HistoryAction::NotEvaluated
                    | HistoryAction::NotificationSent
                    | HistoryAction::NotificationFailed => {}
                }
            }
            if page.is_empty() {
                return Ok(state.map(|state| PastState { last_fired_at, ..state }));
            }
            before = next;
        }
    }

    /// Explains alerts at a past moment, in their order.
    pub(super) async fn explain_all_past(
        &self,
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
        let permit = self.previews.acquire().await?;
        let replay = PastReplay {
            data: self.stocks.recorded_market(&symbols, warm_up, facts).await?,
            calendar: bar_calendar(&self.settings.calendar),
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
        .map(|(past, explanation)| explained_alert(past, explanation, &replay.calendar, *at))
        .collect()
}

/// Returns an alert as it was armed, in the shares of that day.
fn played(past: &PastAlert, data: &MarketData) -> ReplayAlert {
    let armed_on = new_york_date(past.state.armed_at);
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
    ReplayAlert {
        // The price of a later activation says nothing about this moment.
        initial_price: initial_price.filter(|_| past.alert.initial_price_set_at <= past.state.armed_at),
        ..ReplayAlert::new(alert, Some(past.state.armed_at))
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
        gates.extend(recorded_wait(past, wait, at).and_then(gates::of_wait));
    }
    if let Some(explanation) = &mut explanation {
        if explanation.truth == Truth::Unknown {
            gates.push(BlockingReason::no_data(
                "a metric of the condition has no value in the stored data of that moment".to_owned(),
            ));
        }
        explanation.next_check = None;
    }
    ExplainedAlert {
        sentence: sentence_of(alert),
        explanation,
        gates,
        next_check: None,
        past: Some(ExplainedPast {
            at,
            changed_at: Some(alert.threshold_set_at).filter(|&changed_at| changed_at > at),
        }),
    }
}

/// Returns the wait as the history knows it. The replay may have fired where the alert did not, because its observations are
/// other ones, so a wait after a firing counts only if the history has the firing.
fn recorded_wait(past: &PastAlert, replayed: Option<WaitReason>, at: Timestamp) -> Option<WaitReason> {
    let options = &past.alert.options;
    if let Some(until) = options
        .snoozed_until
        .filter(|&until| past.state.is_snoozed && at < until)
    {
        return Some(WaitReason::Snoozed { until });
    }
    let cooldown = past
        .state
        .last_fired_at
        .and_then(|fired_at| cooldown_end(options, fired_at));
    if let Some(until) = cooldown.filter(|&until| at < until) {
        return Some(WaitReason::Cooldown { until });
    }
    match replayed? {
        WaitReason::Cooldown { .. } | WaitReason::FiringLimit { .. } | WaitReason::Snoozed { .. } => None,
        reason @ (WaitReason::WaitingToRearm | WaitReason::WaitingForRearmLevel) => {
            past.state.last_fired_at.map(|_| reason)
        }
        reason => Some(reason),
    }
}
