//! How much a stock is talked about.
//!
//! The mentions of the last 24 hours are compared with the mean of the seven days before. Counts come an hour at a
//! time, and the comparison is made when one comes, as of the newest hour there is: a source that falls silent must
//! not look like a discussion that fades. A source that counts by the day gives a running count of 24 hours under
//! midnight UTC, which the next one of that day replaces. What fires is the *change* into a state, so the state is kept
//! whether anybody waits for it or not.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use market::{Decimal, MICROS_PER_UNIT};

use super::level_index::Slot;
use super::reason::Reason;
use crate::condition::BuzzDirection;

const HOURS_NOW: i64 = 24;
const DAYS_BEFORE: i64 = 7;
/// So many hours in a row may pass without a count.
const HOURS_SILENT: i64 = 6;
/// Between two counts of a source that counts by the day are so many hours.
const HOURS_BETWEEN_DAYS: i64 = 23;
const HOURS_KEPT: i64 = HOURS_NOW + 24 * DAYS_BEFORE;

/// From when on discussion counts as risen or faded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuzzLevels {
    /// Rising: at least so many times the usual mentions a day.
    pub rising_ratio: Decimal,
    /// Rising: at least so many mentions in 24 hours.
    pub rising_mentions: u32,
    /// Falling: at most so many times the usual mentions a day.
    pub falling_ratio: Decimal,
    /// Falling: only if at least so many mentions a day are usual.
    pub falling_base: u32,
}

impl Default for BuzzLevels {
    /// Twice and at least 20 mentions; half of at least 20 a day.
    fn default() -> Self {
        Self {
            rising_ratio: Decimal::from_micros(2 * MICROS_PER_UNIT),
            rising_mentions: 20,
            falling_ratio: Decimal::from_micros(MICROS_PER_UNIT / 2),
            falling_base: 20,
        }
    }
}

/// What the discussion of a stock is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// Not known yet: to find it rising or falling then is no change.
    #[default]
    Unknown,
    Usual,
    Is(BuzzDirection),
}

/// The hourly counts of the last eight days, and the state they make.
#[derive(Clone, Debug, Default)]
pub(super) struct Buzz {
    counts: BTreeMap<i64, u32>,
    first_hour: Option<i64>,
    state: State,
    pub(super) rising_watchers: BTreeSet<Slot>,
    pub(super) falling_watchers: BTreeSet<Slot>,
}

impl Buzz {
    pub(super) fn watchers(&mut self, direction: BuzzDirection) -> &mut BTreeSet<Slot> {
        match direction {
            BuzzDirection::Rising => &mut self.rising_watchers,
            BuzzDirection::Falling => &mut self.falling_watchers,
        }
    }

    /// Takes in the count of an hour; answers why discussion is now in a state in which it was not before.
    pub(super) fn count(
        &mut self,
        hour: Timestamp,
        count: u32,
        levels: &BuzzLevels,
    ) -> Option<(BuzzDirection, Reason)> {
        let hour = hour.as_second().div_euclid(3600);
        let newest = self
            .counts
            .last_key_value()
            .map_or(hour, |(&newest, _)| newest.max(hour));
        if hour <= newest - HOURS_KEPT {
            return None;
        }
        self.first_hour = Some(self.first_hour.map_or(hour, |first| first.min(hour)));
        self.counts.insert(hour, count);
        self.counts = self.counts.split_off(&(newest - HOURS_KEPT + 1));
        let before = self.state;
        self.state = self.judge(newest, levels);
        let State::Is(entered) = self.state else {
            return None;
        };
        if before == State::Unknown || before == self.state {
            return None;
        }
        let (mentions, base) = self.sums(newest);
        let usual = Decimal::from_micros(base.saturating_mul(MICROS_PER_UNIT) / DAYS_BEFORE);
        Some((
            entered,
            Reason::Buzz {
                direction: entered,
                mentions,
                usual,
            },
        ))
    }

    /// The end of the newest hour that was counted.
    pub(super) fn newest(&self) -> Option<Timestamp> {
        let (&hour, _) = self.counts.last_key_value()?;
        Timestamp::from_second(hour * 3600).ok()
    }

    /// Whether the counts of all eight days are there, so that it can be said what is usual. Hours without a count are
    /// hours without a mention, but only so many in a row: after that the source was silent, and not the people. Unless it
    /// counts by the day, from midnight to midnight.
    pub(super) fn is_known(&self) -> bool {
        let Some((&newest, _)) = self.counts.last_key_value() else {
            return false;
        };
        let from = newest - HOURS_KEPT + 1;
        let mut next = from;
        let gapless = self.counts.range(from..).all(|(&hour, _)| {
            let missing = hour - next;
            next = hour + 1;
            let is_by_the_day = missing == HOURS_BETWEEN_DAYS && hour.rem_euclid(24) == 0;
            missing <= HOURS_SILENT || is_by_the_day
        });
        gapless && self.first_hour.is_some_and(|first| first <= from)
    }

    /// Mentions of the last 24 hours there are; `None` while it cannot be said what is usual.
    pub(super) fn mentions_of_a_day(&self) -> Option<i64> {
        let (&newest, _) = self.counts.last_key_value()?;
        self.is_known().then(|| self.sums(newest).0)
    }

    /// Mentions of the 24 hours up to `newest`, and of the seven days before.
    fn sums(&self, newest: i64) -> (i64, i64) {
        let now_from = newest - HOURS_NOW + 1;
        let sum = |range: &mut dyn Iterator<Item = (&i64, &u32)>| range.map(|(_, &count)| i64::from(count)).sum();
        (
            sum(&mut self.counts.range(now_from..=newest)),
            sum(&mut self.counts.range(..now_from)),
        )
    }

    fn judge(&self, newest: i64, levels: &BuzzLevels) -> State {
        if !self.is_known() {
            return State::Unknown;
        }
        let (mentions, base) = self.sums(newest);
        // mentions ÷ (base ÷ 7) compared with a ratio in millionths, without dividing.
        let scaled = i128::from(mentions) * i128::from(DAYS_BEFORE) * i128::from(MICROS_PER_UNIT);
        let times = |ratio: Decimal| i128::from(base) * i128::from(ratio.micros());
        if mentions >= i64::from(levels.rising_mentions) && scaled >= times(levels.rising_ratio) {
            State::Is(BuzzDirection::Rising)
        } else if base >= i64::from(levels.falling_base) * DAYS_BEFORE && scaled <= times(levels.falling_ratio) {
            State::Is(BuzzDirection::Falling)
        } else {
            State::Usual
        }
    }
}
