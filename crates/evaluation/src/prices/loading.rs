//! The first load of a source: the data that it has at the start.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::prices::Prices;

/// Whether the first load is in progress.
#[derive(Debug, Default)]
pub struct FirstLoad(AtomicBool);

impl FirstLoad {
    pub fn is_loading(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Prices {
    /// Records that the first load begins. The service is not ready until [`first_load_ended`](Self::first_load_ended).
    pub fn first_load_begins(&self) {
        self.loading.0.store(true, Ordering::Release);
    }

    /// Records that the first load has been ingested completely.
    pub fn first_load_ended(&self) {
        self.loading.0.store(false, Ordering::Release);
    }
}
