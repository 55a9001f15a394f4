//! The consumer's end of a stream.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use market::Symbol;
use market::records::QuoteRow;
use tokio::sync::{Notify, watch};

use super::StreamError;
use super::conflation::ConflationBuffer;
use crate::provider::TimeRange;

/// A watch channel with the symbols to subscribe.
pub type WantedSymbols = watch::Receiver<Arc<BTreeSet<Symbol>>>;

/// New data from a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamUpdate {
    /// New prices: for each symbol the lowest, the highest and the newest since the last update.
    pub quotes: Vec<QuoteRow>,
    /// A time range without data, reported after a reconnect.
    pub gap: Option<TimeRange>,
}

/// The state of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamState {
    /// Connecting or logging in.
    #[default]
    Connecting,
    /// Connected and subscribed.
    Live,
    /// Connected, but no price has arrived since this instant although the market trades.
    Silent(Timestamp),
    /// Disconnected; the next connection starts at this instant.
    Waiting(Timestamp),
    /// Ended.
    Ended,
}

/// The state and the statistics of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StreamReport {
    /// The current state.
    pub state: StreamState,
    /// The number of connections made.
    pub connections: u64,
    /// The number of connections lost.
    pub disconnections: u64,
    /// The last error that the provider reported.
    pub last_error: Option<StreamError>,
    /// The time of the last message.
    pub last_message_at: Option<Timestamp>,
    /// The number of messages received.
    pub messages: u64,
    /// The number of trades dropped by conflation: neither lowest, highest nor newest before the consumer read them.
    pub conflated: u64,
    /// The number of unreadable messages and elements.
    pub unreadable: u64,
    /// The number of trades that are not eligible to update the last price.
    pub skipped_trades: u64,
    /// The number of wanted symbols beyond the plan's limit.
    pub symbols_over_limit: usize,
    /// The number of wanted symbols that the provider may have refused ([`PriceStream::refused`]).
    pub refused: usize,
}

/// The state that the task and the consumer share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<Inner>,
    pub(super) changed: Notify,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) buffer: ConflationBuffer,
    pub(super) gap: Option<TimeRange>,
    pub(super) report: StreamReport,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Extends the unread gap to include `gap`.
    pub(super) fn add_gap(&mut self, gap: TimeRange) {
        let known = self.gap.unwrap_or(gap);
        self.gap = Some(TimeRange {
            from: known.from.min(gap.from),
            to: known.to.max(gap.to),
        });
    }
}

/// The consumer's end of a stream. Dropping it ends the stream.
#[derive(Debug)]
pub struct PriceStream {
    pub(super) shared: Arc<Shared>,
    /// Dropping this receiver tells the task that the consumer is gone. The channel closes when the task ends.
    pub(super) liveness: watch::Receiver<()>,
}

impl PriceStream {
    /// Waits for new data and takes all of it; `None` when the stream has ended and everything is taken.
    pub async fn next(&mut self) -> Option<StreamUpdate> {
        loop {
            if let Some(update) = self.take() {
                return Some(update);
            }
            tokio::select! {
                () = self.shared.changed.notified() => {}
                _ = self.liveness.changed() => return self.take(),
            }
        }
    }

    /// Waits until the stream is live, disconnected or ended.
    pub async fn wait_while_connecting(&mut self) -> StreamState {
        loop {
            match self.report().state {
                StreamState::Connecting => {}
                state => return state,
            }
            tokio::select! {
                () = self.shared.changed.notified() => {}
                _ = self.liveness.changed() => return self.report().state,
            }
        }
    }

    /// Takes the new data, if there is any.
    pub fn take(&mut self) -> Option<StreamUpdate> {
        let mut inner = self.shared.lock();
        let update = StreamUpdate {
            quotes: inner.buffer.take(),
            gap: inner.gap.take(),
        };
        (!update.quotes.is_empty() || update.gap.is_some()).then_some(update)
    }

    /// Returns the wanted symbols that the provider may have refused: it reported too many symbols, and these have had no trade.
    #[must_use]
    pub fn refused(&self) -> BTreeSet<Symbol> {
        self.shared.lock().buffer.refused_names().collect()
    }

    /// Returns the state and the statistics.
    #[must_use]
    pub fn report(&self) -> StreamReport {
        let inner = self.shared.lock();
        StreamReport {
            conflated: inner.buffer.conflated,
            refused: inner.buffer.refused_names().count(),
            ..inner.report.clone()
        }
    }
}
