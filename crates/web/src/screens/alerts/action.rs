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
    /// Returns the notice about the result. `until` is the end of the snooze as a person reads it, empty for a
    /// snooze of earlier.
    #[must_use]
    pub fn notice(self, counts: ChangeCounts, reason: &str, until: &str) -> String {
        let id = match self {
            Self::Pause => "alerts-paused",
            Self::Resume => "alerts-resumed",
            Self::Snooze if until.is_empty() => "alerts-snoozed-before",
            Self::Snooze => "alerts-snoozed",
            Self::Delete => "alerts-deleted",
            Self::Undo => "alerts-undone",
        };
        let refused_id = if counts.changed > 0 {
            "alerts-refused"
        } else {
            "alerts-all-refused"
        };
        let part = |id, count: usize| {
            let values = [
                ("count", count.into()),
                ("reason", reason.into()),
                ("until", until.into()),
            ];
            (count > 0).then(|| texts::text_with(id, values))
        };
        let parts = [
            part(id, counts.changed),
            part("alerts-already", counts.unchanged),
            part(refused_id, counts.refused),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => texts::text("alerts-none-selected"),
            false => parts.join(" "),
        }
    }
}

/// The numbers of alerts of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChangeCounts {
    /// Those that have changed.
    pub changed: usize,
    /// Those that already had the requested state.
    pub unchanged: usize,
    /// Those that were refused.
    pub refused: usize,
}
