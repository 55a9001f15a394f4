//! Whether a firing is late, and the sentence that says so.

use ::alerts::engine::{AlertAction, Decision, Reason};
use jiff::{SignedDuration, Timestamp};

use super::judge::Judged;

/// A date alert that is judged this long after its instant is late.
const DATE_LATE_AFTER: SignedDuration = SignedDuration::from_mins(1);

/// Whether a firing is late, with the instant at which it was judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lateness {
    /// It was judged when it was due.
    InTime,
    /// By an observation that was missed.
    MissedPrice(Timestamp),
    /// By the instant of a date alert, which passed while nothing was judged.
    MissedDate(Timestamp),
}

impl Lateness {
    pub(super) fn of(decision: &Decision, judged: &Judged) -> Self {
        if let Some(judged_at) = judged.looked_back_at {
            return Self::MissedPrice(judged_at);
        }
        let judged_at = judged
            .clock
            .filter(|clock| is_about_a_date(decision) && clock.duration_since(decision.at) > DATE_LATE_AFTER);
        judged_at.map_or(Self::InTime, Self::MissedDate)
    }

    /// When a late firing was judged; `None` for one in time.
    pub(super) const fn judged_at(self) -> Option<Timestamp> {
        match self {
            Self::InTime => None,
            Self::MissedPrice(judged_at) | Self::MissedDate(judged_at) => Some(judged_at),
        }
    }

    /// The reason for the owner. Email and text messages have no other field that shows that the firing is late.
    pub(super) fn explain(self, reason: &Reason, due_at: Timestamp) -> String {
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
