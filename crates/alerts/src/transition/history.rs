//! The content of alert histories.

use crate::alert::Status;

/// The kind of a history entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HistoryAction {
    /// The alert was created.
    Created,
    /// The owner changed the alert.
    Updated,
    /// The owner paused the alert.
    Paused,
    /// The owner activated the alert again.
    Reactivated,
    /// The alert fired.
    Triggered,
    /// The guest who created the alert verified the address.
    Verified,
    /// The alert was deleted.
    Deleted,
    /// Its prices were adjusted for a split, or it got its initial price after it became active.
    Adjusted,
    /// A notification of its firing was sent.
    NotificationSent,
    /// The notification of its firing failed.
    NotificationFailed,
}

impl HistoryAction {
    /// All actions.
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

    /// Returns the `action_type` in responses.
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

    /// Returns the action with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

/// A status in a history: a status of the alert, or deleted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HistoryStatus {
    /// The alert had this status.
    Of(Status),
    /// The alert was deleted.
    Deleted,
}

impl HistoryStatus {
    /// Returns the name in responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Of(status) => status.name(),
            Self::Deleted => "deleted",
        }
    }

    /// Returns the status with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "deleted" {
            Some(Self::Deleted)
        } else {
            Status::from_name(name).map(Self::Of)
        }
    }
}

/// The action and the status change of a history entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatusChange {
    /// The action.
    pub action: HistoryAction,
    /// The status before the change; `None` for the creation.
    pub previous_status: Option<Status>,
    /// The status after the change.
    pub new_status: HistoryStatus,
}
