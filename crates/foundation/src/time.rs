//! Adapter from the service's clock to the time of deliveries.

use std::sync::Arc;

use jiff::Timestamp;
use notify::time::{SleepFuture, Time};

use crate::Clock;

/// A clock as the time of deliveries, for tests and simulations.
#[derive(Clone, Debug)]
pub struct ClockTime(pub Arc<dyn Clock>);

impl Time for ClockTime {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn sleep_until(&self, at: Timestamp) -> SleepFuture<'_> {
        self.0.sleep_until(at)
    }
}
