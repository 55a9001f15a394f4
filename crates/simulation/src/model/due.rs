//! The states of an alert after enough time, and at the end.

use jiff::{SignedDuration, Timestamp};

use super::Cents;
use super::alert::{AlertModel, Possible};
use super::evidence::RecordedAlert;
use super::state::AlertStatus;

impl AlertModel {
    /// Ends the cooldowns, holds and snoozes that have certainly ended `delay` ago.
    pub(super) fn end_waits(&mut self, delay: SignedDuration) {
        let times = &self.times;
        let possible = std::mem::take(&mut self.possible).into_iter().map(|mut possible| {
            let has_ended = |snooze| times.snooze_has_ended(snooze, delay);
            if possible.state.snooze.is_some_and(has_ended)
                && let Some(awake) = possible.state.after_snooze()
            {
                possible.state = awake;
            }
            if times.cooldown_has_ended(possible.state.fired.len(), delay)
                && let Some(cooled) = possible.state.after_cooldown()
            {
                possible.state = cooled;
            }
            if times.hold_has_ended(possible.state.holds, delay)
                && let Some(held) = possible.state.after_hold()
            {
                possible.state = held;
            }
            possible
        });
        self.possible = possible.collect();
    }

    /// Removes the states that cannot last: active, with a level that the price reaches, or with a moment or expiry that passed `delay` ago.
    pub(super) fn settle(&mut self, now: Timestamp, delay: SignedDuration) -> Result<(), String> {
        self.close();
        self.end_waits(delay);
        let before = self.possible.clone();
        let is_above = self.is_above;
        let is_past = |moment: Timestamp| moment + delay <= now;
        let is_over = self.moment.is_some_and(is_past) || self.expires_at.is_some_and(is_past);
        let has_level = self.moment.is_none();
        self.possible
            .retain(|Possible { state, price, .. }| match state.status {
                AlertStatus::Active if is_over => false,
                _ => !has_level || !price.is_some_and(|price| state.cannot_last(is_above, price)),
            });
        self.note();
        if self.possible.is_empty() {
            return Err(format!("it cannot have settled: {before:?}"));
        }
        Ok(())
    }

    /// Compares the alert of the database, with its firings, with the possible states.
    pub(super) fn observe(&self, recorded: &RecordedAlert, fired: &[(Cents, Cents)]) -> Result<(), String> {
        let agrees = |possible: &&Possible| {
            let state = &possible.state;
            let same_levels = (state.threshold, state.returns_at) == (recorded.threshold, recorded.returns_at)
                || recorded.status == AlertStatus::Deleted;
            state.status == recorded.status && state.fired == fired && same_levels
        };
        if self.possible.iter().any(|possible| agrees(&possible)) {
            return Ok(());
        }
        let states: Vec<_> = self.possible.iter().map(|possible| &possible.state).collect();
        Err(format!("it is {recorded:?}, but can only be {states:?}"))
    }
}
