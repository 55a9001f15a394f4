//! The stocks whose alerts wait for an initial price.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use alerts::{Alert, Status};
use market::Symbol;
use tokio::sync::Notify;

/// The stocks whose alerts wait for an initial price.
#[derive(Debug, Default)]
pub struct InitialPrices {
    symbols: Mutex<HashSet<Symbol>>,
    pub(super) wake: Notify,
}

impl InitialPrices {
    /// Records an alert that has just been written. If it is active and has no initial price, it waits for one.
    pub fn note(&self, alert: &Alert) {
        if alert.status == Status::Active && alert.initial_price.is_none() {
            self.symbols().insert(alert.symbol);
            // A price may have arrived before the alert was written.
            self.wake.notify_one();
        }
    }

    /// Signals that prices have arrived.
    pub(super) fn notify_prices(&self) {
        if !self.symbols().is_empty() {
            self.wake.notify_one();
        }
    }

    pub(super) fn symbols(&self) -> MutexGuard<'_, HashSet<Symbol>> {
        // A panic elsewhere leaves the set consistent: each change is one insertion or removal.
        self.symbols.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
