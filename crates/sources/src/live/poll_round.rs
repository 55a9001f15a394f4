//! A polling round: a request for the newest prices of some stocks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;

use crate::provider::{Capability, DataRequest};
use crate::routing::{FetchedData, PollingConfig, ProviderRouter, RoutingError, estimate_capacity};

/// A future that may be running. Waiting for an idle one never ends.
#[derive(Default)]
pub(super) struct InFlight<T>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T> InFlight<T> {
    pub(super) const fn idle() -> Self {
        Self(None)
    }

    pub(super) fn start(&mut self, work: impl Future<Output = T> + Send + 'static) {
        self.0 = Some(Box::pin(work));
    }

    pub(super) const fn is_running(&self) -> bool {
        self.0.is_some()
    }

    /// Waits until it finishes. This is cancel safe.
    pub(super) async fn finished(&mut self) -> T {
        let Some(work) = &mut self.0 else {
            return std::future::pending().await;
        };
        let done = work.await;
        self.0 = None;
        done
    }
}

/// The result of a polling round.
#[derive(Debug)]
pub(super) struct PollRound {
    /// The requested stocks.
    pub(super) symbols: Vec<Symbol>,
    /// When the round began.
    pub(super) began: Timestamp,
    /// The answer.
    pub(super) outcome: Result<FetchedData, RoutingError>,
}

/// Requests the newest prices.
pub(super) async fn poll(router: Arc<ProviderRouter>, symbols: Vec<Symbol>, began: Timestamp) -> PollRound {
    let outcome = router.fetch(&DataRequest::Quotes(symbols.clone())).await;
    PollRound {
        symbols,
        began,
        outcome,
    }
}

/// Returns the time between two rounds: as configured, or as the primary's plan allows.
pub(super) fn polling_interval(router: &ProviderRouter, symbols: usize, polling: PollingConfig) -> SignedDuration {
    let primary = router.providers(Capability::Quotes).next();
    let line = primary.and_then(|provider| {
        estimate_capacity(provider.tier(), symbols, polling)
            .capability(Capability::Quotes)
            .map(|line| line.round)
    });
    signed(line.unwrap_or(polling.every))
}

/// Returns the delay of the newest data of the primary of `capability`.
pub(super) fn plan_delay(router: &ProviderRouter, capability: Capability) -> SignedDuration {
    let primary = router.providers(capability).next();
    let offer = primary.and_then(|provider| provider.tier().offer(capability));
    signed(offer.map(|offer| offer.delay).unwrap_or_default())
}

/// Returns by how much the primary's clock is ahead of ours.
pub(super) fn clock_skew(router: &ProviderRouter, capability: Capability) -> SignedDuration {
    let primary = router.providers(capability).next();
    primary.and_then(|provider| provider.clock_skew()).unwrap_or_default()
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
