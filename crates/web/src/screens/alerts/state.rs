//! The state of an alert as a person sees it.

use alerts::Status;
use alerts::engine::EvaluationStatus;
use jiff::Timestamp;

/// The state of an alert as a person sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlertState {
    /// It is evaluated.
    Active,
    /// It waits for data.
    Waiting,
    /// It cannot be evaluated.
    Blind,
    /// It does not fire until this instant.
    Snoozed(Timestamp),
    /// It is paused.
    Paused,
    /// It has fired.
    Triggered,
    /// It has expired.
    Expired,
    /// It waits for the verification of its email address.
    Inactive,
}

impl AlertState {
    /// Returns the state of an alert.
    #[must_use]
    pub fn of(alert: &alerts::Alert, evaluation: Option<EvaluationStatus>, now: Timestamp) -> Self {
        match alert.status {
            Status::Paused => Self::Paused,
            Status::Triggered => Self::Triggered,
            Status::Inactive if alert.has_expired() => Self::Expired,
            Status::Inactive => Self::Inactive,
            Status::Active => match (alert.options.snoozed_until.filter(|&end| now < end), evaluation) {
                (Some(end), _) => Self::Snoozed(end),
                (None, Some(EvaluationStatus::Waiting(_))) => Self::Waiting,
                (None, Some(EvaluationStatus::Blind(_))) => Self::Blind,
                (None, Some(EvaluationStatus::Ok) | None) => Self::Active,
            },
        }
    }

    /// Returns the name of its style.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Waiting => "waiting",
            Self::Blind => "blind",
            Self::Snoozed(_) => "snoozed",
            Self::Paused => "paused",
            Self::Triggered => "triggered",
            Self::Expired => "expired",
            Self::Inactive => "inactive",
        }
    }

    /// Returns the id of its text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Active => "state-active",
            Self::Waiting => "state-waiting",
            Self::Blind => "state-blind",
            Self::Snoozed(_) => "state-snoozed",
            Self::Paused => "state-paused",
            Self::Triggered => "state-triggered",
            Self::Expired => "state-expired",
            Self::Inactive => "state-inactive",
        }
    }

    /// Returns a symbol, so that color alone never tells states apart.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Active => "●",
            Self::Waiting => "◌",
            Self::Blind => "⊘",
            Self::Snoozed(_) => "☾",
            Self::Paused => "❚❚",
            Self::Triggered => "✓",
            Self::Expired => "⌛",
            Self::Inactive => "○",
        }
    }
}
