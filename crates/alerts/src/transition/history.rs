//! What histories are written in.

use crate::alert::Status;

/// What happened to an alert, in its history.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HistoryAction {
    /// It was made.
    Created,
    /// Its owner changed it.
    Updated,
    /// Its owner put it aside.
    Paused,
    /// Its owner made it active again.
    Reactivated,
    /// It fired.
    Triggered,
    /// The guest who made it has verified the address.
    Verified,
    /// It was deleted.
    Deleted,
    /// Its prices were brought into the shares of after a split, or it got its initial price after it became active.
    Adjusted,
    /// Its owner was told that it fired.
    NotificationSent,
    /// Its owner could not be told that it fired.
    NotificationFailed,
}

impl HistoryAction {
    /// Every action there is.
    pub const ALL: &'static [Self] = &[
        Self::Created,
        Self::Updated,
        Self::Paused,
        Self::Reactivated,
        Self::Triggered,
        Self::Verified,
        Self::Deleted,
        Self::Adjusted,
        Self::NotificationSent,
        Self::NotificationFailed,
    ];

    /// The `action_type` in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Paused => "paused",
            Self::Reactivated => "reactivated",
            Self::Triggered => "triggered",
            Self::Verified => "verified",
            Self::Deleted => "deleted",
            Self::Adjusted => "adjusted",
            Self::NotificationSent => "notification_sent",
            Self::NotificationFailed => "notification_failed",
        }
    }

    /// The action of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

/// A status as histories have it: an alert's own, or that it is gone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HistoryStatus {
    /// The alert had this status.
    Of(Status),
    /// The alert was deleted.
    Deleted,
}

impl HistoryStatus {
    /// The name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Of(status) => status.name(),
            Self::Deleted => "deleted",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "deleted" {
            Some(Self::Deleted)
        } else {
            Status::from_name(name).map(Self::Of)
        }
    }
}

/// What is written into an alert's history about a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What happened.
    pub action: HistoryAction,
    /// The status before; `None` for the alert's creation.
    pub previous_status: Option<Status>,
    /// The status afterwards.
    pub new_status: HistoryStatus,
}
