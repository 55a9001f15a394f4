//! One connection, from the greeting to the end.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt};
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::board::canonical;
use super::dial::Socket;
use super::prices::{Shared, State, Wanted};
use super::run::gap;
use super::{Heard, Protocol, StreamFault, Tick};
use crate::provider::http::Setup;

/// So many messages are taken in before anything else is looked after.
const MOST_AT_ONCE: usize = 256;

/// Why a connection is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nobody listens any more.
    NobodyListens,
    /// The provider complained.
    Fault(StreamFault),
    /// It broke, was silent, or was closed.
    Lost,
}

/// A connection.
pub(super) struct Session<'a> {
    socket: Socket,
    protocol: &'a mut dyn Protocol,
    setup: &'a Setup,
    silence: Duration,
    shared: &'a Shared,
    /// Since when nothing was heard before this connection.
    pub(super) resumes_from: Option<Timestamp>,
    subscribed: BTreeSet<Symbol>,
    is_ready: bool,
    is_pinged: bool,
    heard_at: Timestamp,
    ticks: Vec<Tick>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        socket: Socket,
        protocol: &'a mut dyn Protocol,
        setup: &'a Setup,
        silence: Duration,
        shared: &'a Shared,
    ) -> Self {
        Self {
            socket,
            protocol,
            setup,
            silence,
            shared,
            resumes_from: None,
            subscribed: BTreeSet::new(),
            is_ready: false,
            is_pinged: false,
            heard_at: setup.clock.now(),
            ticks: Vec::new(),
        }
    }

    /// When something was heard last, if the provider ever knew who asks.
    pub(super) fn live_at(&self) -> Option<Timestamp> {
        self.is_ready.then_some(self.heard_at)
    }

    /// Stays until the end.
    pub(super) async fn run(&mut self, wanted: &mut Wanted, line: &watch::Sender<()>) -> Ended {
        match self.stay(wanted, line).await {
            Ok(never) => match never {},
            Err(ended) => ended,
        }
    }

    async fn stay(&mut self, wanted: &mut Wanted, line: &watch::Sender<()>) -> Result<std::convert::Infallible, Ended> {
        let (greeting, is_ready) = self.protocol.greet();
        self.say(greeting).await?;
        if is_ready {
            self.begin(wanted).await?;
        }
        loop {
            let patience = if self.is_pinged { self.silence } else { self.silence / 2 };
            let patience = SignedDuration::try_from(patience).unwrap_or(SignedDuration::MAX);
            let deadline = self.heard_at.saturating_add(patience).unwrap_or(Timestamp::MAX);
            let clock = &self.setup.clock;
            tokio::select! {
                message = self.socket.next() => {
                    let heard = self.take_in(message)?;
                    if heard.ready && !self.is_ready {
                        self.begin(wanted).await?;
                    }
                }
                changed = wanted.changed(), if self.is_ready => {
                    changed.map_err(|_| Ended::NobodyListens)?;
                    self.subscribe(wanted).await?;
                }
                () = clock.sleep_until(deadline) => self.after_silence().await?,
                () = line.closed() => return Err(Ended::NobodyListens),
            }
        }
    }

    /// The provider knows who asks: subscribes everything, and tells of the gap that ends here.
    async fn begin(&mut self, wanted: &mut Wanted) -> Result<(), Ended> {
        self.is_ready = true;
        self.shared.lock().board.begin_connection();
        self.subscribe(wanted).await?;
        let now = self.setup.clock.now();
        let mut inner = self.shared.lock();
        inner.report.state = State::Live;
        if let Some(gap) = self.resumes_from.and_then(|from| gap(from, now)) {
            inner.add_gap(gap);
        }
        self.shared.bell.notify_one();
        Ok(())
    }

    /// Tells the provider what changed in what is wanted.
    async fn subscribe(&mut self, wanted: &mut Wanted) -> Result<(), Ended> {
        let wanted = wanted.borrow_and_update().clone();
        let names: BTreeSet<Symbol> = wanted.iter().map(|&symbol| canonical(symbol)).collect();
        let most = self.protocol.most_symbols().unwrap_or(usize::MAX);
        let left_out = names.len().saturating_sub(most);
        // Who is subscribed stays; the others come in their order until the plan is full.
        let staying: BTreeSet<Symbol> = self.subscribed.intersection(&names).copied().collect();
        let room = most.saturating_sub(staying.len());
        let mut added: Vec<Symbol> = names.difference(&staying).copied().take(room).collect();
        let removed: Vec<Symbol> = self.subscribed.difference(&names).copied().collect();
        if !removed.is_empty() {
            // There may be room now for those that were refused.
            let inner = self.shared.lock();
            added.extend(inner.board.refused().filter(|symbol| staying.contains(symbol)));
        }
        {
            let mut inner = self.shared.lock();
            inner.board.want(&wanted);
            inner.report.left_out = left_out;
        }
        if !added.is_empty() || !removed.is_empty() {
            let messages = self.protocol.subscribe(&added, &removed);
            self.say(messages).await?;
        }
        self.subscribed = staying.into_iter().chain(added).collect();
        Ok(())
    }

    async fn say(&mut self, messages: Vec<String>) -> Result<(), Ended> {
        for message in messages {
            self.send(Message::text(message)).await?;
        }
        Ok(())
    }

    /// A peer that does not read must not keep us for ever.
    async fn send(&mut self, message: Message) -> Result<(), Ended> {
        let sent = tokio::time::timeout(self.setup.deadline, self.socket.send(message)).await;
        sent.map_err(|_| Ended::Lost)?.map_err(|_| Ended::Lost)
    }

    async fn after_silence(&mut self) -> Result<(), Ended> {
        if self.is_pinged {
            return Err(Ended::Lost);
        }
        self.is_pinged = true;
        self.send(Message::Ping(bytes::Bytes::new())).await
    }

    /// Takes in a message and those that are there behind it already.
    fn take_in(&mut self, first: Option<Result<Message, Error>>) -> Result<Heard, Ended> {
        self.heard_at = self.setup.clock.now();
        self.is_pinged = false;
        let mut all = Heard::default();
        let (mut messages, mut message, mut is_over) = (0_u64, first, false);
        for place in 0..MOST_AT_ONCE {
            let Some(Ok(spoken)) = message else {
                is_over = true;
                break;
            };
            if let Message::Text(_) | Message::Binary(_) = &spoken {
                messages += 1;
                let heard = self.protocol.hear(&spoken.into_data(), &mut self.ticks);
                all.ready |= heard.ready;
                all.fault = all.fault.or(heard.fault);
                all.unreadable += heard.unreadable;
                all.passed_over += heard.passed_over;
            }
            if place + 1 == MOST_AT_ONCE {
                break;
            }
            match self.socket.next().now_or_never() {
                Some(next) => message = next,
                None => break,
            }
        }
        self.put_on_board(messages, &all);
        match all.fault.filter(|fault| !fault.is_bearable()) {
            Some(fault) => Err(Ended::Fault(fault)),
            None if is_over => Err(Ended::Lost),
            None => Ok(all),
        }
    }

    fn put_on_board(&mut self, messages: u64, heard: &Heard) {
        let mut inner = self.shared.lock();
        let mut is_news = false;
        for tick in self.ticks.drain(..) {
            is_news |= inner.board.put(tick);
        }
        let report = &mut inner.report;
        report.messages += messages;
        report.unreadable += heard.unreadable;
        report.passed_over += heard.passed_over;
        report.last_fault = heard.fault.or(report.last_fault);
        report.heard_at = Some(self.heard_at);
        if heard.fault == Some(StreamFault::TooManySymbols) {
            inner.board.refuse_unconfirmed();
        }
        if is_news {
            self.shared.bell.notify_one();
        }
    }
}
