//! Recent changes of alerts, which can be undone from each page about alerts.

use jiff::Timestamp;
use service::alerts::{UndoableChange, UndoableKind, describe_stored};

use super::{BulkAction, ChangeCounts};

/// A change that can be undone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecentChange {
    /// The id by which it can be undone.
    pub undo: String,
    /// The time of the change.
    pub at: Timestamp,
    /// The number of alerts and how they were changed.
    pub text: String,
    /// The alert as a sentence, if it is one alone.
    pub alert: Option<String>,
}

impl RecentChange {
    /// Formats a change.
    #[must_use]
    pub fn of(change: &UndoableChange) -> Self {
        let action = match change.kind {
            UndoableKind::Pause => BulkAction::Pause,
            UndoableKind::Activate => BulkAction::Resume,
            UndoableKind::Snooze => BulkAction::Snooze,
            UndoableKind::Delete => BulkAction::Delete,
        };
        let changed = usize::try_from(change.count).unwrap_or(usize::MAX);
        let counts = ChangeCounts {
            changed,
            ..ChangeCounts::default()
        };
        Self {
            undo: change.undo.0.to_string(),
            at: change.at,
            text: action.notice(counts, "", ""),
            alert: (changed == 1).then(|| describe_stored(&change.first).sentence),
        }
    }
}
