//! Stretches of which nothing was heard, and what becomes of them.
//!
//! A gap ends somewhere within a minute, and minutes are told when they are over. So a gap is asked for in two parts: its whole
//! minutes at once, while what comes in is held back; the rest when that minute is over, by itself.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp, TimestampRound, Unit};
use market::{Calendar, Symbol};

use crate::provider::Times;

/// Of a longer stretch only so much is made up for, the latest.
pub(super) const LONGEST: SignedDuration = SignedDuration::from_hours(7 * 24);
/// So long what comes in is held back at most.
pub(super) const HOLD_MOST: SignedDuration = SignedDuration::from_secs(30);
/// How long after its end a minute is told.
const TOLD_AFTER: SignedDuration = SignedDuration::from_secs(5);
/// How long after a failure it is tried again; it doubles.
const TRY_AGAIN_AFTER: SignedDuration = SignedDuration::from_secs(20);
/// It is tried again no later than this after a failure.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(20);
/// So many stocks are asked about at once.
const STOCKS_AT_ONCE: usize = 100;

/// A stretch of some stocks that is to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gap {
    /// Whose.
    pub(super) symbols: Vec<Symbol>,
    /// Whole minutes.
    pub(super) times: Times,
    /// It is not asked for before.
    pub(super) not_before: Timestamp,
    /// Until then what comes in is held back for it.
    pub(super) hold_until: Option<Timestamp>,
    /// Whether something of the stretch, or of after it, may have been delivered already.
    pub(super) is_behind: bool,
    attempts: u32,
}

/// The gaps that are still open.
#[derive(Debug, Default)]
pub(super) struct Gaps(VecDeque<Gap>);

impl Gaps {
    /// Takes note of a stretch that was missed, as far as there was a session in it. What is told is told `delay` later.
    pub(super) fn open(
        &mut self,
        symbols: &[Symbol],
        missed: Times,
        is_behind: bool,
        now: Timestamp,
        delay: SignedDuration,
        calendar: &Calendar,
    ) {
        let earliest = now.saturating_sub(LONGEST).unwrap_or(missed.from);
        let from = whole_minute(missed.from.max(earliest));
        let last = whole_minute(missed.to);
        let next = if last < missed.to {
            last.saturating_add(SignedDuration::from_mins(1)).unwrap_or(last)
        } else {
            last
        };
        let parts = [
            // What is told with a delay is not waited for.
            (Times { from, to: last }, delay.is_zero()),
            (
                Times {
                    from: last.max(from),
                    to: next,
                },
                false,
            ),
        ];
        for (times, is_waited_for) in parts {
            if missed.from >= missed.to || !has_session(calendar, times) {
                continue;
            }
            let told = times.to.saturating_add(delay).unwrap_or(times.to);
            let hold_until = is_waited_for.then(|| now.saturating_add(HOLD_MOST).unwrap_or(now));
            let portions = symbols.chunks(STOCKS_AT_ONCE).map(|symbols| Gap {
                symbols: symbols.to_vec(),
                times,
                not_before: if is_waited_for {
                    now
                } else {
                    told.saturating_add(TOLD_AFTER).unwrap_or(told)
                },
                hold_until,
                is_behind,
                attempts: 0,
            });
            self.0.extend(portions);
        }
    }

    /// The next gap that can be asked for now.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Gap> {
        let place = self.0.iter().position(|gap| gap.not_before <= now)?;
        self.0.remove(place)
    }

    /// Nobody answered: it is asked for again, later and later. False if it is too long ago by now.
    pub(super) fn put_back(&mut self, mut gap: Gap, now: Timestamp) -> bool {
        if now.duration_since(gap.times.to) > LONGEST {
            return false;
        }
        gap.attempts += 1;
        let doublings = 1_i32 << (gap.attempts - 1).min(10);
        let pause = TRY_AGAIN_AFTER.saturating_mul(doublings).min(LONGEST_PAUSE);
        gap.not_before = now.saturating_add(pause).unwrap_or(now);
        self.0.push_back(gap);
        true
    }

    /// Limits all waits after the clock was set back to `now`, as if it had always been right.
    pub(super) fn follow_clock_back(&mut self, now: Timestamp) {
        let hold_until = now.saturating_add(HOLD_MOST).unwrap_or(now);
        for gap in &mut self.0 {
            gap.not_before = gap.not_before.min(now.saturating_add(LONGEST_PAUSE).unwrap_or(now));
            gap.hold_until = gap.hold_until.map(|until| until.min(hold_until));
        }
    }

    /// When something can be asked for next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.0.iter().map(|gap| gap.not_before).min()
    }

    /// Until when what comes in is held back for these gaps.
    pub(super) fn hold_until(&self) -> Option<Timestamp> {
        self.0.iter().filter_map(|gap| gap.hold_until).max()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The whole minute that `at` is in.
pub(super) fn whole_minute(at: Timestamp) -> Timestamp {
    let down = TimestampRound::new()
        .smallest(Unit::Minute)
        .mode(jiff::RoundMode::Floor);
    at.round(down).unwrap_or(at)
}

/// Whether the market was open at some time of a stretch.
fn has_session(calendar: &Calendar, times: Times) -> bool {
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

    /// The parts of a gap on a Friday, as `from..to not before`, with a `!` if what comes in waits for it.
    fn parts(from: &str, to: &str, delay_s: i64) -> Vec<String> {
        let time = |text: &str| at(&format!("2024-03-{text}Z"));
        let mut gaps = Gaps::default();
        let missed = Times {
            from: time(from),
            to: time(to),
        };
        let delay = SignedDuration::from_secs(delay_s);
        gaps.open(
            &["AAPL".parse().unwrap()],
            missed,
            false,
            time(to),
            delay,
            &Calendar::nyse(),
        );
        let short = |at: Timestamp| at.strftime("%dT%H:%M:%S").to_string();
        let shown = gaps.0.iter().map(|gap| {
            let mark = if gap.hold_until.is_some() { "!" } else { "" };
            let [from, to, when] = [gap.times.from, gap.times.to, gap.not_before].map(short);
            format!("{from}..{to} {when}{mark}")
        });
        shown.collect()
    }

    #[test]
    fn whole_minutes_are_asked_for_at_once_and_the_last_one_when_it_is_over() {
        assert_eq!(
            parts("08T15:00:30", "08T15:20:10", 0),
            [
                "08T15:00:00..08T15:20:00 08T15:20:10!",
                "08T15:20:00..08T15:21:00 08T15:21:05"
            ]
        );
    }

    #[test]
    fn a_gap_within_a_minute_holds_nothing_up() {
        assert_eq!(
            parts("08T15:00:30", "08T15:00:32", 0),
            ["08T15:00:00..08T15:01:00 08T15:01:05"]
        );
    }

    #[test]
    fn what_is_told_with_a_delay_is_asked_for_when_it_can_be_told() {
        assert_eq!(
            parts("08T15:00:00", "08T15:20:00", 900),
            ["08T15:00:00..08T15:20:00 08T15:35:05"]
        );
    }

    #[test]
    fn of_a_night_nothing_is_asked_for() {
        assert!(parts("08T21:05:00", "11T13:29:00", 0).is_empty());
        assert_eq!(parts("08T20:59:00", "11T13:30:00", 0).len(), 1);
    }

    #[test]
    fn of_a_month_the_last_week_is_made_up_for() {
        assert!(parts("01T15:00:00", "28T15:00:00", 0)[0].starts_with("21T15:00:00..28T15:00:00"));
    }

    #[test]
    fn what_nobody_answers_is_asked_for_later_and_later_for_a_week() {
        let (mut gaps, mut now) = (Gaps::default(), at("2024-03-08T15:20:00Z"));
        let missed = Times {
            from: at("2024-03-08T15:00:00Z"),
            to: now,
        };
        gaps.open(
            &["AAPL".parse().unwrap()],
            missed,
            false,
            now,
            SignedDuration::ZERO,
            &Calendar::nyse(),
        );
        let mut gap = gaps.take_due(now).unwrap();
        gaps.0.clear();
        let mut waited = Vec::new();
        while gaps.put_back(gap.clone(), now) {
            let due = gaps.next_due().unwrap();
            waited.push(due.duration_since(now).as_secs());
            assert!(gaps.take_due(now).is_none());
            now = due;
            gap = gaps.take_due(now).unwrap();
        }
        assert_eq!(waited[..8], [20, 40, 80, 160, 320, 640, 1200, 1200]);
        let week = LONGEST.as_secs();
        let tried = waited.iter().sum::<i64>();
        assert!((week..week + 1_300).contains(&tried), "{tried}");
    }
}
