//! The times of the firings and snoozes of an alert, as far as they are known from outside.

use jiff::{SignedDuration, Timestamp};

use super::Cooldown;

/// The cooldown of the alerts that have one which does not end at midnight.
const COOLDOWN: SignedDuration = SignedDuration::from_secs(60);

/// The time for which the price must be beyond the threshold of an alert with a hold.
const HOLD: SignedDuration = SignedDuration::from_secs(60);

/// The length of the snoozes that users request.
const SNOOZE: SignedDuration = SignedDuration::from_secs(60);

/// A range that contains the time of the service.
#[derive(Clone, Copy, Default, Debug)]
struct TimeRange {
    earliest: Timestamp,
    latest: Timestamp,
}

impl TimeRange {
    fn include(&mut self, other: Self) {
        self.earliest = self.earliest.min(other.earliest);
        self.latest = self.latest.max(other.latest);
    }

    fn after(self, duration: SignedDuration) -> Self {
        Self {
            earliest: self.earliest + duration,
            latest: self.latest + duration,
        }
    }
}

/// When something happened for the first time, the second time and so on.
#[derive(Clone, Default, Debug)]
struct Occurrences {
    /// Those that are possible, each with the range of its time.
    possible: Vec<TimeRange>,
    /// The number of those that are certain.
    certain: usize,
}

impl Occurrences {
    fn note_time(&mut self, now: TimeRange) {
        for occurrence in self.possible.iter_mut().skip(self.certain) {
            occurrence.include(now);
        }
    }

    /// It has happened between `certain` and `possible` times; what was not possible before, since a time.
    fn note(&mut self, (certain, possible): (usize, usize), since: TimeRange) {
        self.possible.resize(possible, since);
        self.certain = self.certain.max(certain);
    }

    /// The earliest time of an occurrence, counted from 1. One that was not possible before can be as early as `since`.
    fn earliest(&self, count: usize, since: TimeRange) -> Timestamp {
        let known = count.checked_sub(1).and_then(|place| self.possible.get(place));
        known.copied().unwrap_or(since).earliest
    }

    /// The latest time of an occurrence, counted from 1, if it is certain.
    fn latest(&self, count: usize) -> Option<Timestamp> {
        let place = count.checked_sub(1).filter(|place| *place < self.certain)?;
        self.possible.get(place).map(|occurrence| occurrence.latest)
    }
}

/// When an alert fired, when its holds began, and when its snoozes end.
#[derive(Clone, Default, Debug)]
pub(super) struct AlertTimes {
    now: TimeRange,
    cooldown: Option<Cooldown>,
    /// The time since the last [`note`](Self::note); `None`: it is not known yet.
    since_noted: Option<TimeRange>,
    firings: Occurrences,
    /// The beginnings of holds.
    holds: Occurrences,
    /// The end of each snooze.
    snoozes: Vec<TimeRange>,
}

impl AlertTimes {
    pub(super) fn new(cooldown: Option<Cooldown>) -> Self {
        Self {
            cooldown,
            ..Self::default()
        }
    }

    pub(super) const fn cooldown(&self) -> Option<Cooldown> {
        self.cooldown
    }

    /// The time of the service is in this range.
    pub(super) fn note_time(&mut self, earliest: Timestamp, latest: Timestamp) {
        self.now = TimeRange { earliest, latest };
        self.since_noted.get_or_insert(self.now).include(self.now);
        self.firings.note_time(self.now);
        self.holds.note_time(self.now);
    }

    /// The numbers of firings and of holds that have begun, each at least and at most.
    pub(super) fn note(&mut self, firings: (usize, usize), holds: (usize, usize)) {
        let since = self.since_noted();
        self.firings.note(firings, since);
        self.holds.note(holds, since);
        self.since_noted = Some(self.now);
    }

    fn since_noted(&self) -> TimeRange {
        self.since_noted.unwrap_or(self.now)
    }

    /// A snooze with a known end is requested. Returns its number.
    pub(super) fn add_snooze_until(&mut self, end: Timestamp) -> usize {
        self.snoozes.push(TimeRange {
            earliest: end,
            latest: end,
        });
        self.snoozes.len() - 1
    }

    /// A snooze from now on is requested. Returns its number.
    pub(super) fn add_snooze(&mut self) -> usize {
        self.snoozes.push(self.now.after(SNOOZE));
        self.snoozes.len() - 1
    }

    /// The request of a snooze is still open.
    pub(super) fn extend_snooze(&mut self, snooze: usize) {
        self.snoozes[snooze].include(self.now.after(SNOOZE));
    }

    /// Whether a snooze may have ended.
    pub(super) fn snooze_may_have_ended(&self, snooze: usize) -> bool {
        self.may_be_past(self.snoozes[snooze].earliest)
    }

    /// Whether a snooze has certainly ended `delay` ago.
    pub(super) fn snooze_has_ended(&self, snooze: usize, delay: SignedDuration) -> bool {
        self.is_past(self.snoozes[snooze].latest, delay)
    }

    /// The earliest end of the last snooze.
    pub(super) fn end_of_last_snooze(&self) -> Option<Timestamp> {
        self.snoozes.last().map(|end| end.earliest)
    }

    /// Whether a time may be past for the service.
    fn may_be_past(&self, time: Timestamp) -> bool {
        self.since_noted().latest >= time
    }

    /// Whether a time was certainly past for the service `delay` ago.
    fn is_past(&self, time: Timestamp, delay: SignedDuration) -> bool {
        time + delay <= self.now.earliest
    }

    /// Whether the cooldown of the `firings`-th firing may have ended.
    pub(super) fn cooldown_may_have_ended(&self, firings: usize) -> bool {
        let began = self.firings.earliest(firings, self.since_noted());
        self.may_be_past(self.end_of_cooldown(began))
    }

    /// Whether the cooldown of the `firings`-th firing has certainly ended `delay` ago.
    pub(super) fn cooldown_has_ended(&self, firings: usize, delay: SignedDuration) -> bool {
        let began = self.firings.latest(firings);
        began.is_some_and(|began| self.is_past(self.end_of_cooldown(began), delay))
    }

    /// Whether the `holds`-th hold may have ended.
    pub(super) fn hold_may_have_ended(&self, holds: usize) -> bool {
        self.may_be_past(self.holds.earliest(holds, self.since_noted()) + HOLD)
    }

    /// Whether the `holds`-th hold has certainly ended `delay` ago.
    pub(super) fn hold_has_ended(&self, holds: usize, delay: SignedDuration) -> bool {
        let began = self.holds.latest(holds);
        began.is_some_and(|began| self.is_past(began + HOLD, delay))
    }

    /// Whether a hold may have begun at a time, which is rounded to seconds.
    pub(super) fn hold_may_have_begun_at(&self, time: Timestamp) -> bool {
        let second = SignedDuration::from_secs(1);
        let is_in = |began: &TimeRange| began.earliest - second <= time && time <= began.latest + second;
        self.holds.possible.iter().any(is_in)
    }

    /// The end of the cooldown of a firing at this time.
    fn end_of_cooldown(&self, fired_at: Timestamp) -> Timestamp {
        if self.cooldown != Some(Cooldown::UntilMidnight) {
            return fired_at + COOLDOWN;
        }
        let midnight = fired_at
            .in_tz("America/New_York")
            .and_then(|fired_at| fired_at.tomorrow()?.start_of_day());
        midnight.map_or(Timestamp::MAX, |midnight| midnight.timestamp())
    }
}
