//! The evaluator: owns the engine.

use std::sync::{Mutex, PoisonError};

use alerts::engine::Engine;
use alerts::{Alert, AlertId};
use market::{Price, Symbol};

/// Owns the engine.
#[derive(Debug)]
pub struct Evaluator {
    engine: Mutex<Engine>,
}

impl Evaluator {
    /// Reads from the engine. Judging waits meanwhile, so this must be short.
    pub fn read<T>(&self, read: impl FnOnce(&Engine) -> T) -> T {
        read(&self.engine.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last price of a stock, in or out of a session.
    #[must_use]
    pub fn last_price(&self, symbol: Symbol) -> Option<Price> {
        self.read(|engine| engine.last_price(symbol))
    }

    /// Tells the engine of an alert as it is on disk now: it is judged if it is active, and not any more if it is not.
    /// To be called from [`store::Work::committed`], so that the engine learns of changes in the order of their commits.
    pub fn tell(&self, _alert: &Alert) {
        todo!()
    }

    /// Tells the engine that an alert was deleted. To be called as [`tell`](Self::tell) is.
    pub fn forget(&self, _id: AlertId) {
        todo!()
    }
}
