//! The details of history entries from which past moments are explained.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::alert::Alert;

const REARMED: &str = "rearmed";
const SNOOZED_UNTIL: &str = "snoozed_until";

/// The arming of an alert as a history entry tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArmingDetails {
    /// Whether the alert was armed anew, as by every change but that of its note and tags.
    pub is_rearmed: bool,
    /// The end of the snooze after the change.
    pub snoozed_until: Option<Timestamp>,
}

impl ArmingDetails {
    /// Returns the details of a change, or of a creation if there is no state before it.
    #[must_use]
    pub fn of(after: &Alert, before: Option<&Alert>, now: Timestamp) -> Self {
        Self {
            is_rearmed: before.is_none_or(|before| before.revision != after.revision),
            snoozed_until: after.options.snoozed_until.filter(|until| *until > now),
        }
    }

    /// Reads the details of an entry. One without them is that of an alert that was armed anew and is not snoozed.
    #[must_use]
    pub fn read(details: Option<&Map<String, Value>>) -> Self {
        let field = |name| details.and_then(|details| details.get(name));
        Self {
            is_rearmed: field(REARMED) != Some(&json!(false)),
            snoozed_until: field(SNOOZED_UNTIL).and_then(|until| until.as_str()?.parse().ok()),
        }
    }

    /// Returns the details as they are written; `None` if they say nothing.
    #[must_use]
    pub fn to_json(self) -> Option<Map<String, Value>> {
        let mut details = Map::new();
        if !self.is_rearmed {
            details.insert(REARMED.to_owned(), json!(false));
        }
        if let Some(until) = self.snoozed_until {
            details.insert(SNOOZED_UNTIL.to_owned(), json!(until));
        }
        (!details.is_empty()).then_some(details)
    }
}
