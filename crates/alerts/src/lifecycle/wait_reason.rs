//! The reasons why a judgement fires nothing.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

/// The reason why a judgement fires nothing. It is displayed as a message for the owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitReason {
    /// The condition is not true.
    NotTrue,
    /// The condition cannot be decided: a metric has no value.
    NoData,
    /// The condition must be true at two judgements in a row, and is at one so far.
    SecondJudgement,
    /// The condition has not held for long enough.
    Holding {
        /// The judgement since which it holds.
        since: Timestamp,
        /// The session time for which it must still hold.
        remaining: SignedDuration,
        /// The instant at which the session time has passed; `None` beyond representable time.
        until: Option<Timestamp>,
    },
    /// The alert fired, and its cooldown has not ended.
    Cooldown {
        /// The end of the cooldown.
        until: Timestamp,
    },
    /// The alert fired less than [`DEFAULT_COOLDOWN`](super::DEFAULT_COOLDOWN) ago.
    FiringLimit {
        /// The first instant at which it can fire again.
        until: Timestamp,
    },
    /// The alert fired, and its condition was not left since.
    WaitingToRearm,
    /// The alert fires on changes only, and its condition was not false since it was armed.
    WaitingForChange,
    /// The alert fired, and its metric did not return to the level of `rearm` since.
    WaitingForRearmLevel,
    /// The alert is snoozed.
    Snoozed {
        /// The end of the snooze.
        until: Timestamp,
    },
}

impl WaitReason {
    /// Returns the name in responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotTrue => "not_true",
            Self::NoData => "no_data",
            Self::SecondJudgement => "second_judgement",
            Self::Holding { .. } => "holding",
            Self::Cooldown { .. } | Self::FiringLimit { .. } => "cooldown",
            Self::WaitingToRearm | Self::WaitingForChange | Self::WaitingForRearmLevel => "waiting_to_rearm",
            Self::Snoozed { .. } => "snoozed",
        }
    }

    /// Returns the instant at which the reason ends without a new observation, if there is one.
    #[must_use]
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::Cooldown { until } | Self::FiringLimit { until } | Self::Snoozed { until } => Some(until),
            Self::Holding { until, .. } => until,
            Self::NotTrue
            | Self::NoData
            | Self::SecondJudgement
            | Self::WaitingToRearm
            | Self::WaitingForChange
            | Self::WaitingForRearmLevel => None,
        }
    }
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotTrue => f.write_str("the condition is not true"),
            Self::NoData => f.write_str("a metric of the condition has no value"),
            Self::SecondJudgement => f.write_str("the condition must be true at two observations in a row"),
            Self::Holding { since, remaining, .. } => {
                write!(f, "the condition has held since {since:.0} and must hold for ")?;
                match remaining.as_secs() {
                    seconds @ 0..60 => write!(f, "{} more seconds of session time", seconds.max(1)),
                    seconds => write!(f, "{} more minutes of session time", (seconds + 59) / 60),
                }
            }
            Self::Cooldown { until } => write!(f, "the cooldown ends at {until:.0}"),
            Self::FiringLimit { until } => write!(f, "limited to one firing per minute, until {until:.0}"),
            Self::WaitingToRearm => {
                f.write_str("the condition has been true since the last firing; it must be left first")
            }
            Self::WaitingForChange => f.write_str(
                "the condition was already true when the alert was armed, and the alert fires on a change only",
            ),
            Self::WaitingForRearmLevel => {
                f.write_str("the metric has not returned to the re-arm level since the last firing")
            }
            Self::Snoozed { until } => write!(f, "snoozed until {until:.0}"),
        }
    }
}
