//! Detects forward jumps of the clock, so that irreversible changes wait until the new time has held.
//!
//! A clock that is ahead for some seconds would apply the splits of the next day, and an applied split cannot be
//! undone. The clock is compared with the uptime, which does not change when the clock is set.

use std::sync::{Mutex, PoisonError};

use clock::{Clock, ClockReading};
use jiff::{SignedDuration, Timestamp};

/// The time by which the clock may run ahead of the uptime between two readings.
const MAX_DRIFT: SignedDuration = SignedDuration::from_secs(60);
/// A jump is accepted after it has held for this long.
const JUMP_HOLD_TIME: SignedDuration = SignedDuration::from_mins(5);

/// Whether the clock has jumped forward between two readings.
fn has_jumped(earlier: ClockReading, later: ClockReading) -> bool {
    later.stepped_since(earlier) > MAX_DRIFT
}

#[derive(Clone, Copy, Debug)]
struct ClockState {
    /// The last reading without a jump before it, or after a jump that has held.
    trusted: ClockReading,
    /// The first reading after the last jump, until the jump has held.
    jumped: Option<ClockReading>,
}

/// The clock without jumps that have not held yet.
#[derive(Debug, Default)]
pub(super) struct SteadyClock(Mutex<Option<ClockState>>);

impl SteadyClock {
    /// Reads the clock. Returns its time, or for five minutes after a forward jump the time without the jump. The first
    /// reading is trusted.
    pub(super) fn read(&self, clock: &dyn Clock) -> Timestamp {
        let reading = ClockReading::of(clock);
        // Each change leaves the state consistent.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = *state
            && has_jumped(before.trusted, reading)
        {
            let jumped = before.jumped.filter(|jumped| !has_jumped(*jumped, reading));
            let jumped = jumped.unwrap_or(reading);
            if reading.elapsed_since(jumped) < JUMP_HOLD_TIME {
                *state = Some(ClockState {
                    jumped: Some(jumped),
                    ..before
                });
                let time = reading.time();
                return time
                    .saturating_sub(reading.stepped_since(before.trusted))
                    .unwrap_or(time);
            }
        }
        *state = Some(ClockState {
            trusted: reading,
            jumped: None,
        });
        reading.time()
    }
}

#[cfg(test)]
mod tests {
    use clock::ManualClock;

    use super::*;

    /// A clock with its uptime.
    struct TestMachine {
        clock: ManualClock,
        steady: SteadyClock,
    }

    impl TestMachine {
        fn new() -> Self {
            Self {
                clock: ManualClock::new(Timestamp::UNIX_EPOCH),
                steady: SteadyClock::default(),
            }
        }

        /// Returns the steady time in seconds when the clock shows `at`, `passed` seconds after the beginning.
        fn read(&self, at: i64, passed: i64) -> i64 {
            self.clock
                .advance(SignedDuration::from_secs(passed) - self.clock.uptime());
            self.clock.step_to(Timestamp::from_second(at).unwrap());
            self.steady.read(&self.clock).as_second()
        }
    }

    #[test]
    fn elapsed_time_counts_however_rarely_the_clock_is_read() {
        let machine = TestMachine::new();
        assert_eq!(machine.read(1_000, 0), 1_000);
        assert_eq!(machine.read(1_001, 1), 1_001);
        assert_eq!(machine.read(90_000, 89_000), 90_000);
        assert_eq!(machine.read(90_061, 89_001), 90_061, "a drift is not a jump");
    }

    #[test]
    fn jump_counts_when_it_has_held_for_five_minutes() {
        let machine = TestMachine::new();
        machine.read(1_000, 0);
        assert_eq!(machine.read(2_001, 1), 1_001);
        assert_eq!(machine.read(2_300, 300), 1_300);
        assert_eq!(machine.read(2_301, 301), 2_301);
        assert_eq!(machine.read(2_302, 302), 2_302);
    }

    #[test]
    fn another_jump_restarts_the_hold_time() {
        let machine = TestMachine::new();
        machine.read(1_000, 0);
        machine.read(2_001, 1);
        assert_eq!(machine.read(5_300, 300), 1_300);
        assert_eq!(machine.read(5_301, 301), 1_301);
        assert_eq!(machine.read(5_600, 600), 5_600);
    }

    #[test]
    fn backward_step_counts_at_once() {
        let machine = TestMachine::new();
        machine.read(1_000, 0);
        assert_eq!(machine.read(90_000, 2), 1_002);
        assert_eq!(machine.read(1_004, 4), 1_004);
        assert_eq!(machine.read(500, 5), 500);
        assert_eq!(machine.read(90_000, 305), 800, "the former jump has ended");
    }
}
