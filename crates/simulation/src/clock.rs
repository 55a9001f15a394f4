//! The clock of the simulated machine: virtual time with steps and drift.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clock::{Clock, Sleep, signed, sleep_by_timer};
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// A clock over Tokio's paused time, which advances to the next timer whenever nothing else is left to do.
#[derive(Debug)]
pub(crate) struct SimulatedClock {
    started: Instant,
    state: Mutex<ClockState>,
}

/// The setting of the clock of a machine. It outlives the processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockState {
    /// The true time at the start of the process.
    pub(crate) true_time: Timestamp,
    /// The time that the clock shows, less the true time.
    pub(crate) error: SignedDuration,
    /// Gain per second, in microseconds.
    pub(crate) drift_us: i64,
    /// The time since the start of the process up to which the drift is part of the error.
    drifted_until: SignedDuration,
    /// By how much the clock was ahead at most.
    max_ahead: SignedDuration,
}

impl ClockState {
    pub(crate) const fn new(true_time: Timestamp) -> Self {
        Self {
            true_time,
            error: SignedDuration::ZERO,
            drift_us: 0,
            drifted_until: SignedDuration::ZERO,
            max_ahead: SignedDuration::ZERO,
        }
    }

    fn add_error(&mut self, by: SignedDuration) {
        self.error += by;
        self.max_ahead = self.max_ahead.max(self.error);
    }
}

impl SimulatedClock {
    /// Starts the clock of a process.
    pub(crate) fn new(state: ClockState) -> Self {
        Self {
            started: Instant::now(),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, ClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn elapsed(&self) -> SignedDuration {
        signed(self.started.elapsed())
    }

    /// The true time.
    pub(crate) fn true_time(&self) -> Timestamp {
        self.state().true_time + self.elapsed()
    }

    /// Steps the clock.
    pub(crate) fn step(&self, by: SignedDuration) {
        self.state().add_error(by);
    }

    /// By how much the clock was ahead at most, also before this process.
    pub(crate) fn max_ahead(&self) -> SignedDuration {
        self.state().max_ahead
    }

    /// Sets the drift, in microseconds per second.
    pub(crate) fn set_drift(&self, drift_us: i64) {
        let elapsed = self.elapsed();
        let mut state = self.state();
        let drift = drift_since(&state, elapsed);
        state.add_error(drift);
        state.drifted_until = elapsed;
        state.drift_us = drift_us;
    }

    /// Sets the clock right. Returns by how much it was stepped.
    pub(crate) fn correct(&self) -> SignedDuration {
        self.set_drift(0);
        -std::mem::take(&mut self.state().error)
    }

    /// The setting with which the clock of the next process starts.
    pub(crate) fn handed_over(&self) -> ClockState {
        let drift_us = self.state().drift_us;
        self.set_drift(drift_us);
        ClockState {
            true_time: self.true_time(),
            drifted_until: SignedDuration::ZERO,
            ..*self.state()
        }
    }
}

fn drift_since(state: &ClockState, elapsed: SignedDuration) -> SignedDuration {
    let seconds = (elapsed - state.drifted_until).as_millis();
    let micros = i64::try_from(seconds).unwrap_or_default() * state.drift_us / 1_000;
    SignedDuration::from_micros(micros)
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        let elapsed = self.elapsed();
        let state = self.state();
        state.true_time + elapsed + state.error + drift_since(&state, elapsed)
    }

    fn uptime(&self) -> SignedDuration {
        self.elapsed()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        Box::pin(sleep_by_timer(self, at))
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}
