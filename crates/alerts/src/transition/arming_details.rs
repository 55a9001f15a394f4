//! The details of history entries from which past moments are explained.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::alert::Alert;

const REARMED: &str = "rearmed";
const SNOOZED_UNTIL: &str = "snoozed_until";
const UNDO: &str = "undo";
const ARMED_AT: &str = "armed_at";
const LAST_FIRED_AT: &str = "last_fired_at";

/// The arming of an alert as a history entry tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArmingDetails {
    /// Whether the alert was armed anew, as by every change but that of its note and tags.
    pub is_rearmed: bool,
    /// The end of the snooze after the change.
    pub snoozed_until: Option<Timestamp>,
    /// The earlier state to which the alert has returned; `None` unless a change was undone.
    pub restored: Option<RestoredState>,
}

/// The state to which an alert returns when a change is undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RestoredState {
    /// When the alert was armed.
    pub armed_at: Timestamp,
    /// Its last firing since then; `None` for an alert whose firings are not counted.
    pub last_fired_at: Option<Timestamp>,
}

impl ArmingDetails {
    /// Returns the details of a change, or of a creation if there is no state before it.
    #[must_use]
    pub fn of(after: &Alert, before: Option<&Alert>, now: Timestamp) -> Self {
        Self {
            is_rearmed: before.is_none_or(|before| before.revision != after.revision),
            snoozed_until: after.options.snoozed_until.filter(|until| *until > now),
            restored: None,
        }
    }

    /// Returns the details of a change that was undone, which led back to `restored`.
    #[must_use]
    pub fn of_undo(restored: &Alert, now: Timestamp) -> Self {
        let lifecycle = restored.lifecycle.as_deref();
        let armed_at = lifecycle.map_or(restored.armed_at, |state| state.armed_at);
        // An earlier firing has no effect on an alert that was armed anew.
        let last_fired_at = lifecycle.and_then(|state| state.last_fired_at);
        let last_fired_at = last_fired_at.filter(|fired_at| *fired_at >= armed_at);
        Self {
            restored: Some(RestoredState {
                armed_at,
                last_fired_at,
            }),
            ..Self::of(restored, None, now)
        }
    }

    /// Reads the details of an entry. One without them is that of an alert that was armed anew and is not snoozed.
    #[must_use]
    pub fn read(details: Option<&Map<String, Value>>) -> Self {
        let field = |name| details.and_then(|details| details.get(name));
        let instant = |name| field(name).and_then(|instant| instant.as_str()?.parse().ok());
        Self {
            is_rearmed: field(REARMED) != Some(&json!(false)),
            snoozed_until: instant(SNOOZED_UNTIL),
            restored: instant(ARMED_AT).map(|armed_at| RestoredState {
                armed_at,
                last_fired_at: instant(LAST_FIRED_AT),
            }),
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
        if let Some(restored) = self.restored {
            details.insert(UNDO.to_owned(), json!(true));
            details.insert(ARMED_AT.to_owned(), json!(restored.armed_at));
            if let Some(fired_at) = restored.last_fired_at {
                details.insert(LAST_FIRED_AT.to_owned(), json!(fired_at));
            }
        }
        (!details.is_empty()).then_some(details)
    }
}
