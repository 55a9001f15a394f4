//! Changes of many alerts at once.

use crate::texts;

/// A change of many alerts at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkAction {
    /// They were paused.
    Pause,
    /// They were resumed.
    Resume,
    /// They were snoozed.
    Snooze,
    /// They were deleted.
    Delete,
    /// A change was undone.
    Undo,
}

impl BulkAction {
    /// Returns the notice about the result: the number of changed alerts, of those that already had the requested state, and of those
    /// that are refused with the first reason.
    #[must_use]
    pub fn notice(self, changed: usize, unchanged: usize, refused: usize, reason: &str) -> String {
        let id = match self {
            Self::Pause => "alerts-paused",
            Self::Resume => "alerts-resumed",
            Self::Snooze => "alerts-snoozed",
            Self::Delete => "alerts-deleted",
            Self::Undo => "alerts-undone",
        };
        let changed = (changed > 0).then(|| texts::text_with(id, [("count", changed.into())]));
        let unchanged = (unchanged > 0).then(|| texts::text_with("alerts-already", [("count", unchanged.into())]));
        let refused = (refused > 0)
            .then(|| texts::text_with("alerts-refused", [("count", refused.into()), ("reason", reason.into())]));
        let parts: Vec<String> = [changed, unchanged, refused].into_iter().flatten().collect();
        match parts.is_empty() {
            true => texts::text("alerts-none-selected"),
            false => parts.join(" "),
        }
    }
}
