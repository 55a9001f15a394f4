//! Restores a [`Condition`] from its stored parts.
//!
//! A stored alert keeps the name of its condition, the threshold, the parameters in their normal form, and the moment of a
//! reminder. [`condition`] reads them with the parser for requests, so the condition is restored exactly as requested, defaults
//! included. An error means that the stored parts were not written by this program.

use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::{Calendar, Decimal};
use serde_json::{Map, Value};

use crate::condition::{Condition, ConditionKind};
use crate::request::{self, FieldErrors, ParseContext};

/// An error: the stored parts are not a valid condition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RestoreError {
    /// A reminder without a stored moment.
    #[error("the stored reminder has no moment")]
    NoMoment,
    /// The threshold or a parameter is not valid for the condition.
    #[error("the stored parts of {kind} are invalid: {errors}")]
    Parts {
        /// The condition's name.
        kind: ConditionKind,
        /// The errors of each field.
        errors: FieldErrors,
    },
}

/// Returns the moment that must be stored besides the kind, the threshold and the parameters. Only a reminder has one, because
/// its parameters alone depend on a calendar.
#[must_use]
pub const fn moment(condition: &Condition) -> Option<Timestamp> {
    match *condition {
        Condition::Reminder { at } => Some(at),
        _ => None,
    }
}

/// Returns whether [`condition`] reads the parameters of a kind.
#[must_use]
pub const fn has_parameters(kind: ConditionKind) -> bool {
    !kind.spec().request.parameters.is_empty()
}

/// Restores the condition from its kind, [`threshold`](Condition::threshold), parameters in their normal form and [`moment`].
///
/// # Errors
/// [`RestoreError`] if the parts are not valid for the kind.
pub fn condition(
    kind: ConditionKind,
    threshold: Option<Decimal>,
    parameters: Option<&Map<String, Value>>,
    moment: Option<Timestamp>,
) -> Result<Condition, RestoreError> {
    static CALENDAR: OnceLock<Calendar> = OnceLock::new();
    if kind == ConditionKind::Reminder {
        return moment
            .map(|at| Condition::Reminder { at })
            .ok_or(RestoreError::NoMoment);
    }
    // The context matters only for reminders.
    let context = ParseContext {
        now: Timestamp::UNIX_EPOCH,
        time_zone: &TimeZone::UTC,
        calendar: CALENDAR.get_or_init(Calendar::nyse),
    };
    request::read_stored(kind, threshold, parameters, &context).map_err(|errors| RestoreError::Parts { kind, errors })
}
