//! The content of alert histories.

use crate::alert::Status;
use crate::named_enum;

named_enum! {
    /// The kind of a history entry.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum HistoryAction {
        /// The alert was created.
        Created = "created",
        /// The owner changed the alert.
        Updated = "updated",
        /// The owner paused the alert.
        Paused = "paused",
        /// The owner activated the alert again.
        Reactivated = "reactivated",
        /// The alert fired.
        Triggered = "triggered",
        /// The guest who created the alert verified the address.
        Verified = "verified",
        /// The alert was deleted.
        Deleted = "deleted",
        /// The alert has expired.
        Expired = "expired",
        /// The owner snoozed the alert.
        Snoozed = "snoozed",
        /// Its prices were adjusted for a split, or it got its initial price after it became active.
        Adjusted = "adjusted",
        /// Prices of an outage could not be evaluated for it.
        NotEvaluated = "not_evaluated",
        /// A notification of its firing was sent.
        NotificationSent = "notification_sent",
        /// The notification of its firing failed.
        NotificationFailed = "notification_failed",
        /// Somebody has acknowledged its firing.
        Acknowledged = "acknowledged",
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
