//! The time of the next judgement without an observation.

use jiff::Timestamp;
use market::Calendar;

use super::state::{Lifecycle, Phase};
use super::step::hold_end;
use crate::options::AlertOptions;

/// Returns the next instant at which the alert can fire, expire or be armed without a new observation: its expiry, the end of a
/// snooze, of a hold, of a cooldown, or of the time for which a crossing counts. The instant can be past after an outage.
#[must_use]
pub fn next_check(options: &AlertOptions, calendar: &Calendar, state: &Lifecycle) -> Option<Timestamp> {
    let other = match state.snoozed_until(options) {
        Some(end) => Some(end),
        None => earliest(state.next_firing(options, calendar), state.crossings.next_end()),
    };
    earliest(options.expires(), other)
}

impl Lifecycle {
    /// Returns the instant at which the alert fires if its condition stays true.
    fn next_firing(&self, options: &AlertOptions, calendar: &Calendar) -> Option<Timestamp> {
        let held = hold_end(options, calendar, self.true_since?)?;
        match self.phase {
            Phase::Armed => Some(held),
            Phase::Cooling { until, was_left } if was_left || options.refires() => Some(held.max(until)),
            Phase::WaitingToRearm if options.refires() && !self.waits_for_first_change() => Some(held),
            Phase::Cooling { .. } | Phase::WaitingToRearm => None,
        }
    }
}

fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
