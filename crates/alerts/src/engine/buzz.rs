//! The social media discussion of a stock.
//!
//! The mentions of the last 24 hours are compared with the daily mean of the seven days before. Counts arrive per hour. Each
//! count triggers a comparison as of the newest counted hour, so that a source that goes silent does not look like fading
//! discussion. A source with daily counts delivers a running 24-hour count for midnight UTC; a later count of that day replaces
//! it. An alert fires on the *change* into a state, so the state is tracked even if no alert waits for it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use market::{Decimal, MICROS_PER_UNIT};

use super::level_index::Slot;
use super::reason::Reason;
use crate::condition::BuzzDirection;
use crate::metrics::MentionCounts;

const RECENT_HOURS: i64 = 24;
const BASELINE_DAYS: i64 = 7;
/// The maximum number of consecutive hours without a count.
const MAX_MISSING_HOURS: i64 = 6;
/// The number of hours between two counts of a source with daily counts.
const DAILY_SOURCE_GAP_HOURS: i64 = 23;
const KEPT_HOURS: i64 = RECENT_HOURS + 24 * BASELINE_DAYS;

/// The thresholds of rising and falling discussion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuzzThresholds {
    /// Rising: the minimum ratio of the mentions to the usual mentions per day.
    pub rising_ratio: Decimal,
    /// Rising: the minimum number of mentions in 24 hours.
    pub rising_mentions: u32,
    /// Falling: the maximum ratio of the mentions to the usual mentions per day.
    pub falling_ratio: Decimal,
    /// Falling: the minimum number of usual mentions per day.
    pub falling_base: u32,
}

impl Default for BuzzThresholds {
    /// Rising from twice the usual mentions and at least 20; falling from half of at least 20 per day.
    fn default() -> Self {
        Self {
            rising_ratio: Decimal::from_micros(2 * MICROS_PER_UNIT),
            rising_mentions: 20,
            falling_ratio: Decimal::from_micros(MICROS_PER_UNIT / 2),
            falling_base: 20,
        }
    }
}

/// The state of the discussion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum BuzzState {
    /// Unknown so far. A change from this state to rising or falling does not fire.
    #[default]
    Unknown,
    Usual,
    Is(BuzzDirection),
}

/// The hourly counts of the last eight days, and the resulting state.
#[derive(Clone, Debug, Default)]
pub(super) struct Buzz {
    counts: BTreeMap<i64, u32>,
    first_hour: Option<i64>,
    state: BuzzState,
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

    /// Records the count of an hour. Returns a reason if the discussion changed into a rising or falling state.
    pub(super) fn count(
        &mut self,
        hour: Timestamp,
        count: u32,
        thresholds: &BuzzThresholds,
    ) -> Option<(BuzzDirection, Reason)> {
        let hour = hour.as_second().div_euclid(3600);
        let newest = self
            .counts
            .last_key_value()
            .map_or(hour, |(&newest, _)| newest.max(hour));
        if hour <= newest - KEPT_HOURS {
            return None;
        }
        self.first_hour = Some(self.first_hour.map_or(hour, |first| first.min(hour)));
        self.counts.insert(hour, count);
        self.counts = self.counts.split_off(&(newest - KEPT_HOURS + 1));
        let before = self.state;
        self.state = self.evaluate(newest, thresholds);
        let BuzzState::Is(entered) = self.state else {
            return None;
        };
        if before == BuzzState::Unknown || before == self.state {
            return None;
        }
        Some((entered, self.reason(entered, newest)))
    }

    fn reason(&self, direction: BuzzDirection, newest: i64) -> Reason {
        let (mentions, base) = self.sums(newest);
        Reason::Buzz {
            direction,
            mentions,
            usual: Decimal::from_micros(base.saturating_mul(MICROS_PER_UNIT) / BASELINE_DAYS),
        }
    }

    /// Returns whether discussion is in a state, with the reason; `None` while that is unknown.
    pub(super) fn reason_of_state(&self, direction: BuzzDirection) -> Option<Option<Reason>> {
        let (&newest, _) = self.counts.last_key_value()?;
        match self.state {
            BuzzState::Unknown => None,
            BuzzState::Is(state) if state == direction => Some(Some(self.reason(direction, newest))),
            BuzzState::Usual | BuzzState::Is(_) => Some(None),
        }
    }

    /// Returns the end of the newest counted hour.
    pub(super) fn newest(&self) -> Option<Timestamp> {
        let (&hour, _) = self.counts.last_key_value()?;
        Timestamp::from_second(hour * 3600).ok()
    }

    /// Returns whether the counts cover eight days, so that the usual number of mentions is known. Hours without a count have no
    /// mentions, but at most [`MAX_MISSING_HOURS`] of them may be consecutive; otherwise the source was silent. A gap from
    /// midnight to midnight is allowed: the source counts per day.
    pub(super) fn is_known(&self) -> bool {
        let Some((&newest, _)) = self.counts.last_key_value() else {
            return false;
        };
        let from = newest - KEPT_HOURS + 1;
        let mut next = from;
        let gapless = self.counts.range(from..).all(|(&hour, _)| {
            let missing = hour - next;
            next = hour + 1;
            let is_by_the_day = missing == DAILY_SOURCE_GAP_HOURS && hour.rem_euclid(24) == 0;
            missing <= MAX_MISSING_HOURS || is_by_the_day
        });
        gapless && self.first_hour.is_some_and(|first| first <= from)
    }

    /// Returns the mentions of the newest 24 hours; `None` while the usual number is unknown.
    pub(super) fn mentions_in_24_hours(&self) -> Option<i64> {
        let (&newest, _) = self.counts.last_key_value()?;
        self.is_known().then(|| self.sums(newest).0)
    }

    /// Returns the mentions of the newest 24 hours and of the seven days before; `None` while the usual number is unknown.
    pub(super) fn mention_counts(&self) -> Option<MentionCounts> {
        let (&newest, _) = self.counts.last_key_value()?;
        let (last_day, week_before) = self.sums(newest);
        self.is_known().then_some(MentionCounts { last_day, week_before })
    }

    /// Returns the mentions of the 24 hours up to `newest`, and of the seven days before.
    fn sums(&self, newest: i64) -> (i64, i64) {
        let now_from = newest - RECENT_HOURS + 1;
        let sum = |range: &mut dyn Iterator<Item = (&i64, &u32)>| range.map(|(_, &count)| i64::from(count)).sum();
        (
            sum(&mut self.counts.range(now_from..=newest)),
            sum(&mut self.counts.range(..now_from)),
        )
    }

    fn evaluate(&self, newest: i64, thresholds: &BuzzThresholds) -> BuzzState {
        if !self.is_known() {
            return BuzzState::Unknown;
        }
        let (mentions, base) = self.sums(newest);
        // Compares mentions ÷ (base ÷ 7) with a ratio in millionths, without a division.
        let scaled = i128::from(mentions) * i128::from(BASELINE_DAYS) * i128::from(MICROS_PER_UNIT);
        let times = |ratio: Decimal| i128::from(base) * i128::from(ratio.micros());
        if mentions >= i64::from(thresholds.rising_mentions) && scaled >= times(thresholds.rising_ratio) {
            BuzzState::Is(BuzzDirection::Rising)
        } else if base >= i64::from(thresholds.falling_base) * BASELINE_DAYS
            && scaled <= times(thresholds.falling_ratio)
        {
            BuzzState::Is(BuzzDirection::Falling)
        } else {
            BuzzState::Usual
        }
    }
}
