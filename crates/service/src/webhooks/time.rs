//! The service's clock as the time that deliveries go by.

use std::sync::Arc;

use jiff::Timestamp;
use notify::time::{Sleep, Time};

use crate::Clock;

/// A clock that stands for the time, for where there is no better one: tests, and simulations.
#[derive(Clone, Debug)]
pub struct ByClock(pub Arc<dyn Clock>);

impl Time for ByClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        self.0.sleep_until(at)
    }
}
