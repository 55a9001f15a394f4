//! From what a database keeps back to a [`Condition`].
//!
//! A stored alert keeps the name of its condition, the threshold, the parameters in their normal form, and of a
//! reminder the moment. [`condition`] reads them with the very code that reads requests, so a condition comes back as
//! it was asked for, defaults included. What it cannot read was not written by this program.

use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::{Calendar, Decimal};
use serde_json::{Map, Value};

use crate::condition::{Condition, ConditionKind};
use crate::request::{self, Context, Faults};

/// Why stored parts make no condition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unrestorable {
    /// A reminder without its moment.
    #[error("a reminder needs its moment, and none is stored")]
    NoMoment,
    /// The threshold or a parameter is not what the condition takes.
    #[error("{kind} was stored with parts that it does not take: {faults}")]
    Parts {
        /// The condition's name.
        kind: ConditionKind,
        /// What is wrong with which part.
        faults: Faults,
    },
}

/// The instant up to which a condition waits for the clock alone: what has to be kept beside its kind, threshold and
/// parameters. Only a reminder has one, because its parameters say it in words that depend on a calendar.
#[must_use]
pub const fn moment(condition: &Condition) -> Option<Timestamp> {
    match *condition {
        Condition::Reminder { at } => Some(at),
        _ => None,
    }
}

/// The condition of that kind, [`threshold`](Condition::threshold), parameters in their normal form and [`moment`].
///
/// # Errors
/// [`Unrestorable`]
pub fn condition(
    kind: ConditionKind,
    threshold: Option<Decimal>,
    parameters: Option<&Map<String, Value>>,
    moment: Option<Timestamp>,
) -> Result<Condition, Unrestorable> {
    static CALENDAR: OnceLock<Calendar> = OnceLock::new();
    if kind == ConditionKind::Reminder {
        return moment
            .map(|at| Condition::Reminder { at })
            .ok_or(Unrestorable::NoMoment);
    }
    // Only reminders look at the context.
    let context = Context {
        now: Timestamp::UNIX_EPOCH,
        time_zone: &TimeZone::UTC,
        calendar: CALENDAR.get_or_init(Calendar::nyse),
    };
    request::read_stored(kind, threshold, parameters, &context).map_err(|faults| Unrestorable::Parts { kind, faults })
}
