//! Explains why an alert fires or not, at present ([`Alerts::explain_alert`]) and at a past moment ([`past`]); [`near`] lists the
//! alerts that were close to firing.

mod gates;
mod near;
mod past;
mod past_state;

use alerts::engine::{EvaluationIssue, EvaluationStatus, Explanation};
use alerts::expression::conversion::from_condition;
use alerts::{Alert, AlertId, Status, sentence};
use foundation::quiet_hours::quiet_until;
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use market::Symbol;

use super::no_such_alert;
use crate::alerts::Alerts;
use crate::alerts::preview::resolution::Resolution;

pub use gates::BlockingReason;
pub use near::NearAlert;

/// The explanation of an alert.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplainedAlert {
    /// The condition as a sentence, beginning with the stock.
    pub sentence: String,
    /// The comparisons and the state; `None` for a condition without comparisons.
    pub explanation: Option<Explanation>,
    /// The reasons why the alert does not fire, besides its condition.
    pub gates: Vec<BlockingReason>,
    /// The next instant at which the alert is judged without a new observation.
    pub next_check: Option<Timestamp>,
    /// How a past moment is explained; `None` for the present one.
    pub past: Option<ExplainedPast>,
}

/// How a past moment is explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExplainedPast {
    /// The moment.
    pub at: Timestamp,
    /// The later change of the condition: the explanation is that of the present condition. `None` if it has not changed since.
    pub changed_at: Option<Timestamp>,
    /// The resolution of the last session that had begun.
    pub resolution: Resolution,
}

impl Alerts {
    /// Explains an alert of an account at the present moment, or at a past one; of one over many stocks the `member` on a stock.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the actor does not have the alert; [`ServiceError::Invalid`] for a moment in the future or
    /// before the alert's creation, and without the member of an alert over many stocks; [`ServiceError::Overloaded`] if too many replays of the past are waiting.
    pub async fn explain_alert(
        &self,
        actor: &Actor,
        id: AlertId,
        member: Option<Symbol>,
        at: Option<Timestamp>,
    ) -> Result<ExplainedAlert, ServiceError> {
        let found = self.ports.store.alert(actor.account, id).await?;
        let mut stored = found.ok_or_else(no_such_alert)?;
        if stored.scope().is_some() {
            stored = self.member(actor, id, member).await?;
        }
        let alert = stored.alert;
        match at {
            Some(at) => self.explain_past(actor, alert, at).await,
            None => {
                let quiet_until = self.quiet_until(actor).await?;
                Ok(self.explain_present(actor, &alert, quiet_until))
            }
        }
    }

    /// Returns the end of the quiet hours in which an account is now.
    async fn quiet_until(&self, actor: &Actor) -> Result<Option<Timestamp>, ServiceError> {
        let account = self.ports.store.account(actor.account).await?;
        Ok(account.and_then(|account| quiet_until(&account, self.ports.clock.now())))
    }

    fn explain_present(&self, actor: &Actor, alert: &Alert, quiet_until: Option<Timestamp>) -> ExplainedAlert {
        let now = self.ports.clock.now();
        let is_active = alert.status == Status::Active;
        let (explanation, evaluation) = self.evaluator.read(|engine| {
            if !is_active {
                return (engine.explain_unarmed(alert, now), None);
            }
            let explanation = self.evaluator.explanation_of(engine, alert, now);
            let explanation = explanation.or_else(|| engine.explain_unarmed(alert, now));
            (explanation, self.evaluator.evaluation_of(engine, alert, now))
        });
        let mut gates: Vec<BlockingReason> = Vec::new();
        gates.extend(gates::of_status(alert.status, alert.has_expired()));
        gates.extend(gates::of_plan(actor.plan, alert));
        gates.extend(gates::of_market(&self.settings.calendar, alert, now));
        match evaluation.map(|evaluation| evaluation.state) {
            Some(EvaluationStatus::Blind(issue)) if issue == EvaluationIssue::StaleQuotes => {
                gates.push(BlockingReason::new("stale_quote", issue.to_string(), None));
            }
            Some(EvaluationStatus::Waiting(issue) | EvaluationStatus::Blind(issue)) => {
                gates.push(BlockingReason::no_data(issue.to_string()));
            }
            Some(EvaluationStatus::Ok) | None => gates.extend(explanation.as_ref().and_then(gates::of_unknown)),
        }
        let wait = explanation.as_ref().and_then(|explanation| explanation.wait);
        gates.extend(wait.filter(|_| is_active).and_then(gates::of_wait));
        let is_held = is_active && !alert.routing.is_urgent;
        gates.extend(quiet_until.filter(|_| is_held).map(gates::of_quiet_hours));
        let next_check = explanation.as_ref().and_then(|explanation| explanation.next_check);
        ExplainedAlert {
            sentence: sentence_of(alert, explanation.as_ref()),
            next_check: next_check.filter(|_| is_active),
            explanation,
            gates,
            past: None,
        }
    }
}

/// Returns the condition as a sentence. That of an explained expression has the figures of today's shares.
fn sentence_of(alert: &Alert, explanation: Option<&Explanation>) -> String {
    if let Some(sentence) = explanation.and_then(|explanation| explanation.sentence.as_ref()) {
        return sentence.clone();
    }
    match from_condition(&alert.condition) {
        Some(expression) => expression.sentence(alert.symbol),
        None => {
            let condition = sentence::sentence_with_options(&alert.condition, &alert.options, alert.initial_price);
            format!("{}: {condition}", alert.symbol)
        }
    }
}
