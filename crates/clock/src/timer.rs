//! Sleeping by a monotonic timer, for clocks that may be set.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::Clock;

/// The maximum length of one sleep. The clock can be set and the machine can be suspended, so a long sleep is split
/// to notice this.
const MAX_SLEEP: Duration = Duration::from_secs(10);

/// Waits until `clock` shows `at`, by Tokio's timer: [`Clock::sleep_until`] of a clock that may be set during the wait.
pub async fn sleep_by_timer<C: Clock + ?Sized>(clock: &C, at: Timestamp) {
    let mut shortest = SignedDuration::MAX;
    loop {
        let left = at.duration_since(clock.now());
        // The remaining time grew: the clock was set back. A wait of one second must not become a wait of one day.
        if left <= SignedDuration::ZERO || left > shortest {
            return;
        }
        shortest = left;
        tokio::time::sleep(left.unsigned_abs().min(MAX_SLEEP)).await;
    }
}
