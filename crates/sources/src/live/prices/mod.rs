//! The task that streams, polls, filters and delivers the prices of the session.

mod delivery;
mod extended_hours;
mod filled_gap;
mod jumps;
mod quote_times;
mod reported_by;
mod rounds;
mod silence;

use std::collections::HashSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use tokio::sync::mpsc;

pub(super) use delivery::FilteredQuotes;
use delivery::HeldQuotes;
use filled_gap::FilledGap;
use jumps::{Confirmation, JumpQueue};
use quote_times::shifted_back;
pub(super) use reported_by::ReportedBy;

use super::gap_log::{GapCause, GapReport, GapState};
use super::gaps::{Gap, GapQueue};
use super::poll_round::{InFlight, PollRound, clock_skew, plan_delay};
use super::price_requests::{PriceRequest, PriceRequests};
use super::price_stream::{LivePriceStream, next_update};
use super::{LiveContext, WatchedStocks};
use crate::freshness::{QuoteFilter, QuoteLimits};
use crate::provider::stream::StreamUpdate;
use crate::provider::{Capability, DataRequest, TimeRange};
use crate::routing::{FetchedData, RoutingError, estimate_capacity};

/// Stocks whose last quotes are less than this apart share a gap.
const SAME_GAP_TOLERANCE: SignedDuration = SignedDuration::from_secs(60);
/// Delivers prices until the receiver is dropped.
pub(super) async fn run(context: LiveContext, requests: mpsc::Receiver<PriceRequest>) {
    let mut prices = PriceTask::new(context, requests);
    prices.start();
    loop {
        let due = prices.next_due();
        let clock = Arc::clone(&prices.context.config.setup.clock);
        let sender = prices.context.sender.clone();
        tokio::select! {
            () = sender.closed() => return,
            update = next_update(&mut prices.stream) => prices.on_stream_update(update).await,
            round = prices.round.finished() => prices.on_poll_round(round).await,
            minutes = prices.minutes.finished() => prices.on_minute_bars(minutes).await,
            event = prices.requests.next() => prices.on_price_requests(event).await,
            confirmation = prices.confirming.finished() => prices.on_confirmation(confirmation).await,
            has_sender = changed(&mut prices.context.watched) => {
                if !has_sender {
                    return;
                }
                prices.update_watched();
            }
            () = clock.sleep_until(due) => {}
        }
        prices.start_due_work().await;
    }
}

async fn changed(watched: &mut WatchedStocks) -> bool {
    watched.changed().await.is_ok()
}

/// A gap, and the answer with its minute bars.
type MinutesOutcome = (Gap, Result<FetchedData, RoutingError>);

pub(super) struct PriceTask {
    pub(super) context: LiveContext,
    pub(super) filter: QuoteFilter,
    stream: Option<LivePriceStream>,
    pub(super) watched: Arc<Vec<Symbol>>,
    /// The stocks of which a price has been requested, in a session or outside one.
    pub(super) requested_stocks: HashSet<Symbol>,
    /// The requests for single prices.
    pub(super) requests: PriceRequests,
    round: InFlight<PollRound>,
    /// When the last answered round began.
    polled_at: Option<Timestamp>,
    /// When the next round is due.
    pub(super) next_round: Timestamp,
    gaps: GapQueue,
    minutes: InFlight<MinutesOutcome>,
    /// The jumps that wait for a confirmation, and the request in flight about some of them.
    jumps: JumpQueue,
    confirming: InFlight<Confirmation>,
    /// The received requests of a gap that has others in the queue.
    filled: Option<FilledGap>,
    /// The time until which new quotes are held for the minute bars in flight.
    hold_until: Option<Timestamp>,
    held: HeldQuotes,
    last_now: Timestamp,
    /// The time of the prices of the last round within the session.
    last_session_round: Option<Timestamp>,
    /// The close of the session that has not been processed yet.
    session_close: Option<Timestamp>,
}

impl PriceTask {
    fn new(context: LiveContext, requests: mpsc::Receiver<PriceRequest>) -> Self {
        let limits = QuoteLimits {
            delay: plan_delay(&context.config.router, Capability::Quotes).max(context.config.limits.delay),
            confirm_within: if Self::can_confirm(&context.config) {
                context.config.limits.confirm_within
            } else {
                // Without another source, only the stock's next trade confirms a jump, at any time.
                SignedDuration::MAX
            },
            ..context.config.limits
        };
        let next_round = context.now();
        Self {
            filter: QuoteFilter::new(limits),
            stream: None,
            watched: Arc::default(),
            requested_stocks: HashSet::new(),
            requests: PriceRequests::new(requests),
            round: InFlight::idle(),
            polled_at: None,
            next_round,
            last_now: next_round,
            gaps: GapQueue::default(),
            minutes: InFlight::idle(),
            jumps: JumpQueue::default(),
            confirming: InFlight::idle(),
            filled: None,
            hold_until: None,
            held: HeldQuotes::default(),
            last_session_round: None,
            session_close: None,
            context,
        }
    }

    fn start(&mut self) {
        self.stream = LivePriceStream::start(&self.context.config);
        self.update_watched();
        self.log_capacity();
        let now = self.context.now();
        let last_quote = |symbol: &Symbol| {
            self.context
                .market_state
                .last_quote(*symbol)
                .map(|quote| (*symbol, quote.at))
        };
        let mut last_quotes: Vec<(Symbol, Timestamp)> = self.watched.iter().filter_map(last_quote).collect();
        last_quotes.sort_by_key(|(_, at)| *at);
        // A stock with an old last quote must not lengthen the gap of the others.
        for group in last_quotes.chunk_by(|(_, a), (_, b)| b.duration_since(*a) < SAME_GAP_TOLERANCE) {
            let Some(&(_, from)) = group.first() else { continue };
            let symbols: Vec<Symbol> = group.iter().map(|(symbol, _)| *symbol).collect();
            self.open_gap(&symbols, TimeRange { from, to: now }, GapCause::NotRunning, false);
        }
        self.polled_at = Some(now);
    }

    /// Logs the capacity of the plans that provide prices.
    fn log_capacity(&self) {
        let config = &self.context.config;
        for provider in config.router.providers(Capability::Quotes) {
            let plan = estimate_capacity(provider.tier(), self.watched.len(), config.polling);
            tracing::info!("estimated capacity of the plan:\n{plan}");
        }
    }

    /// Applies a change of the watched stocks.
    fn update_watched(&mut self) {
        self.watched = Arc::clone(&self.context.watched.borrow_and_update());
        let watched: HashSet<Symbol> = self.watched.iter().copied().collect();
        self.filter.retain(|symbol| watched.contains(&symbol));
        self.requested_stocks.retain(|symbol| watched.contains(symbol));
        self.set_references(true);
        if let Some(stream) = &self.stream {
            stream.subscribe(&self.watched);
        }
        let watched = Arc::clone(&self.watched);
        let mut is_new =
            |symbol: &Symbol| !self.requested_stocks.contains(symbol) && !self.requests.is_requested(*symbol);
        if watched.iter().any(&mut is_new) {
            // The price of a new stock is fetched now, not in the next round.
            self.next_round = self.context.now();
        }
    }

    /// Sets the filter's reference prices: of new stocks, or of all, because stocks may have been split.
    fn set_references(&mut self, only_new_stocks: bool) {
        for &symbol in &*self.watched {
            if only_new_stocks && self.requested_stocks.contains(&symbol) {
                continue;
            }
            if let Some(price) = self.context.market_state.reference_price(symbol) {
                self.filter.set_reference(symbol, price);
            }
        }
    }

    /// After a step back of the clock, resumes polling at once.
    fn handle_clock_step(&mut self, now: Timestamp) {
        if now < self.last_now {
            self.next_round = now;
            self.polled_at = self.polled_at.map(|at| at.min(now));
            self.last_session_round = self.last_session_round.map(|at| at.min(now));
            self.session_close = None;
            self.hold_until = self.hold_until.map(|_| now);
            self.gaps.on_clock_set_back(now);
            let delay = self.delay(Capability::MinuteBars);
            self.jumps.on_clock_set_back(now, delay);
            if let Some(stream) = &mut self.stream {
                stream.on_clock_set_back(now);
            }
        }
        self.last_now = now;
    }

    /// Starts everything that is due.
    async fn start_due_work(&mut self) {
        let now = self.context.now();
        self.handle_clock_step(now);
        self.handle_session_close(now);
        self.detect_silent_stream(now);
        if !self.round.is_running() && now >= self.next_round {
            self.start_round(now);
        }
        self.send_waiting_requests(now);
        if !self.minutes.is_running()
            && let Some(gap) = self.gaps.take_due(now)
        {
            self.hold_until = gap.hold_until;
            let router = Arc::clone(&self.context.config.router);
            self.minutes.start(async move {
                let request = DataRequest::MinuteBars(gap.symbols.clone(), gap.times);
                let answer = router.fetch(&request).await;
                (gap, answer)
            });
        }
        self.confirm_jumps(now);
        if !self.is_holding(now) {
            self.deliver_held_gap(now).await;
            self.release(now).await;
        }
        let (quotes, open) = (*self.filter.counts(), self.gaps.len());
        let stream = self.stream.as_ref().map(LivePriceStream::report);
        self.context.health.change(|state| {
            state.quotes = quotes;
            state.stream = stream;
            state.gaps_open = open;
        });
    }

    /// Returns the time at which work is due without an event.
    fn next_due(&self) -> Timestamp {
        let now = self.context.now();
        let round = (!self.round.is_running()).then_some(self.next_round);
        let gap = self.gaps.next_due().filter(|_| !self.minutes.is_running());
        let hold = (!self.held.quotes.is_empty() || !self.held.missed.is_empty())
            .then(|| self.held_until())
            .flatten();
        let close = self.session_close.map(|end| self.close_processing_time(end));
        let calendar = &self.context.config.calendar;
        let open = calendar.next_open(now);
        let jump = self.jumps.next_due().filter(|_| !self.confirming.is_running());
        let dues = [round, gap, hold, close, open, jump, self.silence_due(now)];
        dues.into_iter().flatten().min().unwrap_or(Timestamp::MAX)
    }

    fn delay(&self, capability: Capability) -> SignedDuration {
        plan_delay(&self.context.config.router, capability)
    }

    async fn on_stream_update(&mut self, update: Option<StreamUpdate>) {
        let Some(update) = update else {
            self.stream = None;
            self.next_round = self.context.now();
            return;
        };
        let now = self.context.now();
        if let Some(gap) = update.gap {
            let symbols: Vec<Symbol> = self.streamed();
            let delay = self.delay(Capability::Stream);
            // The stocks were polled while the stream was down.
            let is_behind = self.polled_at.is_some_and(|polled| polled > gap.from);
            self.open_gap(&symbols, shifted_back(gap, delay), GapCause::StreamLost, is_behind);
        }
        let reported_by = ReportedBy::Stream(self.stream.as_ref().map(LivePriceStream::provider));
        let skew = clock_skew(&self.context.config.router, Capability::Stream);
        let filtered = self.filter_quotes(update.quotes, reported_by, skew, now).await;
        // Prices with impossible times may mean that a clock is wrong. Then the stream delivers nothing that passes the
        // filter.
        if let Some(stream) = self.stream.as_mut().filter(|_| filtered.has_plausible_time) {
            stream.record_price(now);
        }
    }

    fn streamed(&self) -> Vec<Symbol> {
        let wanted = self
            .stream
            .as_ref()
            .map(LivePriceStream::subscribed)
            .unwrap_or_default();
        wanted.iter().copied().collect()
    }

    /// Opens a gap. `is_behind` says whether some of its quotes, or later ones, may have been delivered.
    fn open_gap(&mut self, symbols: &[Symbol], missed: TimeRange, cause: GapCause, is_behind: bool) {
        let (config, health) = (&self.context.config, &self.context.health);
        if !config.router.offers(Capability::MinuteBars) {
            let (from, to) = (missed.from, missed.to);
            tracing::warn!(%from, %to, "prices were missed, and no provider of minute_bars is configured to fill the gap");
            let report = GapReport {
                symbols: symbols.to_vec(),
                times: missed,
                cause,
                state: GapState::NoProvider,
            };
            health.record_gaps(|log| log.keep(report));
            return;
        }
        let (now, delay) = (self.context.now(), self.delay(Capability::MinuteBars));
        let opened = self.gaps.open(symbols, missed, is_behind, now, delay, &config.calendar);
        health.record_gaps(|log| opened.for_each(|gap| log.opened(gap, cause)));
    }

    async fn on_minute_bars(&mut self, (gap, answer): MinutesOutcome) {
        let now = self.context.now();
        self.hold_until = None;
        match answer {
            Ok(fetched) => {
                self.context.health.change(|state| state.gaps_filled += 1);
                let filled = GapState::Filled(now);
                self.context.health.record_gaps(|log| log.ended(gap.id, filled));
                self.add_filled(&gap, &fetched.answer, now).await;
                self.deliver_whole_gap(gap.times, now).await;
            }
            Err(why) => {
                let times = gap.times;
                let (id, kept) = (gap.id, self.gaps.retry_later(gap, now));
                let is_kept = kept.is_some();
                self.context.health.record_gaps(|log| match kept {
                    Some(gap) => log.failed(gap),
                    None => log.ended(id, GapState::GivenUp(now)),
                });
                self.deliver_whole_gap(times, now).await;
                self.context.health.change(|state| {
                    state.failed_requests += 1;
                    state.gaps_given_up += u64::from(!is_kept);
                });
                tracing::warn!(%why, is_kept, "the minute bars of a gap could not be fetched");
            }
        }
    }

    /// Whether new quotes are held.
    pub(super) fn is_holding(&self, now: Timestamp) -> bool {
        self.held_until().is_some_and(|until| now < until)
    }

    /// Returns the time until which new quotes are held.
    fn held_until(&self) -> Option<Timestamp> {
        self.hold_until.max(self.gaps.hold_until())
    }
}
