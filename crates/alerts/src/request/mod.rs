//! # Requests: from JSON to an alert that can be judged
//!
//! [`parse_create`] and [`parse_update`] take the body that a client sent and give back values in
//! which nothing can be wrong any more, or every fault of the body at once ([`RequestError`]):
//! clients are told in one answer all there is to mend.
//!
//! Two things come in with the body, in the [`Context`]: the instant of the request, because a
//! reminder must not lie in the past, and the account's time zone, because people write times as
//! their own clocks show them.
//!
//! * What the interface allows is in `conditions.rs`, one short function for a condition, and in
//!   `numbers.rs`, one entry for each range.
//! * Numbers are read from the shortest text that means them: 198.66 is 198 660 000 millionths and
//!   nothing near it. Digits beyond the sixth are rounded, for they are what a client's own float
//!   arithmetic left behind (`189.2 * 1.05` is `198.66000000000003` in JavaScript). A number in
//!   quotes is refused.
//! * The condition's own parameters are brought into one normal form (`parameters.rs`), so that
//!   whoever reads them back needs to know one spelling. Clients' own marks stay as they are.
//!
//! What is not decided here: whether the symbol exists, whether the plan allows the condition
//! ([`plan`](crate::plan)), and whether there is such an alert already
//! ([`equivalence`](crate::equivalence)).

mod body;
mod conditions;
mod create;
mod fields;
mod numbers;
mod parameters;
mod reminder;
mod update;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::{Calendar, Decimal};
use serde_json::{Map, Value};

use crate::condition::{Condition, ConditionKind};

pub use body::is_plausible_email;
pub use create::parse_create;
pub use fields::Faults;
pub(crate) use parameters::NOTE;
pub use parameters::{MAX_BYTES as MAX_PARAMETERS_BYTES, MAX_DEPTH as MAX_PARAMETERS_DEPTH, MAX_NOTE_CHARACTERS};
pub use update::{AlertChange, changes_nothing, parse_update};

/// What a request is read with.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The instant of the request.
    pub now: Timestamp,
    /// The account's time zone.
    pub time_zone: &'a TimeZone,
    /// When the market opens.
    pub calendar: &'a Calendar,
}

/// Why a body is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestError {
    /// The body is JSON, but has no fields.
    #[error("the body must be a JSON object, not {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// The body is wrong in content.
    #[error("{0}")]
    Invalid(Faults),
}

/// Reads a condition of stored parts, see [`restore`](crate::restore).
pub(crate) fn read_stored(
    kind: ConditionKind,
    threshold: Option<Decimal>,
    parameters: Option<&Map<String, Value>>,
    context: &Context<'_>,
) -> Result<Condition, Faults> {
    let asked = conditions::Asked {
        kind,
        threshold: threshold.map_or(numbers::Threshold::Absent, numbers::Threshold::Kept),
        standing: None,
    };
    // What belongs to clients is of no interest here; most conditions have no parameters of their own to look for.
    let has_own = !conditions::own_parameters(kind).is_empty();
    let mut parameters = parameters::Parameters::new(parameters.filter(|_| has_own).cloned());
    let mut faults = Faults::default();
    conditions::read(&asked, &mut parameters, context, &mut faults).map_err(|_| faults)
}
