//! Explains why an alert fires or not.

use alerts::engine::{EvaluationStatus, Explanation};
use alerts::expression::conversion::from_condition;
use alerts::lifecycle::WaitReason;
use alerts::{Alert, AlertId, Status, sentence};
use foundation::{Actor, ServiceError};
use jiff::Timestamp;

use super::no_such_alert;
use crate::alerts::Alerts;

/// The explanation of an alert.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplainedAlert {
    /// The condition as a sentence.
    pub sentence: String,
    /// The comparisons and the state; `None` for a condition that compares nothing, and for an alert that is not active.
    pub explanation: Option<Explanation>,
    /// The reasons why the alert does not fire, besides its condition.
    pub gates: Vec<BlockingReason>,
    /// The next instant at which the alert is judged without a new observation.
    pub next_check: Option<Timestamp>,
}

/// A reason why an alert does not fire whatever its condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockingReason {
    /// The name: `market_closed`, `stale_quote`, `no_data`, `snoozed`, `cooldown`, `waiting_to_rearm`, `holding`, `second_judgement`,
    /// `paused`, `triggered` or `inactive`.
    pub name: &'static str,
    /// A sentence for the owner.
    pub message: String,
    /// The instant at which it ends by itself, if there is one.
    pub until: Option<Timestamp>,
}

impl Alerts {
    /// Explains an alert of an account at the present moment.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the actor does not have the alert.
    pub async fn explain_alert(&self, actor: &Actor, id: AlertId) -> Result<ExplainedAlert, ServiceError> {
        let found = self.ports.store.alert(actor.account, id).await?;
        let alert = found.ok_or_else(no_such_alert)?.alert;
        let now = self.ports.clock.now();
        let (explanation, evaluation) = self
            .evaluator
            .read(|engine| (engine.explain(id, now), engine.evaluation(id, now)));
        let mut gates: Vec<BlockingReason> = status_gate(&alert).into_iter().collect();
        gates.extend(self.market_gate(&alert, now));
        match evaluation.map(|evaluation| evaluation.state) {
            Some(EvaluationStatus::Waiting(issue)) => gates.push(gate("no_data", issue.to_string(), None)),
            Some(EvaluationStatus::Blind(issue)) => {
                let is_stale = issue == alerts::engine::EvaluationIssue::StaleQuotes;
                gates.push(gate(
                    if is_stale { "stale_quote" } else { "no_data" },
                    issue.to_string(),
                    None,
                ));
            }
            Some(EvaluationStatus::Ok) | None => {}
        }
        let wait = explanation.as_ref().and_then(|explanation| explanation.wait);
        gates.extend(wait.filter(|_| alert.status == Status::Active).and_then(wait_gate));
        let next_check = explanation.as_ref().and_then(|explanation| explanation.next_check);
        Ok(ExplainedAlert {
            sentence: sentence_of(&alert),
            next_check: next_check.filter(|_| alert.status == Status::Active),
            explanation,
            gates,
        })
    }

    /// Returns the gate of a closed market, for conditions on prices and volumes.
    fn market_gate(&self, alert: &Alert, now: Timestamp) -> Option<BlockingReason> {
        let calendar = &self.settings.calendar;
        let is_open = calendar.session_at(now).is_some();
        if is_open || !alert.condition.is_about_market() {
            return None;
        }
        let until = calendar.next_open(now);
        Some(gate("market_closed", "the market is closed".to_owned(), until))
    }
}

fn sentence_of(alert: &Alert) -> String {
    match from_condition(&alert.condition) {
        Some(expression) => expression.sentence(alert.symbol),
        None => sentence::sentence(&alert.condition, alert.initial_price),
    }
}

fn gate(name: &'static str, message: String, until: Option<Timestamp>) -> BlockingReason {
    BlockingReason { name, message, until }
}

fn status_gate(alert: &Alert) -> Option<BlockingReason> {
    let (name, message) = match alert.status {
        Status::Active => return None,
        Status::Paused => ("paused", "the alert is paused; activate it"),
        Status::Triggered => ("triggered", "the alert has fired; activate it to wait again"),
        Status::Inactive if alert.has_expired() => {
            ("inactive", "the alert has expired; set a later expiry and activate it")
        }
        Status::Inactive => ("inactive", "the email address of this alert is not verified yet"),
    };
    Some(gate(name, message.to_owned(), None))
}

/// Returns the gate of a reason, unless it is the condition itself.
fn wait_gate(reason: WaitReason) -> Option<BlockingReason> {
    match reason {
        WaitReason::NotTrue | WaitReason::NoData => None,
        reason => Some(gate(reason.name(), reason.to_string(), reason.until())),
    }
}
