//! The health of the live source.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::gap_log::{GapLog, GapReport};
use crate::freshness::QuoteCounts;
use crate::provider::stream::StreamReport;
use crate::routing::{ProviderReport, ProviderRouter};

/// The health of the live source, shared with its observers.
#[derive(Debug, Clone, Default)]
pub struct LiveSourceHealth(Arc<Mutex<SharedHealth>>);

#[derive(Debug, Default)]
struct SharedHealth {
    snapshot: LiveSourceSnapshot,
    gaps: GapLog,
    router: Option<Arc<ProviderRouter>>,
}

/// A snapshot of [`LiveSourceHealth`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveSourceSnapshot {
    /// The counts of the quote filter's decisions.
    pub quotes: QuoteCounts,
    /// The state of the stream, if there is one.
    pub stream: Option<StreamReport>,
    /// When the last answered polling round began.
    pub polled_at: Option<Timestamp>,
    /// The number of requests that no provider answered.
    pub failed_requests: u64,
    /// The number of gaps that were filled.
    pub gaps_filled: u64,
    /// The number of gaps that were abandoned because they were too old.
    pub gaps_given_up: u64,
    /// The number of open gaps.
    pub gaps_open: usize,
}

impl LiveSourceHealth {
    /// Returns the present state.
    #[must_use]
    pub fn snapshot(&self) -> LiveSourceSnapshot {
        self.lock().snapshot.clone()
    }

    /// Returns the open gaps, then the latest ended ones; the newest of each first.
    #[must_use]
    pub fn gaps(&self) -> Vec<GapReport> {
        self.lock().gaps.reports()
    }

    /// Reports about the providers of this router from now on.
    pub fn observe(&self, router: Arc<ProviderRouter>) {
        self.lock().router = Some(router);
    }

    /// Returns what each provider has answered; empty before the source runs.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderReport> {
        let router = self.lock().router.clone();
        router.map_or_else(Vec::new, |router| router.reports())
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut LiveSourceSnapshot)) {
        change(&mut self.lock().snapshot);
    }

    pub(super) fn record_gaps(&self, record: impl FnOnce(&mut GapLog)) {
        record(&mut self.lock().gaps);
    }

    fn lock(&self) -> MutexGuard<'_, SharedHealth> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
