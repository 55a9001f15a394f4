//! Signals that prices have arrived.

use std::sync::Arc;

use tokio::sync::watch;

use super::awaited::AwaitedPrices;
use super::initial_stocks::InitialPrices;

/// Notifies the tasks and requests that wait for prices.
#[derive(Clone)]
pub(crate) struct PriceArrivals {
    /// The number of ingested batches.
    count: watch::Sender<u64>,
    awaiting: Arc<AwaitedPrices>,
    initial_prices: Arc<InitialPrices>,
}

impl PriceArrivals {
    pub(crate) fn new(awaiting: Arc<AwaitedPrices>, initial_prices: Arc<InitialPrices>) -> Self {
        Self {
            count: watch::Sender::new(0),
            awaiting,
            initial_prices,
        }
    }

    /// Notifies of an ingested batch.
    pub(crate) fn notify(&self) {
        self.count.send_modify(|count| *count = count.wrapping_add(1));
        self.awaiting.notify_prices();
        self.initial_prices.notify_prices();
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }
}
