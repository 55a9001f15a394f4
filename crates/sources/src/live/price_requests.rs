//! Requests for the newest price of single stocks, answered at once.
//!
//! Polling rounds serve the watched stocks. The activation of an alert, or the first read of a stock, does not wait for the
//! next round: all price requests that have been received together become one request to the providers. The prices pass the
//! same filter as all others and are delivered in the same way; the reply only says whether a price was delivered.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::records::{Batch, QuoteRow, StockRow};
use tokio::sync::{mpsc, oneshot};

use super::poll_round::{InFlight, PollRound, clock_skew, poll};
use super::prices::{FilteredQuotes, PriceTask, ReportedBy};
use crate::MarketUpdate;
use crate::provider::Capability;

/// The delay before a price that is too far from the last one is requested again: another trade confirms it.
const CONFIRMATION_DELAY: SignedDuration = SignedDuration::from_secs(1);
/// The maximum time until a polling round after a request failed. It is the first backoff of a provider.
const POLL_AFTER_FAILURE: SignedDuration = SignedDuration::from_secs(30);
/// The maximum number of stocks in a request to the providers.
const MAX_STOCKS_PER_REQUEST: usize = 100;

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
        /// Whether that price has been delivered with this reply. Otherwise it was delivered before or did not pass the
        /// filter.
        is_delivered: bool,
    },
    /// All providers of quotes answered that they do not know the stock.
    Unknown,
    /// No provider answered.
    NoAnswer,
}

/// The requests that have not been answered.
pub(super) struct PriceRequests {
    incoming: mpsc::Receiver<PriceRequest>,
    waiting: Vec<PriceRequest>,
    in_flight: InFlight<PriceRequestBatch>,
    /// The stocks of the request in flight.
    stocks_in_flight: HashSet<Symbol>,
}

/// An answered request to the providers.
pub(super) struct PriceRequestBatch {
    requests: Vec<PriceRequest>,
    round: PollRound,
    is_retry: bool,
}

/// An event of the price requests.
pub(super) enum RequestEvent {
    /// Requests were received.
    Received,
    /// The providers answered.
    Answered(Box<PriceRequestBatch>),
}

impl PriceRequests {
    pub(super) fn new(incoming: mpsc::Receiver<PriceRequest>) -> Self {
        Self {
            incoming,
            waiting: Vec::new(),
            in_flight: InFlight::idle(),
            stocks_in_flight: HashSet::new(),
        }
    }

    /// Whether a price of a stock has been requested; then no polling round is needed for it.
    pub(super) fn is_requested(&mut self, symbol: Symbol) -> bool {
        self.receive();
        let waits = self.waiting.iter().any(|request| request.symbol == symbol);
        waits || self.stocks_in_flight.contains(&symbol)
    }

    fn receive(&mut self) {
        while let Ok(request) = self.incoming.try_recv() {
            self.waiting.push(request);
        }
    }

    /// Waits for the next event. This is cancel safe.
    pub(super) async fn next(&mut self) -> RequestEvent {
        tokio::select! {
            batch = self.in_flight.finished() => RequestEvent::Answered(Box::new(batch)),
            Some(request) = self.incoming.recv() => {
                self.waiting.push(request);
                self.receive();
                RequestEvent::Received
            }
        }
    }
}

impl PriceTask {
    /// Sends the waiting requests, unless a request is in flight.
    pub(super) fn send_waiting_requests(&mut self, now: Timestamp) {
        if self.requests.in_flight.is_running() {
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
        let count = self.requests.waiting.len().min(MAX_STOCKS_PER_REQUEST);
        let requests: Vec<PriceRequest> = self.requests.waiting.drain(..count).collect();
        self.send_request(requests, false, now);
    }

    fn send_request(&mut self, requests: Vec<PriceRequest>, is_retry: bool, now: Timestamp) {
        let mut symbols: Vec<Symbol> = requests.iter().map(|request| request.symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        self.requests.stocks_in_flight = symbols.iter().copied().collect();
        let router = Arc::clone(&self.context.config.router);
        let clock = Arc::clone(&self.context.config.setup.clock);
        self.requests.in_flight.start(async move {
            if is_retry {
                let then = now.saturating_add(CONFIRMATION_DELAY).unwrap_or(now);
                clock.sleep_until(then).await;
            }
            let round = poll(router, symbols, now).await;
            PriceRequestBatch {
                requests,
                round,
                is_retry,
            }
        });
    }

    pub(super) async fn on_price_requests(&mut self, event: RequestEvent) {
        match event {
            RequestEvent::Received => {}
            RequestEvent::Answered(batch) => self.answer_requests(*batch).await,
        }
    }

    async fn answer_requests(&mut self, batch: PriceRequestBatch) {
        let PriceRequestBatch {
            requests,
            round,
            is_retry,
        } = batch;
        let now = self.context.now();
        self.requests.stocks_in_flight.clear();
        let fetched = match round.outcome {
            Ok(fetched) => fetched,
            Err(why) => {
                self.context.health.change(|state| state.failed_requests += 1);
                tracing::warn!(%why, "requested prices could not be fetched");
                let symbols: Vec<Symbol> = requests.iter().map(|request| request.symbol).collect();
                self.poll_unanswered(&symbols, poll_after_failure(now));
                return reply_to_all(requests, |_| PriceReply::NoAnswer);
            }
        };
        // A provider that failed may know a stock that the others do not know.
        let is_certain = fetched.failed_attempts.is_empty();
        let unknown: HashSet<Symbol> = fetched.answer.unknown.iter().copied().collect();
        let quotes = fetched.answer.batch.quotes;
        let newest: HashMap<Symbol, Timestamp> = quotes
            .iter()
            .map(|quote| (quote.symbol, quote.time.unwrap_or(now)))
            .collect();
        self.list_stocks(newest.keys().copied(), now).await;
        let reported_by = ReportedBy::Answer(&fetched.quoted_by);
        let filtered = self.filter_requested_quotes(quotes, reported_by, now).await;
        self.requested_stocks.extend(newest.keys());
        if !is_certain {
            self.poll_unanswered(&fetched.answer.unknown, poll_after_failure(now));
        }
        let reply = |symbol: &Symbol| match newest.get(symbol) {
            None if unknown.contains(symbol) && is_certain => PriceReply::Unknown,
            None if unknown.contains(symbol) => PriceReply::NoAnswer,
            newest => PriceReply::Known {
                newest: newest.copied(),
                is_delivered: filtered.delivered.contains(symbol),
            },
        };
        let (unconfirmed, done) = requests
            .into_iter()
            .partition(|request: &PriceRequest| !is_retry && filtered.unconfirmed.contains(&request.symbol));
        reply_to_all(done, reply);
        if !unconfirmed.is_empty() {
            self.send_request(unconfirmed, true, now);
        }
    }

    /// Schedules a polling round no later than `at` if one of these stocks is watched and has no price. No round was
    /// started for it because of its price request.
    fn poll_unanswered(&mut self, symbols: &[Symbol], at: Timestamp) {
        let is_wanted = |symbol: &Symbol| self.watched.contains(symbol) && !self.requested_stocks.contains(symbol);
        if symbols.iter().any(is_wanted) {
            self.next_round = self.next_round.min(at);
        }
    }

    /// Delivers unlisted stocks with their symbols as names, so that their prices are accepted.
    async fn list_stocks(&mut self, symbols: impl Iterator<Item = Symbol>, now: Timestamp) {
        let unlisted = symbols.filter(|symbol| !self.context.market_state.is_listed(*symbol));
        let stocks: Vec<StockRow> = unlisted
            .map(|symbol| StockRow::named(symbol, symbol.as_str()))
            .collect();
        if !stocks.is_empty() {
            let batch = Batch {
                stocks,
                ..Batch::default()
            };
            self.context.deliver(MarketUpdate::new(now, batch)).await;
        }
    }

    async fn filter_requested_quotes(
        &mut self,
        quotes: Vec<QuoteRow>,
        reported_by: ReportedBy<'_>,
        now: Timestamp,
    ) -> FilteredQuotes {
        for quote in &quotes {
            if !self.requested_stocks.contains(&quote.symbol)
                && let Some(price) = self.context.market_state.reference_price(quote.symbol)
            {
                self.filter.set_reference(quote.symbol, price);
            }
        }
        let skew = clock_skew(&self.context.config.router, Capability::Quotes);
        self.filter_quotes(quotes, reported_by, skew, now).await
    }
}

fn poll_after_failure(now: Timestamp) -> Timestamp {
    now.saturating_add(POLL_AFTER_FAILURE).unwrap_or(now)
}

fn reply_to_all(requests: Vec<PriceRequest>, reply: impl Fn(&Symbol) -> PriceReply) {
    for request in requests {
        let reply = reply(&request.symbol);
        // The receiver may be dropped.
        let _ = request.reply.send(reply);
    }
}
