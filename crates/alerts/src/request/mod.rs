//! # Requests: parsing and validation of alerts
//!
//! [`parse_create`] and [`parse_update`] take a JSON body and return valid values, or all errors of the body at once
//! ([`RequestError`]), so that a client can fix them in one step.
//!
//! The [`ParseContext`] adds the instant of the request, because a reminder must not be in the past, and the account's time
//! zone, because clients send local times.
//!
//! * The rules of each condition are in its [`ConditionSpec`](crate::condition::ConditionSpec).
//! * Numbers are parsed from their text, without floating point: 198.66 is exactly 198 660 000 millionths. Digits beyond the
//!   sixth decimal are rounded, because they are artefacts of the client's floating-point arithmetic (`189.2 * 1.05` is
//!   `198.66000000000003` in JavaScript). Numbers in quotes are rejected.
//! * The condition's own parameters are brought into one normal form (`parameters.rs`), so that readers need to know only one
//!   spelling. Client metadata stays unchanged.
//!
//! This module does not check whether the symbol exists, whether the plan includes the condition ([`plan`](crate::plan)), or
//! whether an equivalent alert exists ([`equivalence`](crate::equivalence)).

mod body;
mod conditions;
mod create;
mod date;
mod fields;
mod labels;
mod numbers;
mod options;
mod parameters;
mod reminder;
mod snooze;
mod update;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::{Calendar, Decimal};
use serde_json::{Map, Value};

use crate::condition::{Condition, ConditionKind};

pub use body::is_plausible_email;
pub(crate) use body::object;
pub use create::{parse_create, parse_template};
pub(crate) use date::{DATE_FORMS, DateOrInstant, parse as parse_date};
pub use fields::FieldErrors;
pub(crate) use fields::{InvalidField, kind_of, member};
pub use labels::read_managed_by;
pub(crate) use numbers::decimal;
pub(crate) use parameters::NOTE;
pub use parameters::{MAX_BYTES as MAX_PARAMETERS_BYTES, MAX_DEPTH as MAX_PARAMETERS_DEPTH};
pub use snooze::without_snooze;
pub use update::{AlertChange, changes_nothing, parse_update};

/// The context in which a request is parsed.
#[derive(Clone, Copy, Debug)]
pub struct ParseContext<'a> {
    /// The instant of the request.
    pub now: Timestamp,
    /// The account's time zone.
    pub time_zone: &'a TimeZone,
    /// The exchange calendar.
    pub calendar: &'a Calendar,
}

/// An error: the body is invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestError {
    /// The body is JSON, but not an object.
    #[error("the body must be a JSON object, not {found}")]
    NotAnObject {
        /// The JSON type of the body.
        found: &'static str,
    },
    /// At least one field of the body is invalid.
    #[error("{0}")]
    Invalid(FieldErrors),
}

/// Reads a condition from stored parts, see [`restore`](crate::restore).
pub(crate) fn read_stored(
    kind: ConditionKind,
    threshold: Option<Decimal>,
    parameters: Option<&Map<String, Value>>,
    context: &ParseContext<'_>,
) -> Result<Condition, FieldErrors> {
    let threshold = threshold.map_or(numbers::Threshold::Absent, numbers::Threshold::Kept);
    // Client metadata is not needed here, and most conditions have no parameters of their own.
    let has_own = !kind.spec().request.parameters.is_empty();
    let mut parameters = parameters::Parameters::new(parameters.filter(|_| has_own).cloned());
    let mut errors = FieldErrors::default();
    conditions::read(kind, None, threshold, &mut parameters, None, context, &mut errors).map_err(|_| errors)
}
