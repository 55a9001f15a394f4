//! The times of the firings and snoozes of an alert, as far as they are known from outside.

use jiff::{SignedDuration, Timestamp};

use super::Cooldown;

/// The cooldown of the alerts that have one which does not end at midnight.
const COOLDOWN: SignedDuration = SignedDuration::from_secs(60);

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

/// When the first, the second, and each other firing of an alert was made, and when its snoozes end.
#[derive(Clone, Default, Debug)]
pub(super) struct AlertTimes {
    now: TimeRange,
    /// Whether the cooldown ends at midnight in New York.
    ends_at_midnight: bool,
    /// The time since the last [`note_firings`](Self::note_firings); `None`: it is not known yet.
    since_noted: Option<TimeRange>,
    /// The possible firings, each with the range of its time.
    possible: Vec<TimeRange>,
    /// The number of firings that were certainly made.
    certain: usize,
    /// The end of each snooze.
    snoozes: Vec<TimeRange>,
}

impl AlertTimes {
    pub(super) fn new(cooldown: Option<Cooldown>) -> Self {
        Self {
            ends_at_midnight: cooldown.is_some_and(|cooldown| cooldown.ends_at_midnight),
            ..Self::default()
        }
    }

    /// The time of the service is in this range.
    pub(super) fn note_time(&mut self, earliest: Timestamp, latest: Timestamp) {
        self.now = TimeRange { earliest, latest };
        self.since_noted.get_or_insert(self.now).include(self.now);
        for firing in self.possible.iter_mut().skip(self.certain) {
            firing.include(self.now);
        }
    }

    /// The alert has fired at least `certain` times, and at most `possible` times.
    pub(super) fn note_firings(&mut self, certain: usize, possible: usize) {
        self.possible.resize(possible, self.since_noted());
        self.certain = self.certain.max(certain);
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
        let firing = firings.checked_sub(1).and_then(|place| self.possible.get(place));
        // A firing that was not possible before was made since then.
        let began = firing.copied().unwrap_or_else(|| self.since_noted()).earliest;
        self.may_be_past(self.end_of_cooldown(began))
    }

    /// Whether the cooldown of the `firings`-th firing has certainly ended `delay` ago.
    pub(super) fn cooldown_has_ended(&self, firings: usize, delay: SignedDuration) -> bool {
        let place = firings.checked_sub(1).filter(|place| *place < self.certain);
        let firing = place.and_then(|place| self.possible.get(place));
        firing.is_some_and(|firing| self.is_past(self.end_of_cooldown(firing.latest), delay))
    }

    /// The end of the cooldown of a firing at this time.
    fn end_of_cooldown(&self, fired_at: Timestamp) -> Timestamp {
        if !self.ends_at_midnight {
            return fired_at + COOLDOWN;
        }
        let midnight = fired_at
            .in_tz("America/New_York")
            .and_then(|fired_at| fired_at.tomorrow()?.start_of_day());
        midnight.map_or(Timestamp::MAX, |midnight| midnight.timestamp())
    }
}
