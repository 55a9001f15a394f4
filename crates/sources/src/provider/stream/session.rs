//! A single stream connection, from login to disconnect.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt};
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::conflation::canonical_symbol;
use super::connector::Socket;
use super::price_stream::{Shared, StreamState, WantedSymbols};
use super::worker::gap_between;
use super::{StreamError, StreamMessageOutcome, StreamProtocol, Tick};
use crate::provider::http::AdapterSetup;

/// Maximum number of messages that are read before other events are handled.
const MAX_MESSAGES_PER_BATCH: usize = 256;

/// The reason for the end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// The consumer dropped the [`PriceStream`](super::PriceStream).
    ConsumerGone,
    /// The provider reported an error.
    Error(StreamError),
    /// The connection failed, timed out or was closed.
    ConnectionLost,
}

/// A connection to a provider's stream.
pub(super) struct StreamSession<'a> {
    socket: Socket,
    protocol: &'a mut dyn StreamProtocol,
    setup: &'a AdapterSetup,
    idle_timeout: Duration,
    shared: &'a Shared,
    /// The time of the last message before this connection: the start of the gap.
    pub(super) resumes_from: Option<Timestamp>,
    subscribed: BTreeSet<Symbol>,
    is_ready: bool,
    is_pinged: bool,
    last_message_at: Timestamp,
    ticks: Vec<Tick>,
}

impl<'a> StreamSession<'a> {
    pub(super) fn new(
        socket: Socket,
        protocol: &'a mut dyn StreamProtocol,
        setup: &'a AdapterSetup,
        idle_timeout: Duration,
        shared: &'a Shared,
    ) -> Self {
        Self {
            socket,
            protocol,
            setup,
            idle_timeout,
            shared,
            resumes_from: None,
            subscribed: BTreeSet::new(),
            is_ready: false,
            is_pinged: false,
            last_message_at: setup.clock.now(),
            ticks: Vec::new(),
        }
    }

    /// Returns the time of the last message, if the login succeeded.
    pub(super) fn last_live_at(&self) -> Option<Timestamp> {
        self.is_ready.then_some(self.last_message_at)
    }

    /// Runs until the connection ends.
    pub(super) async fn run(&mut self, wanted: &mut WantedSymbols, liveness: &watch::Sender<()>) -> SessionEnd {
        match self.run_until_end(wanted, liveness).await {
            Ok(never) => match never {},
            Err(ended) => ended,
        }
    }

    async fn run_until_end(
        &mut self,
        wanted: &mut WantedSymbols,
        liveness: &watch::Sender<()>,
    ) -> Result<std::convert::Infallible, SessionEnd> {
        let (messages, is_ready) = self.protocol.login_messages();
        self.send_all(messages).await?;
        if is_ready {
            self.on_authenticated(wanted).await?;
        }
        loop {
            let idle_limit = if self.is_pinged {
                self.idle_timeout
            } else {
                self.idle_timeout / 2
            };
            let idle_limit = SignedDuration::try_from(idle_limit).unwrap_or(SignedDuration::MAX);
            let idle_until = self
                .last_message_at
                .saturating_add(idle_limit)
                .unwrap_or(Timestamp::MAX);
            let clock = &self.setup.clock;
            tokio::select! {
                message = self.socket.next() => {
                    let outcome = self.receive_batch(message)?;
                    if outcome.is_authenticated && !self.is_ready {
                        self.on_authenticated(wanted).await?;
                    }
                }
                changed = wanted.changed(), if self.is_ready => {
                    changed.map_err(|_| SessionEnd::ConsumerGone)?;
                    self.subscribe(wanted).await?;
                }
                () = clock.sleep_until(idle_until) => self.on_silence().await?,
                () = liveness.closed() => return Err(SessionEnd::ConsumerGone),
            }
        }
    }

    /// Subscribes all wanted symbols and reports the gap since the last connection.
    async fn on_authenticated(&mut self, wanted: &mut WantedSymbols) -> Result<(), SessionEnd> {
        self.is_ready = true;
        self.shared.lock().buffer.reset_for_new_connection();
        self.subscribe(wanted).await?;
        let now = self.setup.clock.now();
        let mut inner = self.shared.lock();
        inner.report.state = StreamState::Live;
        if let Some(gap) = self.resumes_from.and_then(|from| gap_between(from, now)) {
            inner.add_gap(gap);
        }
        self.shared.changed.notify_one();
        Ok(())
    }

    /// Sends the changes of the wanted symbols to the provider.
    async fn subscribe(&mut self, wanted: &mut WantedSymbols) -> Result<(), SessionEnd> {
        let wanted = wanted.borrow_and_update().clone();
        let names: BTreeSet<Symbol> = wanted.iter().map(|&symbol| canonical_symbol(symbol)).collect();
        let max = self.protocol.max_symbols().unwrap_or(usize::MAX);
        let symbols_over_limit = names.len().saturating_sub(max);
        // Subscribed symbols stay subscribed; further symbols are added in order up to the plan's limit.
        let kept: BTreeSet<Symbol> = self.subscribed.intersection(&names).copied().collect();
        let free = max.saturating_sub(kept.len());
        let mut added: Vec<Symbol> = names.difference(&kept).copied().take(free).collect();
        let removed: Vec<Symbol> = self.subscribed.difference(&names).copied().collect();
        if !removed.is_empty() {
            // The plan may now allow symbols that were refused before.
            let inner = self.shared.lock();
            added.extend(inner.buffer.refused_symbols().filter(|symbol| kept.contains(symbol)));
        }
        {
            let mut inner = self.shared.lock();
            inner.buffer.set_wanted(&wanted);
            inner.report.symbols_over_limit = symbols_over_limit;
        }
        if !added.is_empty() || !removed.is_empty() {
            let messages = self.protocol.subscribe(&added, &removed);
            self.send_all(messages).await?;
        }
        self.subscribed = kept.into_iter().chain(added).collect();
        Ok(())
    }

    async fn send_all(&mut self, messages: Vec<String>) -> Result<(), SessionEnd> {
        for message in messages {
            self.send(Message::text(message)).await?;
        }
        Ok(())
    }

    /// Sends a message. The timeout guards against a peer that does not read.
    async fn send(&mut self, message: Message) -> Result<(), SessionEnd> {
        let sent = tokio::time::timeout(self.setup.timeout, self.socket.send(message)).await;
        sent.map_err(|_| SessionEnd::ConnectionLost)?
            .map_err(|_| SessionEnd::ConnectionLost)
    }

    async fn on_silence(&mut self) -> Result<(), SessionEnd> {
        if self.is_pinged {
            return Err(SessionEnd::ConnectionLost);
        }
        self.is_pinged = true;
        self.send(Message::Ping(bytes::Bytes::new())).await
    }

    /// Reads `first` and the messages that have already arrived behind it.
    fn receive_batch(&mut self, first: Option<Result<Message, Error>>) -> Result<StreamMessageOutcome, SessionEnd> {
        self.last_message_at = self.setup.clock.now();
        self.is_pinged = false;
        let mut all = StreamMessageOutcome::default();
        let (mut messages, mut message, mut is_closed) = (0_u64, first, false);
        for index in 0..MAX_MESSAGES_PER_BATCH {
            let Some(Ok(received)) = message else {
                is_closed = true;
                break;
            };
            if let Message::Text(_) | Message::Binary(_) = &received {
                messages += 1;
                let outcome = self.protocol.parse_message(&received.into_data(), &mut self.ticks);
                all.is_authenticated |= outcome.is_authenticated;
                all.error = all.error.or(outcome.error);
                all.unreadable += outcome.unreadable;
                all.skipped_trades += outcome.skipped_trades;
            }
            if index + 1 == MAX_MESSAGES_PER_BATCH {
                break;
            }
            match self.socket.next().now_or_never() {
                Some(next) => message = next,
                None => break,
            }
        }
        self.apply_batch(messages, &all);
        match all.error.filter(|error| !error.keeps_connection()) {
            Some(error) => Err(SessionEnd::Error(error)),
            None if is_closed => Err(SessionEnd::ConnectionLost),
            None => Ok(all),
        }
    }

    fn apply_batch(&mut self, messages: u64, outcome: &StreamMessageOutcome) {
        let mut inner = self.shared.lock();
        let mut is_changed = false;
        for tick in self.ticks.drain(..) {
            is_changed |= inner.buffer.apply(tick);
        }
        let report = &mut inner.report;
        report.messages += messages;
        report.unreadable += outcome.unreadable;
        report.skipped_trades += outcome.skipped_trades;
        report.last_error = outcome.error.or(report.last_error);
        report.last_message_at = Some(self.last_message_at);
        if outcome.error == Some(StreamError::TooManySymbols) {
            inner.buffer.mark_unconfirmed_as_refused();
        }
        if is_changed {
            self.shared.changed.notify_one();
        }
    }
}
