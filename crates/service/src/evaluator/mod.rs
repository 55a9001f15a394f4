//! # The evaluator: judges alerts and sees to it that what was decided is on disk
//!
//! The engine decides in memory, the database remembers. Between the two stands this room, and three rules keep them
//! honest:
//!
//! 1. **Judging and committing have one order.** Whoever makes the engine judge holds the [gate](Evaluator::judge)
//!    until what it decided is on disk. A decision that could not be committed stays in the backlog and is committed
//!    before anything else is judged, so a database that is away for a while costs time and nothing else.
//! 2. **A firing counts once it is committed**, by compare-and-set on the alert's status and revision. One that comes too
//!    late, because the alert was changed, deleted or fired by another process, is dropped, and the engine is told what
//!    the alert is now.
//! 3. **The engine learns of changes after their commit and in the order of the commits** ([`Evaluator::tell`]), and an
//!    older revision never takes the place of a newer one ([`telling`]). Whatever slips through nonetheless is found by comparing
//!    all revisions from time to time ([`compare`]).
//!
//! What an observation fired is on disk before the observation itself is: after a crash in between it is judged
//! again, rather than never.
//!
//! * [`judge`]: the gate, the backlog, the commit.
//! * [`lateness`]: which firings are late, and how their reasons say so.
//! * [`load`]: what the engine has to be told at the start.
//! * [`future`]: state that is dated after the present, and a clock that was set back.
//! * [`missed`]: judging what was missed, on a clock of its own.
//! * [`tick`]: the passing of time.
//! * [`telling`]: what alerts are, told to the engine.
//! * [`compare`]: looks for differences between the engine and the database.
//! * [`splits`]: a stock is divided, and everything that is counted in its shares with it.
//! * [`steady_clock`]: a clock that has jumped forward applies no splits until it has held.
//! * [`split_news`]: whose alerts it has moved is told so.
//! * [`facts`]: records as the engine wants them.
//! * [`event`]: what is delivered about a firing.
//! * [`observed_bars`]: daily bars of sessions of which no source has delivered one.
//! * [`quote_times`]: when the last observations were made, by their own times.
//! * [`snapshot`]: a stock as the engine knows it at one instant.

mod compare;
mod event;
pub(crate) mod facts;
mod future;
mod judge;
mod lateness;
mod load;
pub(crate) mod missed;
mod observed_bars;
pub(crate) mod quote_times;
mod snapshot;
mod split_news;
mod splits;
mod steady_clock;
mod telling;
mod tick;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ::alerts::engine::{Decision, Engine, Event};
use ::alerts::{Alert, AlertId};
use ::market::calendar::{new_york, new_york_date};
use ::market::records::{FundamentalsRow, SplitRow};
use ::market::{ObservedPrice, Price, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use store::Store;

use crate::catalog::Catalog;
use crate::start::{Ports, Settings};
use crate::vault::Vault;
use crate::{Chance, Clock};

pub(crate) use judge::Observed;
pub(crate) use load::INSIDER_DAYS;
pub(crate) use snapshot::Snapshot;
use telling::{Reading, Telling};

/// A price that was seen while the market was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OffSession {
    /// The price.
    pub price: Price,
    /// When it was made.
    pub at: Timestamp,
}

/// Owns the engine. See the [module documentation](self).
pub struct Evaluator {
    engine: Mutex<Engine>,
    telling: Telling,
    /// What the engine decided while it was told of an alert; committed with the next judging.
    decided_aside: Mutex<Vec<Decision>>,
    gate: tokio::sync::Mutex<judge::Backlog>,
    splits: Mutex<splits::Known>,
    steady_clock: steady_clock::SteadyClock,
    filings: Mutex<facts::Filings>,
    future: Mutex<future::FutureState>,
    off_session: RwLock<HashMap<Symbol, OffSession>>,
    quote_times: quote_times::QuoteTimes,
    /// The latest instant that the engine was told, in microseconds. It goes back only when the engine is loaded anew.
    engine_time: AtomicI64,
    /// Up to where other processes' changes were followed.
    place: AtomicI64,
    /// Whether the last commit failed.
    is_behind: AtomicBool,
    /// Held by whoever judges what was missed: one at a time.
    looking_back: tokio::sync::Mutex<()>,
    /// How many splits were applied since the start.
    divided: AtomicU64,
    /// The last session whose observed bars are stored. Held while such bars are stored, from the read of the observations on.
    stored_through: tokio::sync::Mutex<Option<Date>>,
    store: Store,
    clock: Arc<dyn Clock>,
    chance: Arc<Chance>,
    vault: Arc<Vault>,
    catalog: Arc<Catalog>,
    settings: Settings,
}

impl Evaluator {
    pub(crate) fn new(ports: &Ports, settings: &Settings, catalog: Arc<Catalog>) -> Self {
        Self {
            engine: Mutex::new(Engine::new(settings.calendar.clone(), settings.engine.clone())),
            telling: Telling::default(),
            decided_aside: Mutex::default(),
            gate: tokio::sync::Mutex::default(),
            splits: Mutex::default(),
            steady_clock: steady_clock::SteadyClock::default(),
            filings: Mutex::default(),
            future: Mutex::default(),
            off_session: RwLock::default(),
            quote_times: quote_times::QuoteTimes::default(),
            engine_time: AtomicI64::new(i64::MIN),
            place: AtomicI64::new(0),
            is_behind: AtomicBool::new(false),
            looking_back: tokio::sync::Mutex::default(),
            divided: AtomicU64::new(0),
            stored_through: tokio::sync::Mutex::default(),
            store: ports.store.clone(),
            clock: Arc::clone(&ports.clock),
            chance: Arc::clone(&ports.chance),
            vault: Arc::clone(&ports.vault),
            catalog,
            settings: settings.clone(),
        }
    }

    /// Reads from the engine. Judging waits meanwhile, so this must be short.
    pub fn read<T>(&self, read: impl FnOnce(&Engine) -> T) -> T {
        read(&self.engine())
    }

    /// The last price of a stock with its time: observed in a session or out of one, or the close of a later bar. It may be an old
    /// price: it is for showing.
    #[must_use]
    pub fn last_observed(&self, symbol: Symbol) -> Option<ObservedPrice> {
        self.read(|engine| self.last_observed_in(engine, symbol))
    }

    /// Notes that a quote that was made at `made_at` is judged at `judged_at`.
    pub(crate) fn note_quote_time(&self, symbol: Symbol, made_at: Timestamp, judged_at: Timestamp) {
        self.quote_times.note(symbol, made_at, judged_at);
    }

    /// When a session ended.
    fn close_of(&self, date: Date) -> Timestamp {
        let session = self.settings.calendar.session(date);
        session.map_or_else(|| new_york(date, 16, 0), |session| session.close)
    }

    /// The close of the session before the one that a stock's last price belongs to.
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

    /// The close of the last session before `date`.
    fn close_before(&self, symbol: Symbol, date: Date) -> Option<Price> {
        self.read(|engine| {
            let mut earlier = engine.history(symbol)?.bars().rev().filter(|bar| bar.date < date);
            Some(earlier.next()?.close)
        })
    }

    /// The price of a stock that was seen last while the market was closed.
    #[must_use]
    pub fn off_session(&self, symbol: Symbol) -> Option<OffSession> {
        self.off_session
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&symbol)
            .copied()
    }

    /// Takes note of a price that was seen while the market was closed.
    pub(crate) fn see_off_session(&self, symbol: Symbol, seen: OffSession) {
        let mut prices = self.off_session.write().unwrap_or_else(PoisonError::into_inner);
        let kept = prices.entry(symbol).or_insert(seen);
        if kept.at <= seen.at {
            *kept = seen;
        }
    }

    /// Brings the price that was seen before a split's day into new shares.
    fn divide_off_session(&self, split: &SplitRow) {
        let mut prices = self.off_session.write().unwrap_or_else(PoisonError::into_inner);
        let seen = prices
            .get_mut(&split.symbol)
            .filter(|seen| new_york_date(seen.at) < split.date);
        if let Some(seen) = seen {
            seen.price = seen.price.after_split(split.ratio);
        }
    }

    /// Whether no later figures of the stock are known than these.
    pub(crate) fn is_latest(&self, row: &FundamentalsRow) -> bool {
        let known = self.catalog.get(row.symbol).and_then(|entry| entry.facts.fundamentals);
        known.is_none_or(|known| known.as_of <= row.as_of)
    }

    /// Whether what was decided could not be written down lately.
    pub(crate) fn is_behind(&self) -> bool {
        self.is_behind.load(Ordering::Acquire)
    }

    /// Tells the engine of an alert as it is on disk now: it is judged if it is active, and not any more if it is not.
    /// To be called from [`store::Transaction::committed`], so that the engine learns of changes in the order of their commits.
    pub fn tell(&self, alert: &Alert) {
        self.arm(|engine, now, decisions| self.telling.tell(engine, alert, now, decisions));
    }

    /// Tells the engine of an alert as somebody reads it, unless it knows better. Returns whether it does not.
    fn tell_read(&self, alert: &Alert, reading: &Reading<'_>) -> bool {
        self.arm(|engine, now, decisions| reading.tell(engine, alert, now, decisions))
    }

    fn arm<T>(&self, tell: impl FnOnce(&mut Engine, Timestamp, &mut Vec<Decision>) -> T) -> T {
        let mut decisions = Vec::new();
        let mut engine = self.engine();
        let told = tell(&mut engine, self.engine_now(), &mut decisions);
        drop(engine);
        if !decisions.is_empty() {
            self.aside().append(&mut decisions);
        }
        told
    }

    /// Tells the engine that an alert was deleted. To be called as [`tell`](Self::tell) is.
    pub fn forget(&self, id: AlertId) {
        let now = self.engine_now();
        self.telling.forget(&mut self.engine(), id, now);
    }

    /// [`tell`](Self::tell), whatever revision the engine judges by: a split has moved it.
    fn tell_anew(&self, alert: &Alert) {
        self.arm(|engine, now, decisions| {
            // That it was not armed is as good.
            let _ = engine.process(Event::Disarmed(alert.id), now, &mut Vec::new());
            self.telling.tell(engine, alert, now, decisions);
        });
    }

    /// The insiders' trades that are known.
    pub(crate) fn filings(&self) -> MutexGuard<'_, facts::Filings> {
        self.filings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        // A panic while the engine judged would leave it in an unknown state; but nothing in it panics on data, and a
        // service that stops judging for ever is worse than one that is compared with the database every few minutes.
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn aside(&self) -> MutexGuard<'_, Vec<Decision>> {
        self.decided_aside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present instant as the engine may be told it: never before one that it was told already.
    fn engine_now(&self) -> Timestamp {
        self.advance_to(self.clock.now())
    }

    /// `at`, or the latest instant that the engine was told if that is later.
    pub(crate) fn advance_to(&self, at: Timestamp) -> Timestamp {
        let micros = at.as_microsecond();
        let before = self.engine_time.fetch_max(micros, Ordering::AcqRel);
        Timestamp::from_microsecond(before.max(micros)).unwrap_or(at)
    }
}
