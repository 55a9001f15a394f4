//! # The evaluator: owns the engine and commits its decisions
//!
//! The engine decides in memory; the database is the record. Three rules keep them consistent:
//!
//! 1. **Evaluations and commits have one order.** An evaluation holds the backlog lock ([`Evaluator::evaluate`])
//!    until its decisions are on disk. A decision that could not be committed stays in the backlog and is committed
//!    before the next evaluation. A database outage therefore costs time and nothing else.
//! 2. **A firing counts once it is committed**, by compare-and-set on the alert's status and revision. A firing
//!    that comes too late, because the alert was changed, deleted or fired by another process, is dropped. The
//!    engine then gets the alert's present state.
//! 3. **The engine receives changes after their commit and in the order of the commits**
//!    ([`Evaluator::apply_change`]). An older revision never replaces a newer one ([`revision_guard`]). A periodic
//!    comparison of all revisions finds any change that was missed ([`compare`]).
//!
//! The firings of an observation are on disk before the observation itself. After a crash between the two, the
//! observation is evaluated again.
//!
//! * [`commit`]: evaluation and commit; [`inputs`]: its inputs; [`backlog`]: the evaluations that are not on disk yet.
//! * [`lateness`]: late firings and their reasons; [`late_decisions`]: the order in which they are committed.
//! * [`load`]: loads the engine at the start.
//! * [`future`]: state that is dated after the present, and a clock that was set back.
//! * [`missed`]: evaluates missed observations in a second engine.
//! * [`tick`]: the periodic evaluation.
//! * [`revision_guard`]: applies alert changes to the engine in order.
//! * [`follow`]: follows the changes that other processes make; [`compare`]: finds differences between the engine and the database.
//! * [`splits`]: applies stock splits.
//! * [`steady_clock`]: delays splits after the clock has jumped forward.
//! * [`split_notices`]: emails to the owners of alerts that a split has adjusted.
//! * [`facts`]: converts records to engine events.
//! * [`notice_writer`]: queues emails about alerts.
//! * [`expiry`]: ends alerts that have expired.
//! * [`event`]: the payload of an `alert.triggered` event.
//! * [`observed_bars`]: daily bars of sessions for which no source has delivered one.
//! * [`quote_times`]: the times of the last quotes.
//! * [`snapshot`]: the engine's view of a stock at one instant.
//! * [`sharded`], [`owned_shards`], [`takeover`]: evaluation on one of several nodes.
//!
//! Functions that return [`store::StoreError`] fail if the database fails.

mod backlog;
mod commit;
mod compare;
mod event;
mod expiry;
mod extended_prices;
pub(crate) mod facts;
mod follow;
mod future;
mod inputs;
mod known_splits;
mod late_decisions;
mod lateness;
mod load;
pub mod missed;
mod notice_writer;
mod observed_bars;
mod owned_shards;
pub(crate) mod quote_times;
mod revision_guard;
pub(crate) mod sharded;
mod snapshot;
mod split_notices;
mod splits;
mod steady_clock;
mod takeover;
pub(crate) mod tick;
mod watchlist_split;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ::alerts::engine::{Decision, Engine, Evaluation, Event, Explanation};
use ::alerts::{Alert, AlertId};
use ::market::calendar::{new_york, new_york_date};
use ::market::records::{FundamentalsRow, SplitRow};
use ::market::{ObservedPrice, Price, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use store::Store;

use crate::EvaluationConfig;
use crate::catalog::Catalog;
use clock::Clock;
use foundation::vault::Vault;
use foundation::{Ports, Random};
use revision_guard::{ReadGuard, RevisionGuard};
use sharded::ShardedEvaluation;

pub(crate) use inputs::EvaluationInputs;
pub(crate) use load::INSIDER_HISTORY_DAYS;
pub use snapshot::Snapshot;

/// Owns the engine. See the [module documentation](self).
pub struct Evaluator {
    engine: Mutex<Engine>,
    revision_guard: RevisionGuard,
    /// Decisions that the engine made while a change was applied. The next evaluation commits them.
    pending_decisions: Mutex<Vec<Decision>>,
    backlog: tokio::sync::Mutex<backlog::Backlog>,
    splits: Mutex<known_splits::KnownSplits>,
    steady_clock: steady_clock::SteadyClock,
    filings: Mutex<facts::InsiderFilings>,
    future: Mutex<future::FutureState>,
    /// The last prices that were observed while the market was closed.
    off_session_prices: RwLock<HashMap<Symbol, ObservedPrice>>,
    quote_times: quote_times::QuoteTimes,
    /// The latest instant that the engine has processed, in microseconds. It goes back only when the engine is
    /// reloaded.
    engine_time: AtomicI64,
    /// The position in the database's change feed up to which other processes' changes have been followed.
    change_cursor: AtomicI64,
    /// Whether the last commit failed.
    is_behind: AtomicBool,
    /// Held while missed observations are evaluated: one evaluation at a time.
    missed_evaluation: tokio::sync::Mutex<()>,
    /// Incremented by each applied split and each reload of the engine. A result of an older generation is discarded.
    engine_generation: AtomicU64,
    /// The last session whose observed bars are stored. Locked from the read of the observations until their bars are
    /// stored.
    stored_through: tokio::sync::Mutex<Option<Date>>,
    /// `None` if this process evaluates all alerts.
    sharded: Option<Arc<ShardedEvaluation>>,
    store: Store,
    clock: Arc<dyn Clock>,
    random: Arc<Random>,
    vault: Arc<Vault>,
    catalog: Arc<Catalog>,
    settings: EvaluationConfig,
}

impl Evaluator {
    pub(crate) fn new(
        ports: &Ports,
        settings: &EvaluationConfig,
        catalog: Arc<Catalog>,
        sharded: Option<Arc<ShardedEvaluation>>,
    ) -> Self {
        Self {
            engine: Mutex::new(Engine::new(settings.calendar.clone(), settings.engine.clone())),
            revision_guard: RevisionGuard::default(),
            pending_decisions: Mutex::default(),
            backlog: tokio::sync::Mutex::default(),
            splits: Mutex::default(),
            steady_clock: steady_clock::SteadyClock::default(),
            filings: Mutex::default(),
            future: Mutex::default(),
            off_session_prices: RwLock::default(),
            quote_times: quote_times::QuoteTimes::default(),
            engine_time: AtomicI64::new(i64::MIN),
            change_cursor: AtomicI64::new(0),
            is_behind: AtomicBool::new(false),
            missed_evaluation: tokio::sync::Mutex::default(),
            engine_generation: AtomicU64::new(0),
            stored_through: tokio::sync::Mutex::default(),
            sharded,
            store: ports.store.clone(),
            clock: Arc::clone(&ports.clock),
            random: Arc::clone(&ports.random),
            vault: Arc::clone(&ports.vault),
            catalog,
            settings: settings.clone(),
        }
    }

    /// Reads from the engine. Evaluation waits meanwhile, so `read` must be short.
    pub fn read<T>(&self, read: impl FnOnce(&Engine) -> T) -> T {
        read(&self.engine())
    }

    /// Returns a stock's last price with its time: observed in or out of a session, or the close of a later bar. It may
    /// be an old price and is for display only.
    #[must_use]
    pub fn last_observed(&self, symbol: Symbol) -> Option<ObservedPrice> {
        self.read(|engine| self.last_observed_in(engine, symbol))
    }

    /// Records that a quote made at `made_at` is evaluated at `evaluated_at`.
    pub(crate) fn note_quote_time(&self, symbol: Symbol, made_at: Timestamp, evaluated_at: Timestamp) {
        self.quote_times.note(symbol, made_at, evaluated_at);
    }

    /// Returns the time at which the last quote of a stock was made, if it is known.
    pub(crate) fn last_quote_time(&self, symbol: Symbol) -> Option<Timestamp> {
        let evaluated_at = self.read(|engine| engine.observed_session(symbol).map(|session| session.last_at))?;
        self.quote_times.known(symbol, evaluated_at)
    }

    /// Returns the close of a session.
    pub(crate) fn close_of(&self, date: Date) -> Timestamp {
        let session = self.settings.calendar.session(date);
        session.map_or_else(|| new_york(date, 16, 0), |session| session.close)
    }

    /// Returns the close of the session before the one that a stock's last price belongs to.
    #[must_use]
    pub fn previous_close(&self, symbol: Symbol) -> Option<Price> {
        self.read(|engine| {
            let history = engine.history(symbol)?;
            let Some(so_far) = engine.observed_session(symbol) else {
                return Some(history.bars().nth_back(1)?.close);
            };
            let mut earlier = history.bars().rev().filter(|bar| bar.date < so_far.date);
            Some(earlier.next()?.close)
        })
    }

    /// Returns the close of the last session before `date`.
    fn close_before(&self, symbol: Symbol, date: Date) -> Option<Price> {
        self.read(|engine| {
            let mut earlier = engine.history(symbol)?.bars().rev().filter(|bar| bar.date < date);
            Some(earlier.next()?.close)
        })
    }

    /// Returns the last price of a stock that was observed while the market was closed.
    fn off_session_price(&self, symbol: Symbol) -> Option<ObservedPrice> {
        self.off_session_prices
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&symbol)
            .copied()
    }

    /// Records a price that was observed while the market was closed.
    pub(crate) fn note_off_session_price(&self, symbol: Symbol, seen: ObservedPrice) {
        let mut prices = self.off_session_prices.write().unwrap_or_else(PoisonError::into_inner);
        let kept = prices.entry(symbol).or_insert(seen);
        if kept.at <= seen.at {
            *kept = seen;
        }
    }

    /// Converts a price that was observed before a split's day to the new shares.
    fn adjust_off_session_price(&self, split: &SplitRow) {
        let mut prices = self.off_session_prices.write().unwrap_or_else(PoisonError::into_inner);
        let seen = prices
            .get_mut(&split.symbol)
            .filter(|seen| new_york_date(seen.at) < split.date);
        if let Some(seen) = seen {
            seen.price = seen.price.after_split(split.ratio);
        }
    }

    /// Whether `row` is at least as recent as the known fundamentals of the stock.
    pub(crate) fn is_latest(&self, row: &FundamentalsRow) -> bool {
        let known = self.catalog.get(row.symbol).and_then(|entry| entry.facts.fundamentals);
        known.is_none_or(|known| known.as_of <= row.as_of)
    }

    /// Whether this process judges the alerts on a stock.
    pub(crate) fn holds(&self, symbol: Symbol) -> bool {
        self.sharded.as_ref().is_none_or(|sharded| sharded.held.holds(symbol))
    }

    /// Whether this process writes the observations of a stock.
    pub(crate) fn owns(&self, symbol: Symbol) -> bool {
        self.sharded.as_ref().is_none_or(|sharded| sharded.held.owns(symbol))
    }

    /// Whether this process evaluates all alerts.
    pub(crate) const fn is_single(&self) -> bool {
        self.sharded.is_none()
    }

    /// Returns the evaluation status of an active alert; `None` while it is being changed.
    #[must_use]
    pub fn evaluation_of(&self, engine: &Engine, alert: &Alert, now: Timestamp) -> Option<Evaluation> {
        let known = engine.evaluation(alert.id, now);
        known.or_else(|| (!self.is_single()).then(|| engine.evaluation_elsewhere(alert, now)))
    }

    /// Explains an active alert; `None` while it is being changed, or if it has no comparison.
    #[must_use]
    pub fn explanation_of(&self, engine: &Engine, alert: &Alert, now: Timestamp) -> Option<Explanation> {
        let known = engine.explain(alert.id, now);
        known.or_else(|| {
            if self.is_single() {
                None
            } else {
                engine.explain_elsewhere(alert, now)
            }
        })
    }

    /// Whether the last commit of decisions failed.
    pub fn is_behind(&self) -> bool {
        self.is_behind.load(Ordering::Acquire)
    }

    /// Applies an alert's committed state to the engine: an active alert is evaluated, any other is not. Call this from
    /// [`store::Store::transaction_then`], so that the engine receives changes in the order of their commits.
    pub fn apply_change(&self, alert: &Alert) {
        if let Some(sharded) = &self.sharded {
            // The nodes that judge it read it from the database, this one too: behind the quotes that were received before.
            sharded.note_own_change(alert.symbol);
            return;
        }
        self.update_engine(|engine, now, decisions| self.revision_guard.apply_change(engine, alert, now, decisions));
    }

    /// Applies an alert's state as it was read, unless the engine has a newer one. Returns whether it was applied.
    fn apply_read(&self, alert: &Alert, reading: &ReadGuard<'_>) -> bool {
        // Under the lock of the engine, so that the shard is not lost in between.
        self.update_engine(|engine, now, decisions| {
            self.holds(alert.symbol) && reading.apply_change(engine, alert, now, decisions)
        })
    }

    fn update_engine<T>(&self, update: impl FnOnce(&mut Engine, Timestamp, &mut Vec<Decision>) -> T) -> T {
        let mut decisions = Vec::new();
        let mut engine = self.engine();
        let result = update(&mut engine, self.engine_now(), &mut decisions);
        drop(engine);
        if !decisions.is_empty() {
            self.pending_decisions().append(&mut decisions);
        }
        result
    }

    /// Removes a deleted alert from the engine. Call this as [`apply_change`](Self::apply_change).
    pub fn remove_alert(&self, id: AlertId) {
        if let Some(sharded) = &self.sharded {
            sharded.note_own_changes_anywhere();
        }
        self.forget_alert(id);
    }

    fn forget_alert(&self, id: AlertId) {
        let now = self.engine_now();
        self.revision_guard.remove_alert(&mut self.engine(), id, now);
    }

    /// Applies an alert's state after a split, whatever revision the engine has.
    fn replace_alert(&self, alert: &Alert) {
        self.update_engine(|engine, now, decisions| {
            // Under the lock of the engine, so that the shard is not lost in between.
            if !self.holds(alert.symbol) {
                return;
            }
            // Fails only if the alert is not armed, which is fine.
            let _ = engine.process(Event::Disarmed(alert.id), now, &mut Vec::new());
            self.revision_guard.apply_change(engine, alert, now, decisions);
        });
    }

    /// Returns the known insider filings.
    pub(crate) fn filings(&self) -> MutexGuard<'_, facts::InsiderFilings> {
        self.filings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        // A panic during an evaluation would leave the engine in an unknown state. Nothing in it panics on data, and the
        // periodic comparison with the database repairs more than a service that stops evaluating for ever.
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending_decisions(&self) -> MutexGuard<'_, Vec<Decision>> {
        self.pending_decisions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the present instant for the engine: never before an instant that it has processed.
    fn engine_now(&self) -> Timestamp {
        self.advance_to(self.clock.now())
    }

    /// Returns `at`, or the latest instant that the engine has processed if that is later.
    pub(crate) fn advance_to(&self, at: Timestamp) -> Timestamp {
        let micros = at.as_microsecond();
        let before = self.engine_time.fetch_max(micros, Ordering::AcqRel);
        Timestamp::from_microsecond(before.max(micros)).unwrap_or(at)
    }
}
