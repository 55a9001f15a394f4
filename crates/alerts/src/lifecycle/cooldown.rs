//! The time after a firing in which the alert does not fire again.

use jiff::{SignedDuration, Timestamp};
use market::calendar::{new_york, new_york_date};

use crate::options::{AlertOptions, Repeat};

/// The cooldown of an alert that fires each time and has neither a cooldown nor a level to re-arm at. It limits an alert whose
/// metric oscillates about its level to one firing per minute.
pub const DEFAULT_COOLDOWN: SignedDuration = SignedDuration::from_secs(60);

/// Returns the end of the cooldown of a firing; `None` if there is no cooldown.
#[must_use]
pub fn cooldown_end(options: &AlertOptions, fired_at: Timestamp) -> Option<Timestamp> {
    let after = |duration| fired_at.checked_add(duration).unwrap_or(Timestamp::MAX);
    let cooldown = options.cooldown.map(|cooldown| after(cooldown.duration()));
    match options.repeat {
        Repeat::Once => None,
        Repeat::OncePerDay => cooldown.max(Some(next_midnight(fired_at))),
        Repeat::EachTime if options.has_firing_limit() => Some(after(DEFAULT_COOLDOWN)),
        Repeat::EachTime => cooldown,
    }
}

/// Returns the next midnight in New York.
fn next_midnight(at: Timestamp) -> Timestamp {
    let tomorrow = new_york_date(at).tomorrow();
    tomorrow.map_or(Timestamp::MAX, |date| new_york(date, 0, 0))
}

impl AlertOptions {
    /// Returns whether [`DEFAULT_COOLDOWN`] applies.
    pub(super) fn has_firing_limit(&self) -> bool {
        self.repeat == Repeat::EachTime && self.rearm.is_none() && self.cooldown.is_none()
    }

    /// Returns whether a condition that held throughout the cooldown fires at its end.
    pub(super) fn refires(&self) -> bool {
        let has_cooldown = match self.repeat {
            Repeat::Once => false,
            Repeat::EachTime => self.cooldown.is_some() || self.rearm.is_none(),
            Repeat::OncePerDay => true,
        };
        self.cooldown_refire && has_cooldown
    }
}
