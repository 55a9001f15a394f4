//! Signals that watchlist items' first prices have arrived.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Whether items await prices, and a signal that prices have arrived.
#[derive(Debug, Default)]
pub struct AwaitedPrices {
    /// Whether any item awaits a price.
    pub any: AtomicBool,
    /// Wakes the task that opens paper trades.
    pub wake: Notify,
}

impl AwaitedPrices {
    /// Records that an item awaits a price.
    pub fn expect_prices(&self) {
        self.any.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Signals that prices have arrived.
    pub(crate) fn notify_prices(&self) {
        if self.any.load(Ordering::Acquire) {
            self.wake.notify_one();
        }
    }
}
