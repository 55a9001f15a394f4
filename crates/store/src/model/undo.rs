//! Changes that can be undone.

use jiff::Timestamp;
use uuid::Uuid;

use super::StoredAlert;

/// The id of a change of one or more alerts that can be undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UndoId(pub Uuid);

/// An alert whose former state was restored.
#[derive(Clone, PartialEq, Debug)]
pub struct RestoredAlert {
    /// The alert in its former state.
    pub stored: StoredAlert,
    /// Whether it was deleted.
    pub was_deleted: bool,
}

/// How a change that can be undone has changed alerts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UndoableKind {
    /// They were paused.
    Pause,
    /// They were activated.
    Activate,
    /// They were snoozed.
    Snooze,
    /// They were deleted.
    Delete,
}

/// A change that can be undone.
#[derive(Clone, PartialEq, Debug)]
pub struct UndoableChange {
    /// The id.
    pub undo: UndoId,
    /// The time of the change.
    pub at: Timestamp,
    /// The kind.
    pub kind: UndoableKind,
    /// The number of alerts that are unchanged since, without the members of alerts over many stocks.
    pub count: u64,
    /// The oldest of these alerts, in its present state.
    pub first: StoredAlert,
}
