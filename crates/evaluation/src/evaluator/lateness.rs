//! Decides whether a firing is late, and explains it.

use std::fmt;

use ::alerts::engine::{AlertAction, Decision, Reason};
use jiff::{SignedDuration, Timestamp};

use super::backlog::PendingEvaluation;

/// A date alert that is evaluated this long after its instant is late.
const DATE_LATE_AFTER: SignedDuration = SignedDuration::from_mins(1);

/// Whether a firing is late, with the instant of its evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lateness {
    /// Evaluated when it was due.
    InTime,
    /// Fired by a missed observation.
    MissedPrice(Timestamp),
    /// Fired by the instant of a date alert that passed while the service did not evaluate.
    MissedDate(Timestamp),
}

impl Lateness {
    pub(super) fn of(decision: &Decision, pending: &PendingEvaluation) -> Self {
        if let Some(evaluated_at) = pending.missed_evaluated_at {
            return Self::MissedPrice(evaluated_at);
        }
        let evaluated_at = pending
            .clock
            .filter(|clock| is_about_a_date(decision) && clock.duration_since(decision.at) > DATE_LATE_AFTER);
        evaluated_at.map_or(Self::InTime, Self::MissedDate)
    }

    /// The instant of a late evaluation; `None` for a firing in time.
    pub(super) const fn evaluated_at(self) -> Option<Timestamp> {
        match self {
            Self::InTime => None,
            Self::MissedPrice(evaluated_at) | Self::MissedDate(evaluated_at) => Some(evaluated_at),
        }
    }

    /// Returns the reason for the owner. Email and text messages have no other field that shows that the firing is
    /// late.
    pub(super) fn explain(self, reason: &impl fmt::Display, due_at: Timestamp) -> String {
        let due_at = due_at.strftime("%Y-%m-%d %H:%M:%S UTC");
        match self {
            Self::InTime => reason.to_string(),
            Self::MissedPrice(_) => format!("{reason} (late: it crossed at {due_at}, while no prices came in)"),
            Self::MissedDate(_) => format!("{reason} (late: it was due at {due_at}, while the service did not run)"),
        }
    }
}

fn is_about_a_date(decision: &Decision) -> bool {
    matches!(
        decision.action,
        AlertAction::Fire {
            reason: Reason::EarningsNear { .. } | Reason::ExDividendNear { .. } | Reason::DividendPaid { .. },
            ..
        }
    )
}
