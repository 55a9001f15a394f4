//! State that is dated after the present, and a clock that was set back.
//!
//! A clock that is ahead for a moment dates its observations in the future. Once the clock is right again, that
//! state must not count: the engine rejects observations of a session before its current one, and the database
//! keeps the latest row. The state must not be deleted either, because the clock may have been right before and be
//! wrong now. It is therefore left out while it lies in the future, and no alert is reported as evaluated by it:
//!
//! * At the start, [`EngineLoader`] leaves out state that is dated after the present.
//! * When the clock is set back while the service runs, the engine is reloaded as at the start
//!   ([`Evaluator::follow_clock`]). A small step that changes neither day nor session needs no reload: the engine's
//!   time stands still until the clock has caught up.
//! * When the present reaches state that was left out, the engine is reloaded.
//! * The first observation of a stock replaces its later row in the database.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::alerts::Alert;
use ::alerts::engine::{Engine, Evaluation, EvaluationIssue, EvaluationStatus, Feed};
use ::market::Symbol;
use ::market::calendar::new_york_date;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use store::StoreError;
use store::model::{LatestQuote, SupersededQuote};

use super::Evaluator;
use super::load::EngineLoader;

/// The tolerance for instants that several tasks read from one clock out of order.
const CLOCK_JITTER: SignedDuration = SignedDuration::from_secs(1);
/// The longest time that the engine's time may stand still after the clock was set back.
const MAX_STANDSTILL: SignedDuration = SignedDuration::from_secs(60);

/// A stock's last observation in the database that is dated after the present.
#[derive(Clone, Copy, Debug)]
pub(super) struct FutureQuote {
    pub(super) symbol: Symbol,
    pub(super) at: Timestamp,
    /// The beginning of its session, if that lies in the future. The engine does not use the observation before.
    pub(super) left_out_until: Option<Timestamp>,
    /// The session that was ended too early, as a bar in the database.
    pub(super) unfinished_bar: Option<Date>,
}

/// State that is dated after the present.
#[derive(Debug, Default)]
pub(super) struct FutureState {
    /// By stock, until it is observed again.
    quotes: HashMap<Symbol, FutureQuote>,
    /// The instant at which the first of the left-out bars becomes present; `None` if no bar was left out.
    bars_present_at: Option<Timestamp>,
    /// When this state was found.
    found_at: Option<Timestamp>,
}

impl FutureState {
    pub(super) fn at(now: Timestamp) -> Self {
        Self {
            found_at: Some(now),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, later: FutureQuote) {
        self.quotes.insert(later.symbol, later);
    }

    /// Records that a bar is left out until `at`.
    pub(super) fn leave_bar_out_until(&mut self, at: Timestamp) {
        self.bars_present_at = Some(self.bars_present_at.map_or(at, |first| first.min(at)));
    }

    /// Returns the first instant at which left-out state becomes present; `None` if nothing is left out.
    fn present_at(&self) -> Option<Timestamp> {
        let quotes = self.quotes.values().filter_map(|later| later.left_out_until);
        quotes.chain(self.bars_present_at).min()
    }

    /// Removes the observed stocks and returns the rows that their observations replace.
    fn take_observed(&mut self, observed: &[LatestQuote]) -> Vec<SupersededQuote> {
        if self.quotes.is_empty() {
            return Vec::new();
        }
        let mut superseded = Vec::new();
        for quote in observed {
            if let Some(later) = self.quotes.remove(&quote.symbol) {
                superseded.push(SupersededQuote {
                    symbol: quote.symbol,
                    unfinished_bar: later.unfinished_bar,
                });
            }
        }
        superseded
    }

    /// Returns the observations that the engine does not use.
    fn left_out_quotes(&self) -> impl Iterator<Item = &FutureQuote> {
        self.quotes.values().filter(|later| later.left_out_until.is_some())
    }

    /// Returns the date of a stock's last observation, if that was left out and no observation has come since.
    fn left_out(&self, symbol: Symbol) -> Option<Timestamp> {
        let later = self.quotes.get(&symbol)?;
        later.left_out_until.map(|_| later.at)
    }
}

impl Evaluator {
    /// Lets the next observation of a stock replace its stored one, which the engine uses although it is dated in the future.
    pub(super) fn replace_future_quote(&self, symbol: Symbol, at: Timestamp) {
        self.future().add(FutureQuote {
            symbol,
            at,
            left_out_until: None,
            unfinished_bar: None,
        });
    }

    /// Reloads the engine if the clock was set back, or has reached state that was left out.
    ///
    /// # Errors
    /// [`StoreError`]: the engine continues unchanged, and the next call tries again.
    pub(crate) async fn follow_clock(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.reload_due_at().is_none() {
            return Ok(());
        }
        let mut backlog = self.backlog.lock().await;
        // Another task may have reloaded it while this one waited for the backlog.
        let Some(now) = self.reload_due_at() else {
            return Ok(());
        };
        tracing::warn!(%now, "the clock was set back, or stored state has become present; the engine is reloaded");
        metrics::counter!("bellwether_clock_reloads_total").increment(1);
        self.commit(&mut backlog).await?;
        self.store.reschedule_future_rows(now).await?;
        self.forget_off_session_prices_after(now);
        let engine = Mutex::new(Engine::new(
            self.settings.calendar.clone(),
            self.settings.engine.clone(),
        ));
        let future = EngineLoader::new(self, &engine, now).load().await?;
        {
            let mut live = self.engine();
            // The next evaluation with the new engine reads the new time.
            self.engine_time.store(now.as_microsecond(), Ordering::Release);
            *live = engine.into_inner().unwrap_or_else(PoisonError::into_inner);
        }
        // Missed observations that are being evaluated belong to the former engine.
        self.engine_generation.fetch_add(1, Ordering::AcqRel);
        self.note_future_state(future);
        drop(backlog);
        // Changes of alerts in the meantime went to the former engine.
        self.follow_changes().await
    }

    /// Returns the present instant if the engine has to be reloaded.
    fn reload_due_at(&self) -> Option<Timestamp> {
        let now = self.clock.now();
        let latest = Timestamp::from_microsecond(self.engine_time.load(Ordering::Acquire)).ok()?;
        let is_reached = self.future().present_at().is_some_and(|at| at <= now);
        (is_reached || self.is_set_back(latest, now)).then_some(now)
    }

    fn is_set_back(&self, latest: Timestamp, now: Timestamp) -> bool {
        let back = latest.duration_since(now);
        let session = |at| self.settings.calendar.session_at(at).map(|session| session.date);
        let is_other_time = || new_york_date(latest) != new_york_date(now) || session(latest) != session(now);
        back > MAX_STANDSTILL || (back > CLOCK_JITTER && is_other_time())
    }

    /// Records the state that is dated after the present.
    pub(super) fn note_future_state(&self, future: FutureState) {
        let left_out = future.left_out_quotes().count();
        if left_out > 0 {
            tracing::error!(
                left_out,
                "stored prices are dated after the present; their stocks wait for new prices. Check the machine's clock"
            );
        }
        *self.future() = future;
        self.measure_future_state();
    }

    /// Records observations and returns the rows that they replace in the database.
    pub(super) fn take_observed(&self, observed: &[LatestQuote]) -> Vec<SupersededQuote> {
        let superseded = self.future().take_observed(observed);
        if !superseded.is_empty() {
            self.measure_future_state();
        }
        superseded
    }

    /// Returns an alert's evaluation state. The alert waits while its stock's last price is dated after the present.
    pub fn with_future_state(&self, alert: &Alert, evaluation: Evaluation) -> Evaluation {
        let needs_price = Feed::of(&alert.condition) == Some(Feed::Quotes);
        let future = self.future();
        match future.left_out(alert.symbol).filter(|_| needs_price) {
            Some(at) => Evaluation {
                state: EvaluationStatus::Waiting(EvaluationIssue::LastPriceInFuture { at }),
                since: future.found_at.unwrap_or(evaluation.since),
            },
            None => evaluation,
        }
    }

    /// Returns the number of stocks with alerts that wait for a price because their last one is dated after the
    /// present. `None` if there are none, or if they have waited for `stale_after`: a service that is never ready would
    /// never get a price.
    pub fn stocks_in_future(&self) -> Option<usize> {
        let now = self.clock.now();
        let (found_at, symbols) = {
            let future = self.future();
            let symbols: Vec<Symbol> = future.left_out_quotes().map(|later| later.symbol).collect();
            (future.found_at?, symbols)
        };
        let is_new = now.duration_since(found_at) < self.settings.engine.stale_after;
        let waiting = self.read(|engine| {
            symbols
                .iter()
                .filter(|&&symbol| engine.has_price_alerts(symbol))
                .count()
        });
        (is_new && waiting > 0).then_some(waiting)
    }

    /// Measures the number of stocks whose last price is dated after the present.
    fn measure_future_state(&self) {
        let left_out = self.future().left_out_quotes().count();
        // Far below 2⁵³.
        metrics::gauge!("bellwether_future_state_stocks").set(left_out as f64);
    }

    fn future(&self) -> MutexGuard<'_, FutureState> {
        // Each change leaves the state consistent.
        self.future.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_off_session_prices_after(&self, now: Timestamp) {
        let mut prices = self.off_session_prices.write().unwrap_or_else(PoisonError::into_inner);
        prices.retain(|_, seen| seen.at <= now);
    }
}
