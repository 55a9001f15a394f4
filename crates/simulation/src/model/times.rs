//! The times of the firings and snoozes of an alert, as far as they are known from outside.

use jiff::{SignedDuration, Timestamp};

/// The cooldown of the alerts that have one.
pub(super) const COOLDOWN: SignedDuration = SignedDuration::from_secs(60);

/// The length of the snoozes that users request.
const SNOOZE: SignedDuration = SignedDuration::from_secs(60);

/// A range of the time that the service shows.
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
}

/// When the first, the second, and each other firing of an alert was made, and when its snoozes end.
#[derive(Clone, Default, Debug)]
pub(super) struct AlertTimes {
    now: TimeRange,
    /// The time since the firings were noted.
    since_noted: TimeRange,
    /// Firings that were possible, each with the time in which it was made if it was.
    possible: Vec<TimeRange>,
    /// The number of firings that were certainly made.
    certain: usize,
    /// The end of each snooze.
    snoozes: Vec<TimeRange>,
}

impl AlertTimes {
    /// The service shows a time in this range.
    pub(super) fn note_time(&mut self, earliest: Timestamp, latest: Timestamp) {
        self.now = TimeRange { earliest, latest };
        if self.since_noted.latest == Timestamp::default() {
            self.since_noted = self.now;
        }
        self.since_noted.include(self.now);
        for firing in self.possible.iter_mut().skip(self.certain) {
            firing.latest = firing.latest.max(latest);
        }
    }

    /// The alert has fired at least `certain` times, and at most `possible` times.
    pub(super) fn note_firings(&mut self, certain: usize, possible: usize) {
        if self.possible.len() < possible {
            self.possible.resize(possible, self.since_noted);
        }
        self.certain = self.certain.max(certain);
        self.since_noted = self.now;
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
        self.snoozes.push(TimeRange {
            earliest: self.now.earliest + SNOOZE,
            latest: self.now.latest + SNOOZE,
        });
        self.snoozes.len() - 1
    }

    /// The request of a snooze is still open.
    pub(super) fn delay_snooze(&mut self, snooze: usize) {
        self.snoozes[snooze].include(TimeRange {
            earliest: self.now.earliest + SNOOZE,
            latest: self.now.latest + SNOOZE,
        });
    }

    /// Whether a snooze may have ended.
    pub(super) fn may_have_woken(&self, snooze: usize) -> bool {
        self.may_have_come(self.snoozes[snooze].earliest)
    }

    /// Whether a snooze has certainly ended `delay` ago.
    pub(super) fn has_woken(&self, snooze: usize, delay: SignedDuration) -> bool {
        self.has_come(self.snoozes[snooze].latest, delay)
    }

    /// The earliest end of the last snooze.
    pub(super) fn end_of_last_snooze(&self) -> Option<Timestamp> {
        self.snoozes.last().map(|end| end.earliest)
    }

    /// Whether the service may have shown this time.
    fn may_have_come(&self, time: Timestamp) -> bool {
        self.since_noted.latest >= time
    }

    /// Whether the service has certainly shown this time `delay` ago.
    fn has_come(&self, time: Timestamp, delay: SignedDuration) -> bool {
        time + delay <= self.now.earliest
    }

    /// Whether the cooldown of the `firings`-th firing may have ended.
    pub(super) fn may_have_cooled(&self, firings: usize) -> bool {
        let firing = firings.checked_sub(1).and_then(|place| self.possible.get(place));
        // A firing that was not possible before was made since then.
        let began = firing.unwrap_or(&self.since_noted).earliest;
        self.may_have_come(began + COOLDOWN)
    }

    /// Whether the cooldown of the `firings`-th firing has certainly ended `delay` ago.
    pub(super) fn has_cooled(&self, firings: usize, delay: SignedDuration) -> bool {
        let place = firings.checked_sub(1).filter(|place| *place < self.certain);
        let firing = place.and_then(|place| self.possible.get(place));
        firing.is_some_and(|firing| self.has_come(firing.latest + COOLDOWN, delay))
    }
}
