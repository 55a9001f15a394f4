//! Whether the source still delivers what it had at the start.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::prices::Prices;

/// Whether the first load is under way.
#[derive(Debug, Default)]
pub(crate) struct Loading(AtomicBool);

impl Loading {
    pub(crate) fn is_loading(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Prices {
    /// Notes that the source begins to deliver what it had at the start. The service is not ready until
    /// [`first_load_ended`](Self::first_load_ended).
    pub fn first_load_begins(&self) {
        self.loading.0.store(true, Ordering::Release);
    }

    /// Notes that everything that the source had at the start has been taken in.
    pub fn first_load_ended(&self) {
        self.loading.0.store(false, Ordering::Release);
    }
}
