//! Gaps in the received prices, and the queue of requests that fill them.
//!
//! A gap ends within a minute, and the bar of a minute is available when the minute is over. So a gap is requested in two
//! parts: its whole minutes at once, while new quotes are held; and the last minute when it is over.

use std::collections::{VecDeque, vec_deque};

use jiff::{SignedDuration, Timestamp, TimestampRound, Unit};
use market::{Calendar, Symbol};

use super::gap_log::GapState;
use crate::provider::TimeRange;

/// The maximum age of a gap. Of a longer one, only the latest part is filled.
pub(super) const MAX_GAP_AGE: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The maximum time for which new quotes are held.
pub(super) const MAX_HOLD: SignedDuration = SignedDuration::from_secs(30);
/// The time after the end of a minute at which its bar is available.
const MINUTE_BAR_LAG: SignedDuration = SignedDuration::from_secs(5);
/// The delay before the first retry. It doubles with each further failure.
const FIRST_RETRY_DELAY: SignedDuration = SignedDuration::from_secs(20);
/// The maximum delay before a retry.
const MAX_RETRY_DELAY: SignedDuration = SignedDuration::from_mins(20);
/// The maximum number of stocks in a request.
const MAX_STOCKS_PER_REQUEST: usize = 100;

/// Tells gaps apart, in order of their opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GapId(u64);

/// A gap in the prices of some stocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) id: GapId,
    /// The stocks.
    pub(super) symbols: Vec<Symbol>,
    /// The period, in whole minutes.
    pub(super) times: TimeRange,
    /// The earliest time of the request.
    pub(super) not_before: Timestamp,
    /// The time until which new quotes are held for this gap.
    pub(super) hold_until: Option<Timestamp>,
    /// Whether quotes from within the gap, or later ones, may have been delivered already.
    pub(super) is_behind: bool,
    attempts: u32,
}

impl Gap {
    /// Returns the state of a gap that waits.
    pub(super) const fn state(&self) -> GapState {
        GapState::Open {
            failures: self.attempts,
            next_request_at: self.not_before,
        }
    }
}

/// The gaps that are still open.
#[derive(Debug, Default)]
pub(super) struct GapQueue {
    gaps: VecDeque<Gap>,
    opened: u64,
}

impl GapQueue {
    /// Adds a gap, as far as it overlaps with sessions, and returns its parts. The plan delivers minute bars with a delay of `delay`.
    pub(super) fn open(
        &mut self,
        symbols: &[Symbol],
        missed: TimeRange,
        is_behind: bool,
        now: Timestamp,
        delay: SignedDuration,
        calendar: &Calendar,
    ) -> vec_deque::Iter<'_, Gap> {
        let queued = self.gaps.len();
        let earliest = now.saturating_sub(MAX_GAP_AGE).unwrap_or(missed.from);
        let from = whole_minute(missed.from.max(earliest));
        let last = whole_minute(missed.to);
        let next = if last < missed.to {
            last.saturating_add(SignedDuration::from_mins(1)).unwrap_or(last)
        } else {
            last
        };
        let parts = [
            // New quotes are not held for delayed minute bars.
            (TimeRange { from, to: last }, delay.is_zero()),
            (
                TimeRange {
                    from: last.max(from),
                    to: next,
                },
                false,
            ),
        ];
        for (times, holds_quotes) in parts {
            if missed.from >= missed.to || !has_session(calendar, times) {
                continue;
            }
            let available_at = times.to.saturating_add(delay).unwrap_or(times.to);
            let hold_until = holds_quotes.then(|| now.saturating_add(MAX_HOLD).unwrap_or(now));
            for symbols in symbols.chunks(MAX_STOCKS_PER_REQUEST) {
                self.opened += 1;
                self.gaps.push_back(Gap {
                    id: GapId(self.opened),
                    symbols: symbols.to_vec(),
                    times,
                    not_before: if holds_quotes {
                        now
                    } else {
                        available_at.saturating_add(MINUTE_BAR_LAG).unwrap_or(available_at)
                    },
                    hold_until,
                    is_behind,
                    attempts: 0,
                });
            }
        }
        self.gaps.range(queued..)
    }

    /// Removes and returns the next gap that is due.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Gap> {
        let index = self.gaps.iter().position(|gap| gap.not_before <= now)?;
        self.gaps.remove(index)
    }

    /// Whether a gap with these times has requests that were not tried yet.
    pub(super) fn has_untried(&self, times: TimeRange) -> bool {
        self.gaps.iter().any(|gap| gap.times == times && gap.attempts == 0)
    }

    /// Queues a gap again after a failure, with a growing delay, and returns it; `None` if it is too old by now.
    pub(super) fn retry_later(&mut self, mut gap: Gap, now: Timestamp) -> Option<&Gap> {
        if now.duration_since(gap.times.to) > MAX_GAP_AGE {
            return None;
        }
        gap.attempts += 1;
        let doublings = 1_i32 << (gap.attempts - 1).min(10);
        let pause = FIRST_RETRY_DELAY.saturating_mul(doublings).min(MAX_RETRY_DELAY);
        gap.not_before = now.saturating_add(pause).unwrap_or(now);
        self.gaps.push_back(gap);
        self.gaps.back()
    }

    /// Limits all waits after the clock was set back to `now`.
    pub(super) fn on_clock_set_back(&mut self, now: Timestamp) {
        let hold_until = now.saturating_add(MAX_HOLD).unwrap_or(now);
        for gap in &mut self.gaps {
            gap.not_before = gap.not_before.min(now.saturating_add(MAX_RETRY_DELAY).unwrap_or(now));
            gap.hold_until = gap.hold_until.map(|until| until.min(hold_until));
        }
    }

    /// Returns when the next request is due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.gaps.iter().map(|gap| gap.not_before).min()
    }

    /// Returns the time until which new quotes are held for these gaps.
    pub(super) fn hold_until(&self) -> Option<Timestamp> {
        self.gaps.iter().filter_map(|gap| gap.hold_until).max()
    }

    pub(super) fn len(&self) -> usize {
        self.gaps.len()
    }
}

/// Returns the beginning of the minute of `at`.
pub(super) fn whole_minute(at: Timestamp) -> Timestamp {
    let down = TimestampRound::new()
        .smallest(Unit::Minute)
        .mode(jiff::RoundMode::Floor);
    at.round(down).unwrap_or(at)
}

/// Whether the period overlaps with a session.
fn has_session(calendar: &Calendar, times: TimeRange) -> bool {
    if times.from >= times.to {
        return false;
    }
    calendar.session_at(times.from).is_some() || calendar.next_open(times.from).is_some_and(|open| open < times.to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// The parts of a gap on a Friday, as `from..to not before`, with a `!` if new quotes are held for it.
    fn parts(from: &str, to: &str, delay_s: i64) -> Vec<String> {
        let time = |text: &str| at(&format!("2024-03-{text}Z"));
        let mut gaps = GapQueue::default();
        let missed = TimeRange {
            from: time(from),
            to: time(to),
        };
        let delay = SignedDuration::from_secs(delay_s);
        let opened = gaps.open(
            &["AAPL".parse().unwrap()],
            missed,
            false,
            time(to),
            delay,
            &Calendar::nyse(),
        );
        let short = |at: Timestamp| at.strftime("%dT%H:%M:%S").to_string();
        let shown = opened.map(|gap| {
            let mark = if gap.hold_until.is_some() { "!" } else { "" };
            let [from, to, when] = [gap.times.from, gap.times.to, gap.not_before].map(short);
            format!("{from}..{to} {when}{mark}")
        });
        shown.collect()
    }

    #[test]
    fn whole_minutes_are_due_at_once_and_the_last_one_when_it_is_over() {
        assert_eq!(
            parts("08T15:00:30", "08T15:20:10", 0),
            [
                "08T15:00:00..08T15:20:00 08T15:20:10!",
                "08T15:20:00..08T15:21:00 08T15:21:05"
            ]
        );
    }

    #[test]
    fn gap_within_a_minute_holds_no_quotes() {
        assert_eq!(
            parts("08T15:00:30", "08T15:00:32", 0),
            ["08T15:00:00..08T15:01:00 08T15:01:05"]
        );
    }

    #[test]
    fn delayed_minute_bars_are_requested_when_available() {
        assert_eq!(
            parts("08T15:00:00", "08T15:20:00", 900),
            ["08T15:00:00..08T15:20:00 08T15:35:05"]
        );
    }

    #[test]
    fn no_gap_is_opened_overnight() {
        assert!(parts("08T21:05:00", "11T13:29:00", 0).is_empty());
        assert_eq!(parts("08T20:59:00", "11T13:30:00", 0).len(), 1);
    }

    #[test]
    fn long_gap_is_limited_to_a_week() {
        assert!(parts("01T15:00:00", "28T15:00:00", 0)[0].starts_with("21T15:00:00..28T15:00:00"));
    }

    #[test]
    fn failed_gap_is_retried_with_growing_delays_for_a_week() {
        let (mut gaps, mut now) = (GapQueue::default(), at("2024-03-08T15:20:00Z"));
        let missed = TimeRange {
            from: at("2024-03-08T15:00:00Z"),
            to: now,
        };
        let _ = gaps.open(
            &["AAPL".parse().unwrap()],
            missed,
            false,
            now,
            SignedDuration::ZERO,
            &Calendar::nyse(),
        );
        let mut gap = gaps.take_due(now).unwrap();
        gaps.gaps.clear();
        let mut waited = Vec::new();
        while gaps.retry_later(gap.clone(), now).is_some() {
            let due = gaps.next_due().unwrap();
            waited.push(due.duration_since(now).as_secs());
            assert!(gaps.take_due(now).is_none());
            now = due;
            gap = gaps.take_due(now).unwrap();
        }
        assert_eq!(waited[..8], [20, 40, 80, 160, 320, 640, 1200, 1200]);
        let week = MAX_GAP_AGE.as_secs();
        let tried = waited.iter().sum::<i64>();
        assert!((week..week + 1_300).contains(&tried), "{tried}");
    }
}
