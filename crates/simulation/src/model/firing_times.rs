//! The times of the firings of an alert, as far as they are known from outside, and the ends of the cooldowns that begin with them.

use jiff::{SignedDuration, Timestamp};

/// The cooldown of the alerts that have one.
pub(super) const COOLDOWN: SignedDuration = SignedDuration::from_secs(60);

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

/// When the first, the second, and each other firing of an alert was made.
#[derive(Clone, Default, Debug)]
pub(super) struct FiringTimes {
    now: TimeRange,
    /// The time since the firings were noted.
    since_noted: TimeRange,
    /// Firings that were possible, each with the time in which it was made if it was.
    possible: Vec<TimeRange>,
    /// The number of firings that were certainly made.
    certain: usize,
}

impl FiringTimes {
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

    /// Whether the service may have shown this time.
    pub(super) fn may_have_come(&self, time: Timestamp) -> bool {
        self.since_noted.latest >= time
    }

    /// Whether the service has certainly shown this time `delay` ago.
    pub(super) fn has_come(&self, time: Timestamp, delay: SignedDuration) -> bool {
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
