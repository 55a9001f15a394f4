//! The stream of prices, if there is one.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use market::Symbol;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::Options;
use crate::provider::stream::{self, News, Prices, Report, State};
use crate::provider::{Capability, Reach};

/// A stream at work.
#[derive(Debug)]
pub(super) struct Streaming {
    prices: Prices,
    wanted: watch::Sender<Arc<BTreeSet<Symbol>>>,
    /// So many stocks the plan has.
    most: usize,
    provider: &'static str,
    /// When it brought a price last, or was expected to bring the first one.
    last_price_at: Timestamp,
    /// Since when it brings nothing although its stocks are traded.
    silent_since: Option<Timestamp>,
    task: JoinHandle<()>,
}

impl Drop for Streaming {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Streaming {
    /// Begins to listen to the first provider that is set for it; `None` if there is none, or it cannot be listened to.
    pub(super) fn begin(options: &Options) -> Option<Self> {
        let mut streams = options.combination.providers(Capability::Stream);
        let (provider, protocol) = streams.find_map(|provider| Some((provider, provider.stream()?)))?;
        let most = match provider.tier().offer(Capability::Stream)?.reach {
            Reach::Subscription(Some(most)) => usize::try_from(most).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        let name = provider.name();
        let (wanted, receiver) = watch::channel(Arc::default());
        match stream::start(protocol, &options.setup, options.stream.clone(), receiver) {
            Ok((prices, task)) => {
                let task = async move {
                    if let Err(error) = task.await {
                        tracing::error!(provider = name, %error, "the stream has ended; prices are polled instead");
                    }
                };
                Some(Self {
                    prices,
                    wanted,
                    most,
                    provider: name,
                    last_price_at: options.setup.clock.now(),
                    silent_since: None,
                    task: tokio::spawn(task),
                })
            }
            Err(error) => {
                tracing::error!(provider = name, %error, "the stream cannot be listened to; prices are polled instead");
                None
            }
        }
    }

    /// Says which stocks are watched, the most watched first: the first of them are subscribed.
    pub(super) fn want(&self, watched: &[Symbol]) {
        let wanted: BTreeSet<Symbol> = watched.iter().copied().take(self.most).collect();
        self.wanted.send_if_modified(|now| {
            let is_new = **now != wanted;
            if is_new {
                *now = Arc::new(wanted);
            }
            is_new
        });
    }

    /// The stocks that are subscribed.
    pub(super) fn wanted(&self) -> Arc<BTreeSet<Symbol>> {
        Arc::clone(&self.wanted.borrow())
    }

    /// The stocks whose prices it brings while it is live: those that are subscribed and not refused.
    pub(super) fn delivered(&self) -> BTreeSet<Symbol> {
        let refused = self.prices.refused();
        self.wanted.borrow().difference(&refused).copied().collect()
    }

    pub(super) const fn provider(&self) -> &'static str {
        self.provider
    }

    /// Whether prices come in now.
    pub(super) fn is_live(&self) -> bool {
        self.report().state == State::Live
    }

    /// Whether there is a connection on which prices could come in.
    pub(super) fn is_connected(&self) -> bool {
        self.prices.report().state == State::Live
    }

    /// When it brought a price last, or was expected to bring the first one.
    pub(super) const fn last_price_at(&self) -> Timestamp {
        self.last_price_at
    }

    /// Notes that it has brought a price.
    pub(super) fn note_price(&mut self, now: Timestamp) {
        self.last_price_at = now;
        self.silent_since = None;
    }

    /// Limits its times after the clock was set back to `now`.
    pub(super) fn follow_clock_back(&mut self, now: Timestamp) {
        self.last_price_at = self.last_price_at.min(now);
        self.silent_since = self.silent_since.map(|since| since.min(now));
    }

    /// Counts the time without a price from `now` on.
    pub(super) fn expect_from(&mut self, now: Timestamp) {
        self.last_price_at = now;
    }

    /// Marks it as silent: it is not live until it brings a price.
    pub(super) fn fall_silent(&mut self, since: Timestamp) {
        self.silent_since = Some(since);
    }

    pub(super) fn report(&self) -> Report {
        let report = self.prices.report();
        match (report.state, self.silent_since) {
            (State::Live, Some(since)) => Report {
                state: State::Silent(since),
                ..report
            },
            _ => report,
        }
    }

    /// Waits for news; `None` when none will come any more.
    pub(super) async fn next(&mut self) -> Option<News> {
        self.prices.next().await
    }
}

/// Waits for the news of a stream; for ever if there is none.
pub(super) async fn news(streaming: &mut Option<Streaming>) -> Option<News> {
    match streaming {
        Some(streaming) => streaming.next().await,
        None => std::future::pending().await,
    }
}
