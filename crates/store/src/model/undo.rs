//! Changes that can be undone.

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
