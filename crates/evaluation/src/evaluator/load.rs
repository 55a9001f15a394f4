//! Loads the engine at the start.
//!
//! The order is the one that the engine requires after a restart: bars and facts, the state of the last sessions,
//! the instant up to which the clock was processed, and then the active alerts with their own instants. The engine
//! continues where it stopped; anything that became due in between is due at the first tick.
//!
//! State that is dated after the present is left out ([`super::future`]): the clock was ahead when it was written,
//! or is behind now.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::alerts::EvaluatedAlert;
use ::alerts::engine::{Decision, Engine, Event, EventError, ObservedSession};
use ::alerts::metrics::FundamentalFigures;
use ::market::calendar::{new_york, new_york_date};
use ::market::records::{BarRow, FundamentalsRow};
use ::market::{Bar, Symbol};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan};
use store::StoreError;
use store::model::{LatestQuote, StockFacts};

use super::future::{FutureQuote, FutureState};
use super::known_splits::KnownSplits;
use super::{Evaluator, facts};

/// How far back bars are read, in days. This is enough for every indicator and for Wilder's RSI to be independent
/// of the start of its series.
const BAR_HISTORY_DAYS: i64 = 1_100;
/// The time by which the clocks of processes may differ, and that a change may take until other processes know it.
const MAX_FOLLOW_DELAY: SignedDuration = SignedDuration::from_secs(30);
/// How far back insider trades are read, in days: the longest window of an alert, and the day itself.
pub(crate) const INSIDER_HISTORY_DAYS: i64 = 366;
/// How far back mentions are read, in hours: the day, the seven days before it, and one more day, because a source
/// that counts by the day delivers one count a day. One day is spare, because the newest count may be of yesterday.
pub(super) const MENTION_HISTORY_HOURS: i64 = 10 * 24;

/// Loads an engine as of one instant.
pub(super) struct EngineLoader<'a> {
    pub(super) evaluator: &'a Evaluator,
    engine: &'a Mutex<Engine>,
    pub(super) now: Timestamp,
    future: FutureState,
    /// Bars of sessions that have begun and not ended.
    unfinished: HashMap<Symbol, Bar>,
}

impl Evaluator {
    /// Loads the engine.
    pub async fn load(&self) -> Result<(), StoreError> {
        // The time at the start is trusted. Later jumps are noticed.
        self.steady_clock.read(&*self.clock);
        let now = self.engine_now();
        self.store.reschedule_future_rows(now).await?;
        let future = EngineLoader::new(self, &self.engine, now).load().await?;
        self.note_future_state(future);
        Ok(())
    }

    /// Returns the engine event for a stock's fundamentals, per today's share.
    pub(crate) fn fundamentals_event(&self, row: &FundamentalsRow) -> Event<'static> {
        Event::Fundamentals {
            symbol: row.symbol,
            figures: FundamentalFigures::of(&self.per_todays_share(*row)),
        }
    }

    /// Returns fundamentals per today's share.
    pub(crate) fn per_todays_share(&self, mut row: FundamentalsRow) -> FundamentalsRow {
        let splits = self.known_splits();
        let of_today = |eps| splits.eps_in_todays_shares(row.symbol, row.as_of, eps);
        (row.eps_ttm, row.eps_forward) = (row.eps_ttm.map(of_today), row.eps_forward.map(of_today));
        row
    }

    /// Returns the beginning of a session; on a market that never closes, the beginning of its day.
    fn beginning_of(&self, session: Date) -> Timestamp {
        let calendar = &self.settings.calendar;
        let open = calendar.session(session).filter(|_| !calendar.is_always_open());
        open.map_or_else(|| new_york(session, 0, 0), |session| session.open)
    }
}

impl<'a> EngineLoader<'a> {
    pub(super) fn new(evaluator: &'a Evaluator, engine: &'a Mutex<Engine>, now: Timestamp) -> Self {
        Self {
            evaluator,
            engine,
            now,
            future: FutureState::at(now),
            unfinished: HashMap::new(),
        }
    }

    /// Loads the engine. Returns the state that was left out because it is dated after the present.
    pub(super) async fn load(mut self) -> Result<FutureState, StoreError> {
        self.load_catalog().await?;
        self.load_bars().await?;
        self.load_facts().await?;
        for &feed in &self.evaluator.settings.missing_feeds {
            self.process(Event::Feed { feed, lost: true }, self.now);
        }
        self.load_sessions().await?;
        self.load_extended_prices().await?;
        self.evaluator.start_following_changes().await?;
        let mut decisions = Vec::new();
        if self.evaluator.is_single() {
            if let Some(mark) = self.evaluator.store.clock().await? {
                self.advance_clock(mark.min(self.now), &mut decisions).await?;
            }
            self.load_alerts(&mut decisions).await?;
        } else {
            self.load_held_alerts(&mut decisions).await?;
        }
        self.evaluator.pending_decisions().append(&mut decisions);
        Ok(self.future)
    }

    /// Advances the clock to the instant up to which it was processed. On a shared database another process may have processed it
    /// without the alerts that were armed shortly before, so what they were due for is decided now.
    async fn advance_clock(&self, mark: Timestamp, decisions: &mut Vec<Decision>) -> Result<(), StoreError> {
        let store = &self.evaluator.store;
        if store.is_shared() {
            let from = mark.saturating_sub(MAX_FOLLOW_DELAY).unwrap_or(mark);
            self.process(Event::Clock, from);
            store
                .active_alerts_armed_after(from, &mut |alerts| self.arm(alerts, decisions))
                .await?;
        }
        // The clock is always accepted.
        let _ = self.engine().process(Event::Clock, mark, decisions);
        Ok(())
    }

    async fn load_catalog(&self) -> Result<(), StoreError> {
        let evaluator = self.evaluator;
        for row in evaluator.store.stocks().await? {
            evaluator.catalog.change(row.symbol, |entry| entry.row = row);
        }
        *evaluator.known_splits() = KnownSplits::new(evaluator.store.splits().await?);
        evaluator.tell_known_splits(&mut evaluator.engine(), self.now);
        Ok(())
    }

    async fn load_bars(&mut self) -> Result<(), StoreError> {
        let today = new_york_date(self.now);
        let from = today.checked_sub(BAR_HISTORY_DAYS.days()).unwrap_or(today);
        let evaluator = self.evaluator;
        evaluator
            .store
            .all_bars(from, &mut |rows| {
                for row in rows {
                    self.load_bar(row);
                }
            })
            .await
    }

    fn load_bar(&mut self, BarRow { symbol, bar }: BarRow) {
        let bar = self.evaluator.in_todays_shares(symbol, bar);
        let event = Event::Bar { symbol, bar };
        let taken = self.engine().process(event, self.now, &mut Vec::new());
        // A bar that was accepted once is accepted now, unless its session ends in the future.
        if !matches!(taken, Err(EventError::NoCompletedSession { .. })) {
            return;
        }
        if self.evaluator.beginning_of(bar.date) <= self.now {
            self.unfinished.insert(symbol, bar);
        } else {
            // This bar is the last one now, so an earlier unfinished bar stays on disk as it is.
            self.unfinished.remove(&symbol);
            self.future.leave_bar_out_until(self.evaluator.close_of(bar.date));
        }
    }

    /// Loads the last observation of each stock.
    async fn load_sessions(&mut self) -> Result<(), StoreError> {
        for quote in self.evaluator.store.latest_quotes().await? {
            if quote.at <= self.now {
                self.note_quote_time(&quote, quote.at);
                self.resume(quote.symbol, observed_session(&quote));
                continue;
            }
            let begins_at = self.evaluator.beginning_of(quote.session);
            let is_left_out = begins_at > self.now;
            let unfinished = self.unfinished.remove(&quote.symbol).filter(|_| is_left_out);
            if let Some(bar) = &unfinished {
                let session = self.reopened(bar);
                let symbol = quote.symbol;
                self.process(Event::Resume { symbol, session }, self.now);
            } else if !is_left_out {
                let at = self.now;
                self.note_quote_time(&quote, at);
                self.resume(quote.symbol, observed_session(&LatestQuote { at, ..quote }));
            }
            self.future.add(FutureQuote {
                symbol: quote.symbol,
                at: quote.at,
                left_out_until: is_left_out.then_some(begins_at),
                unfinished_bar: unfinished.map(|bar| bar.date),
            });
        }
        Ok(())
    }

    fn note_quote_time(&self, quote: &LatestQuote, evaluated_at: Timestamp) {
        if let Some(made_at) = quote.made_at {
            self.evaluator
                .note_quote_time(quote.symbol, made_at.min(self.now), evaluated_at);
        }
    }

    fn resume(&self, symbol: Symbol, session: ObservedSession) {
        let session = self.evaluator.known_splits().session_in_todays_shares(symbol, session);
        self.process(Event::Resume { symbol, session }, self.now);
    }

    /// Returns a session that was ended too early, as it was observed until then.
    fn reopened(&self, bar: &Bar) -> ObservedSession {
        let session = self.evaluator.settings.calendar.session(bar.date);
        ObservedSession {
            date: bar.date,
            open: bar.open,
            high: bar.high,
            low: bar.low,
            last: bar.close,
            volume: (bar.volume > 0).then_some(bar.volume),
            // The time of the last price is not known any more.
            last_at: session.map_or(self.now, |session| session.open.min(self.now)),
            bid: None,
            ask: None,
            vwap: None,
        }
    }

    async fn load_facts(&self) -> Result<(), StoreError> {
        let evaluator = self.evaluator;
        let today = new_york_date(self.now);
        for (symbol, known) in evaluator.store.stock_facts(today).await? {
            self.load_stock_facts(&known);
            evaluator.catalog.change(symbol, |entry| entry.facts = known);
        }
        let filed_from = today.checked_sub(INSIDER_HISTORY_DAYS.days()).unwrap_or(today);
        let mut trades = evaluator.store.insider_trades(filed_from).await?;
        trades.retain(|trade| trade.filed_on <= today);
        for (symbol, trades) in facts::by_symbol(&trades) {
            let trades = &trades;
            self.process(Event::InsiderTrades { symbol, trades }, self.now);
        }
        evaluator.filings().replace(trades);
        let mentioned_from = self.now - SignedDuration::from_hours(MENTION_HISTORY_HOURS);
        for row in evaluator.store.mentions(mentioned_from).await? {
            if row.time > self.now {
                continue;
            }
            let event = Event::Mentions {
                symbol: row.symbol,
                hour: row.time,
                count: row.mentions,
            };
            self.process(event, self.now);
        }
        Ok(())
    }

    fn load_stock_facts(&self, known: &StockFacts) {
        if let Some(row) = &known.fundamentals {
            self.process(self.evaluator.fundamentals_event(row), self.now);
        }
        if let Some(first) = known.earnings.first() {
            let dates = &facts::earnings_dates(&known.earnings);
            let symbol = first.symbol;
            self.process(Event::Earnings { symbol, dates }, self.now);
        }
        if let Some(first) = known.dividends.first() {
            let dividends = &facts::dividends(&known.dividends);
            let symbol = first.symbol;
            self.process(Event::Dividends { symbol, dividends }, self.now);
        }
    }

    async fn load_alerts(&self, decisions: &mut Vec<Decision>) -> Result<(), StoreError> {
        let store = &self.evaluator.store;
        store.active_alerts(&mut |alerts| self.arm(alerts, decisions)).await
    }

    /// Loads the alerts of the shards that this node holds: none at the start. At a reload, the former engine has processed the clock.
    async fn load_held_alerts(&self, decisions: &mut Vec<Decision>) -> Result<(), StoreError> {
        self.process(Event::Clock, self.now);
        let evaluator = self.evaluator;
        let held = evaluator.alerted_symbols(|symbol| evaluator.holds(symbol)).await?;
        if held.is_empty() {
            return Ok(());
        }
        let store = &self.evaluator.store;
        store
            .active_alerts_of_symbols(&held, &mut |alerts| self.arm(alerts, decisions))
            .await
    }

    fn arm(&self, alerts: Vec<EvaluatedAlert>, decisions: &mut Vec<Decision>) {
        let mut engine = self.engine();
        for mut alert in alerts {
            // As `with_clamped_armed_at` does.
            alert.armed_at = alert.armed_at.min(self.now);
            // An armed alert is always accepted.
            let _ = engine.process(Event::Loaded(&alert), self.now, decisions);
        }
    }

    /// Processes an event that causes no decision, because no alert is armed yet.
    pub(super) fn process(&self, event: Event<'_>, now: Timestamp) {
        let _ = self.engine().process(event, now, &mut Vec::new());
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a stored quote as the session that the engine continues.
pub(super) fn observed_session(quote: &LatestQuote) -> ObservedSession {
    ObservedSession {
        date: quote.session,
        open: quote.open,
        high: quote.high,
        low: quote.low,
        last: quote.last,
        volume: quote.volume,
        last_at: quote.at,
        bid: quote.bid,
        ask: quote.ask,
        vwap: quote.vwap,
    }
}
