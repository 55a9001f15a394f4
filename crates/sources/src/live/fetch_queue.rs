//! The queue of requests for all data except the prices of the session. Failed requests are retried; the data is delivered.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::calendar::new_york_date;
use market::records::{BarRow, SplitRow};
use tokio::sync::broadcast;

use super::LiveContext;
use super::schedule::{FetchSchedule, FetchScope, FetchTrigger, RefreshKind, requests_for, splits_only};
use crate::MarketUpdate;
use crate::provider::{Capability, DataRequest, DataResponse, DateRange};
use crate::routing::RoutingError;
use crate::unadjust;

/// The delay before the first retry. It doubles with each further failure.
const FIRST_RETRY_DELAY: SignedDuration = SignedDuration::from_mins(1);
/// The maximum number of attempts, because the next night sends the request again. Requests for history are retried without
/// a limit, because no later request replaces them.
const MAX_ATTEMPTS: u32 = 6;

/// A queued request.
#[derive(Debug)]
struct FetchJob {
    request: DataRequest,
    is_history: bool,
    attempts: u32,
    not_before: Timestamp,
}

/// Runs the queue until the receiver is dropped.
pub(super) async fn run(context: LiveContext, mut refreshes: broadcast::Receiver<RefreshKind>) {
    let mut queue = FetchQueue::of(context);
    queue.queue_initial_requests();
    let clock = Arc::clone(&queue.context.config.setup.clock);
    let sender = queue.context.sender.clone();
    loop {
        queue.handle_clock_step();
        let due = queue.next_due();
        tokio::select! {
            () = sender.closed() => return,
            watch_result = queue.context.watched.changed() => {
                if watch_result.is_err() {
                    return;
                }
                queue.request_new_stocks();
            }
            // When the sender is dropped, the last value stays.
            Ok(()) = queue.context.config.splits_only.changed() => queue.request_new_splits(),
            // The sender may be dropped. If receiving lags, the refreshes that are left suffice.
            Ok(kind) = refreshes.recv() => queue.queue_trigger(FetchTrigger::Requested(kind)),
            () = clock.sleep_until(due) => {
                queue.queue_due_triggers();
                tokio::select! {
                    () = sender.closed() => return,
                    () = queue.run_next() => {}
                }
            }
        }
    }
}

struct FetchQueue {
    context: LiveContext,
    /// The stocks whose history has been requested.
    known_stocks: HashSet<Symbol>,
    /// The stocks of which only the splits have been requested.
    stocks_with_splits: HashSet<Symbol>,
    waiting: VecDeque<FetchJob>,
    schedule: FetchSchedule,
    last_now: Timestamp,
}

impl FetchQueue {
    fn of(context: LiveContext) -> Self {
        let last_now = context.now();
        let schedule = FetchSchedule::of(last_now, context.config.nightly_at);
        Self {
            context,
            last_now,
            known_stocks: HashSet::new(),
            stocks_with_splits: HashSet::new(),
            waiting: VecDeque::new(),
            schedule,
        }
    }

    /// Queues requests for the data since the last run: the catalog, and the history of all watched stocks since their last
    /// bar.
    fn queue_initial_requests(&mut self) {
        if self.context.config.router.offers(Capability::Catalog) {
            self.enqueue(vec![DataRequest::Catalog], true);
        }
        let benchmark = self.context.config.benchmark;
        self.request_on(FetchTrigger::NewStocks, &[benchmark]);
        self.known_stocks.insert(benchmark);
        self.request_new_stocks();
        self.request_new_splits();
    }

    /// Requests the past splits of stocks that are new among those of which only splits are needed.
    fn request_new_splits(&mut self) {
        let wanted = Arc::clone(&self.context.config.splits_only.borrow_and_update());
        self.stocks_with_splits.retain(|symbol| wanted.contains(symbol));
        let new = wanted.iter().copied();
        let new: Vec<Symbol> = new.filter(|symbol| self.stocks_with_splits.insert(*symbol)).collect();
        let new: Vec<Symbol> = new
            .into_iter()
            .filter(|symbol| !self.known_stocks.contains(symbol))
            .collect();
        self.request_splits(FetchTrigger::NewStocks, &new);
    }

    fn request_splits(&mut self, trigger: FetchTrigger, symbols: &[Symbol]) {
        if self.context.config.router.offers(Capability::Splits) {
            self.enqueue(
                splits_only(trigger, symbols, self.context.now()),
                trigger == FetchTrigger::NewStocks,
            );
        }
    }

    /// After a step back of the clock, releases the requests that were postponed by the clock that was ahead.
    fn handle_clock_step(&mut self) {
        let now = self.context.now();
        if now < self.last_now {
            for job in &mut self.waiting {
                job.not_before = job.not_before.min(now);
            }
        }
        self.last_now = now;
    }

    fn request_new_stocks(&mut self) {
        let watched = Arc::clone(&self.context.watched.borrow_and_update());
        let new_stocks: Vec<Symbol> = watched
            .iter()
            .copied()
            .filter(|symbol| self.known_stocks.insert(*symbol))
            .collect();
        let watched: HashSet<Symbol> = watched.iter().copied().collect();
        let benchmark = self.context.config.benchmark;
        self.known_stocks
            .retain(|symbol| watched.contains(symbol) || *symbol == benchmark);
        self.request_on(FetchTrigger::NewStocks, &new_stocks);
    }

    fn queue_due_triggers(&mut self) {
        for trigger in self.schedule.take_due(self.context.now()) {
            self.queue_trigger(trigger);
        }
    }

    fn queue_trigger(&mut self, trigger: FetchTrigger) {
        let watched = Arc::clone(&self.context.watched.borrow());
        self.request_on(trigger, &watched);
        let others = Arc::clone(&self.context.config.splits_only.borrow());
        let others = others.iter().copied().filter(|symbol| !watched.contains(symbol));
        self.request_splits(trigger, &others.collect::<Vec<_>>());
    }

    fn request_on(&mut self, trigger: FetchTrigger, symbols: &[Symbol]) {
        let config = &self.context.config;
        let market_state = Arc::clone(&self.context.market_state);
        let last_bar = move |symbol| market_state.last_bar(symbol);
        let scope = FetchScope {
            symbols,
            last_bar: &last_bar,
            benchmark: config.benchmark,
        };
        let requests = requests_for(trigger, &config.router, &scope, &config.calendar, self.context.now());
        self.enqueue(requests, trigger == FetchTrigger::NewStocks);
    }

    /// Appends requests to the queue, except those that are queued already.
    fn enqueue(&mut self, requests: Vec<DataRequest>, is_history: bool) {
        let now = self.context.now();
        for request in requests {
            if self.waiting.iter().all(|waiting| waiting.request != request) {
                self.waiting.push_back(FetchJob {
                    request,
                    is_history,
                    attempts: 0,
                    not_before: now,
                });
            }
        }
    }

    fn next_due(&self) -> Timestamp {
        let job = self.waiting.iter().map(|job| job.not_before).min();
        job.unwrap_or(Timestamp::MAX).min(self.schedule.next())
    }

    /// Sends the first request that is due.
    async fn run_next(&mut self) {
        let now = self.context.now();
        let Some(index) = self.waiting.iter().position(|job| job.not_before <= now) else {
            return;
        };
        let Some(job) = self.waiting.remove(index) else {
            return;
        };
        match self.fetch(&job.request).await {
            Ok(answer) => self.deliver(answer, job.is_history).await,
            Err(why) => self.retry_later(job, &why),
        }
    }

    /// Fetches data; bars are returned as traded.
    async fn fetch(&self, request: &DataRequest) -> Result<DataResponse, RoutingError> {
        let fetched = self.context.config.router.fetch(request).await?;
        let mut answer = fetched.answer;
        if answer.invalid_rows.count > 0 {
            let first = answer.invalid_rows.first.first().map(ToString::to_string);
            tracing::warn!(providers = ?fetched.providers, left_out = answer.invalid_rows.count, first, "rows could not be read");
        }
        if !fetched.adjusted_for_splits.is_empty() {
            let splits = self
                .splits_since(&answer.batch.bars, fetched.adjusted_for_splits)
                .await?;
            unadjust::undo_splits(&mut answer.batch.bars, &splits);
        }
        Ok(answer)
    }

    /// Queues a failed request again, with a growing delay.
    fn retry_later(&mut self, mut job: FetchJob, why: &RoutingError) {
        self.context.health.change(|state| state.failed_requests += 1);
        job.attempts += 1;
        let is_kept = job.is_history || job.attempts < MAX_ATTEMPTS;
        tracing::warn!(%why, is_kept, "a data request failed");
        if is_kept {
            let doublings = 1_i32 << (job.attempts.min(MAX_ATTEMPTS) - 1);
            let pause = FIRST_RETRY_DELAY.saturating_mul(doublings);
            job.not_before = self.context.now().saturating_add(pause).unwrap_or(Timestamp::MAX);
            self.waiting.push_back(job);
        }
    }

    /// Fetches the splits of stocks since the first of the bars.
    async fn splits_since(&self, bars: &[BarRow], symbols: BTreeSet<Symbol>) -> Result<Vec<SplitRow>, RoutingError> {
        let today = new_york_date(self.context.now());
        let from = bars.iter().map(|row| row.bar.date).min().unwrap_or(today);
        let request = DataRequest::Splits(symbols.into_iter().collect(), DateRange { from, to: today });
        let fetched = self.context.config.router.fetch(&request).await?;
        Ok(fetched.answer.batch.splits)
    }

    async fn deliver(&self, answer: DataResponse, backfill: bool) {
        let update = MarketUpdate {
            backfill,
            ..MarketUpdate::new(self.context.now(), answer.batch)
        };
        self.context.deliver(update).await;
    }
}
