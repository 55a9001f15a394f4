//! Requests for the newest price of single stocks, answered at once.
//!
//! The rounds of polling serve the stocks that are watched. The activation of an alert, or the first read of a stock, does not
//! wait for the next round: all price requests that have come in together are one request to the providers. The prices pass the
//! same checks as all others and are delivered like them; the reply only says whether a price was delivered.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::records::{Batch, QuoteRow, StockRow};
use tokio::sync::{mpsc, oneshot};

use super::prices::{Prices, QuotesTaken, ReportedBy};
use super::round::{Round, UnderWay, poll, skew};
use crate::provider::Capability;

/// A price that is too far from the last one is asked for again after this time: another trade confirms it.
const CONFIRM_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// After a request that was not answered, a round of polling begins within this time: a provider that failed is left alone
/// that long.
const POLL_AFTER_NO_ANSWER: SignedDuration = SignedDuration::from_secs(30);
/// The most stocks in one request to the providers.
const MAX_STOCKS_PER_QUESTION: usize = 100;

/// A request for the newest price of a stock.
#[derive(Debug)]
pub struct PriceRequest {
    /// The stock.
    pub symbol: Symbol,
    /// The reply. Nothing is sent if the source ends.
    pub reply: oneshot::Sender<PriceReply>,
}

/// The reply to a [`PriceRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceReply {
    /// A provider knows the stock.
    Known {
        /// When the newest price was made, if there is one.
        newest: Option<Timestamp>,
        /// Whether that price has been delivered with this reply. Otherwise it was delivered before or did not pass the checks.
        is_delivered: bool,
    },
    /// Every provider that is set for prices answered that it does not know the stock.
    Unknown,
    /// No provider answered.
    NoAnswer,
}

/// The requests that have not been answered.
pub(super) struct PriceRequests {
    incoming: mpsc::Receiver<PriceRequest>,
    waiting: Vec<PriceRequest>,
    asked: UnderWay<Asked>,
    /// The stocks of the request that is under way.
    asked_about: HashSet<Symbol>,
}

/// An answered request to the providers.
pub(super) struct Asked {
    requests: Vec<PriceRequest>,
    round: Round,
    is_second: bool,
}

/// An event of the price requests.
pub(super) enum RequestEvent {
    /// Requests came in.
    Received,
    /// The providers answered.
    Answered(Box<Asked>),
}

impl PriceRequests {
    pub(super) fn new(incoming: mpsc::Receiver<PriceRequest>) -> Self {
        Self {
            incoming,
            waiting: Vec::new(),
            asked: UnderWay::nothing(),
            asked_about: HashSet::new(),
        }
    }

    /// Whether a price of a stock is requested: then no round of polling has to begin for it.
    pub(super) fn is_requested(&mut self, symbol: Symbol) -> bool {
        self.receive();
        let waits = self.waiting.iter().any(|request| request.symbol == symbol);
        waits || self.asked_about.contains(&symbol)
    }

    fn receive(&mut self) {
        while let Ok(request) = self.incoming.try_recv() {
            self.waiting.push(request);
        }
    }

    /// Waits until there is something to do. Nothing is lost if this is dropped before.
    pub(super) async fn next(&mut self) -> RequestEvent {
        tokio::select! {
            asked = self.asked.end() => RequestEvent::Answered(Box::new(asked)),
            Some(request) = self.incoming.recv() => {
                self.waiting.push(request);
                self.receive();
                RequestEvent::Received
            }
        }
    }
}

impl Prices {
    /// Asks for the prices that are requested, unless a request is under way.
    pub(super) fn ask_for_requested(&mut self, now: Timestamp) {
        if self.requests.asked.is_something() {
            return;
        }
        // A closed request needs no answer.
        let closed = self
            .requests
            .waiting
            .extract_if(.., |request| request.reply.is_closed());
        let closed: Vec<Symbol> = closed.map(|request| request.symbol).collect();
        self.poll_unanswered(&closed, now);
        if self.requests.waiting.is_empty() {
            return;
        }
        let most = self.requests.waiting.len().min(MAX_STOCKS_PER_QUESTION);
        let requests: Vec<PriceRequest> = self.requests.waiting.drain(..most).collect();
        self.ask_about(requests, false, now);
    }

    fn ask_about(&mut self, requests: Vec<PriceRequest>, is_second: bool, now: Timestamp) {
        let mut symbols: Vec<Symbol> = requests.iter().map(|request| request.symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        self.requests.asked_about = symbols.iter().copied().collect();
        let combination = Arc::clone(&self.desk.options.combination);
        let clock = Arc::clone(&self.desk.options.setup.clock);
        self.requests.asked.begin(async move {
            if is_second {
                let then = now.saturating_add(CONFIRM_AFTER).unwrap_or(now);
                clock.sleep_until(then).await;
            }
            let round = poll(combination, symbols, now).await;
            Asked {
                requests,
                round,
                is_second,
            }
        });
    }

    pub(super) async fn on_price_requests(&mut self, event: RequestEvent) {
        match event {
            RequestEvent::Received => {}
            RequestEvent::Answered(asked) => self.answer_requests(*asked).await,
        }
    }

    async fn answer_requests(&mut self, asked: Asked) {
        let Asked {
            requests,
            round,
            is_second,
        } = asked;
        let now = self.desk.now();
        self.requests.asked_about.clear();
        let fetched = match round.outcome {
            Ok(fetched) => fetched,
            Err(why) => {
                self.desk.health.change(|state| state.unanswered += 1);
                tracing::warn!(%why, "requested prices could not be fetched");
                let symbols: Vec<Symbol> = requests.iter().map(|request| request.symbol).collect();
                self.poll_unanswered(&symbols, after_no_answer(now));
                return reply_to_all(requests, |_| PriceReply::NoAnswer);
            }
        };
        // A provider that failed may know a stock that the others do not.
        let is_certain = fetched.tried.is_empty();
        let unknown: HashSet<Symbol> = fetched.answer.unknown.iter().copied().collect();
        let quotes = fetched.answer.batch.quotes;
        let newest: HashMap<Symbol, Timestamp> = quotes
            .iter()
            .map(|quote| (quote.symbol, quote.time.unwrap_or(now)))
            .collect();
        self.list_stocks(newest.keys().copied(), now).await;
        let reported_by = ReportedBy::Answer(&fetched.quoted_by);
        let taken = self.take_requested(quotes, reported_by, now).await;
        self.known.extend(newest.keys());
        if !is_certain {
            self.poll_unanswered(&fetched.answer.unknown, after_no_answer(now));
        }
        let reply = |symbol: &Symbol| match newest.get(symbol) {
            None if unknown.contains(symbol) && is_certain => PriceReply::Unknown,
            None if unknown.contains(symbol) => PriceReply::NoAnswer,
            newest => PriceReply::Known {
                newest: newest.copied(),
                is_delivered: taken.delivered.contains(symbol),
            },
        };
        let (unconfirmed, done) = requests
            .into_iter()
            .partition(|request: &PriceRequest| !is_second && taken.unconfirmed.contains(&request.symbol));
        reply_to_all(done, reply);
        if !unconfirmed.is_empty() {
            self.ask_about(unconfirmed, true, now);
        }
    }

    /// Begins a round of polling at `at` at the latest if one of these stocks is watched and has no price: no round began for it
    /// because a request was about to bring one.
    fn poll_unanswered(&mut self, symbols: &[Symbol], at: Timestamp) {
        let is_wanted = |symbol: &Symbol| self.watched.contains(symbol) && !self.known.contains(symbol);
        if symbols.iter().any(is_wanted) {
            self.next_round = self.next_round.min(at);
        }
    }

    /// Delivers the stocks that are not listed yet under their symbols, so that their prices are taken.
    async fn list_stocks(&mut self, symbols: impl Iterator<Item = Symbol>, now: Timestamp) {
        let unlisted = symbols.filter(|symbol| !self.desk.memory.is_listed(*symbol));
        let stocks: Vec<StockRow> = unlisted
            .map(|symbol| StockRow::named(symbol, symbol.as_str()))
            .collect();
        if !stocks.is_empty() {
            let batch = Batch {
                stocks,
                ..Batch::default()
            };
            self.desk.deliver(super::delivery(batch, now)).await;
        }
    }

    async fn take_requested(
        &mut self,
        quotes: Vec<QuoteRow>,
        reported_by: ReportedBy<'_>,
        now: Timestamp,
    ) -> QuotesTaken {
        for quote in &quotes {
            if !self.known.contains(&quote.symbol)
                && let Some(price) = self.desk.memory.reference_price(quote.symbol)
            {
                self.gate.set_reference(quote.symbol, price);
            }
        }
        let skew = skew(&self.desk.options.combination, Capability::Quotes);
        self.take_quotes(quotes, reported_by, skew, now).await
    }
}

fn after_no_answer(now: Timestamp) -> Timestamp {
    now.saturating_add(POLL_AFTER_NO_ANSWER).unwrap_or(now)
}

fn reply_to_all(requests: Vec<PriceRequest>, reply: impl Fn(&Symbol) -> PriceReply) {
    for request in requests {
        let reply = reply(&request.symbol);
        // The receiver may be gone.
        let _ = request.reply.send(reply);
    }
}
