//! The stream of prices of the live source.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use market::Symbol;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::LiveSourceConfig;
use crate::provider::stream::{self, PriceStream, StreamReport, StreamState, StreamUpdate};
use crate::provider::{Capability, RequestScope};

/// A running stream.
#[derive(Debug)]
pub(super) struct LivePriceStream {
    prices: PriceStream,
    wanted: watch::Sender<Arc<BTreeSet<Symbol>>>,
    /// The maximum number of stocks of the plan.
    max_symbols: usize,
    provider: &'static str,
    /// When the stream delivered its last price, or when its first one was expected.
    last_price_at: Timestamp,
    /// Since when the stream has delivered no price although its stocks are traded.
    silent_since: Option<Timestamp>,
    task: JoinHandle<()>,
}

impl Drop for LivePriceStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LivePriceStream {
    /// Starts the stream of the first provider that has one. Returns `None` if there is none, or if it cannot be started.
    pub(super) fn start(config: &LiveSourceConfig) -> Option<Self> {
        let mut streams = config.router.providers(Capability::Stream);
        let (provider, protocol) = streams.find_map(|provider| Some((provider, provider.stream()?)))?;
        let max_symbols = match provider.tier().offer(Capability::Stream)?.scope {
            RequestScope::Subscription(Some(max_symbols)) => usize::try_from(max_symbols).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        let name = provider.name();
        let (wanted, receiver) = watch::channel(Arc::default());
        match stream::start(protocol, &config.setup, config.stream.clone(), receiver) {
            Ok((prices, task)) => {
                let task = async move {
                    if let Err(error) = task.await {
                        tracing::error!(provider = name, %error, "the stream has ended; prices are polled instead");
                    }
                };
                Some(Self {
                    prices,
                    wanted,
                    max_symbols,
                    provider: name,
                    last_price_at: config.setup.clock.now(),
                    silent_since: None,
                    task: tokio::spawn(task),
                })
            }
            Err(error) => {
                tracing::error!(provider = name, %error, "the stream cannot be started; prices are polled instead");
                None
            }
        }
    }

    /// Subscribes the first of the watched stocks, up to the limit of the plan. The most watched stocks are first.
    pub(super) fn subscribe(&self, watched: &[Symbol]) {
        let wanted: BTreeSet<Symbol> = watched.iter().copied().take(self.max_symbols).collect();
        self.wanted.send_if_modified(|now| {
            let is_new = **now != wanted;
            if is_new {
                *now = Arc::new(wanted);
            }
            is_new
        });
    }

    /// Returns the subscribed stocks.
    pub(super) fn subscribed(&self) -> Arc<BTreeSet<Symbol>> {
        Arc::clone(&self.wanted.borrow())
    }

    /// Returns the stocks whose prices the stream delivers while it is live: subscribed and not refused.
    pub(super) fn served(&self) -> BTreeSet<Symbol> {
        let refused = self.prices.refused();
        self.wanted.borrow().difference(&refused).copied().collect()
    }

    pub(super) const fn provider(&self) -> &'static str {
        self.provider
    }

    /// Whether prices are being received.
    pub(super) fn is_live(&self) -> bool {
        self.report().state == StreamState::Live
    }

    /// Whether the connection is established and subscribed.
    pub(super) fn is_connected(&self) -> bool {
        self.prices.report().state == StreamState::Live
    }

    /// Returns when the stream delivered its last price, or when its first one was expected.
    pub(super) const fn last_price_at(&self) -> Timestamp {
        self.last_price_at
    }

    /// Records that the stream has delivered a price.
    pub(super) fn record_price(&mut self, now: Timestamp) {
        self.last_price_at = now;
        self.silent_since = None;
    }

    /// Limits all times after the clock was set back to `now`.
    pub(super) fn on_clock_set_back(&mut self, now: Timestamp) {
        self.last_price_at = self.last_price_at.min(now);
        self.silent_since = self.silent_since.map(|since| since.min(now));
    }

    /// Measures the time without a price from `now` on.
    pub(super) fn restart_silence_timer(&mut self, now: Timestamp) {
        self.last_price_at = now;
    }

    /// Marks the stream as silent. It is not live until it delivers a price.
    pub(super) fn mark_silent(&mut self, since: Timestamp) {
        self.silent_since = Some(since);
    }

    pub(super) fn report(&self) -> StreamReport {
        let report = self.prices.report();
        match (report.state, self.silent_since) {
            (StreamState::Live, Some(since)) => StreamReport {
                state: StreamState::Silent(since),
                ..report
            },
            _ => report,
        }
    }

    /// Waits for the next update; `None` if the stream has ended.
    pub(super) async fn next(&mut self) -> Option<StreamUpdate> {
        self.prices.next().await
    }
}

/// Waits for the next update of a stream. Without a stream the wait never ends.
pub(super) async fn next_update(stream: &mut Option<LivePriceStream>) -> Option<StreamUpdate> {
    match stream {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}
