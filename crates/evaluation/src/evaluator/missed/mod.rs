//! Late evaluation of missed observations.
//!
//! The feed was dead for a while, or the program was off, and the missed observations are now known. The live
//! engine cannot process them: its time does not go back, and it has other work. A second, small engine is
//! therefore built for the affected stocks, with the live engine's state before the gap and the alerts as stored,
//! each armed at its own instant. It processes the gap with the time of the observations ([`mod@rerun`]). Its
//! decisions are committed like all others, marked late. Then the live engine gets the missed observations
//! ([`mod@merge`]).
//!
//! An alert cannot fire twice, in whatever order this happens: a firing is a compare-and-set. If the same period is
//! evaluated again, in this process or another, the alert is triggered, or armed after the period, or the
//! evaluation has the same result as before.
//!
//! The stocks are evaluated in batches, so that a missed period of a whole market needs memory for a few hundred
//! stocks only. The stocks of an alert over several of them are in one batch ([`links`]).
//!
//! An alert is evaluated with what is known of that time: the merged observations of all of its stocks, their volumes, bids
//! and asks where they have them, and facts as of the day or hour at which they were known ([`mod@facts`]). A period that
//! cannot be evaluated for an alert ([`known`]) is an entry of its history ([`mod@record`]).
//!
//! The firings of a rule are committed before the final states of the rules, and these with the observations. After a crash
//! in between, the period is evaluated again: a rule continues after its last firing, with the state of that, and all
//! others begin with the state from before the gap.

mod facts;
mod inputs;
mod known;
mod links;
mod merge;
mod record;
mod rerun;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::alerts::engine::{Engine, ObservedSession};
use ::alerts::{Alert, AlertId, Status};
use ::market::records::QuoteRow;
use ::market::{History, Price, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use store::StoreError;

use super::Evaluator;
use super::late_decisions::LateDecisions;
use super::revision_guard::with_clamped_armed_at;
use inputs::AlertInputs;
pub use rerun::RerunResult;
use rerun::{RerunInputs, rerun};

/// A missed observation, in today's shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MissedObservation {
    /// The instant of the observation.
    pub(crate) at: Timestamp,
    /// The session of the observation.
    pub(crate) session: Date,
    price: Price,
    volume: Option<i64>,
    bid: Option<Price>,
    ask: Option<Price>,
    vwap: Option<Price>,
}

/// The missed observations of a stock, and its state before them. A stock without any may be one of an alert over several.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    symbol: Symbol,
    /// In order of time.
    observations: Vec<MissedObservation>,
    /// The completed sessions in the live engine.
    history: History,
    /// The last session observed by the live engine.
    session: Option<ObservedSession>,
    /// Whether the stock has no observations within the period besides these and the live engine's.
    is_complete: bool,
}

/// The gaps of some stocks, as of one state of the live engine.
#[derive(Debug)]
pub struct Gaps {
    gaps: Vec<Gap>,
    /// The generation of the live engine at that time.
    engine_generation: u64,
}

impl Gap {
    /// Returns the first session with a missed observation.
    fn first_session(&self) -> Option<Date> {
        self.observations.first().map(|observation| observation.session)
    }
}

impl Gaps {
    /// Returns the number of observations.
    pub(crate) fn len(&self) -> usize {
        self.gaps.iter().map(|gap| gap.observations.len()).sum()
    }

    /// Returns the last missed observation of each stock.
    pub(crate) fn last_observations(&self) -> impl Iterator<Item = (Symbol, MissedObservation)> {
        self.gaps
            .iter()
            .filter_map(|gap| Some((gap.symbol, *gap.observations.last()?)))
    }
}

impl Evaluator {
    /// Waits until no other task evaluates missed observations.
    pub(crate) async fn lock_missed_evaluation(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.missed_evaluation.lock().await
    }

    /// Returns the missed observations of some stocks: for each stock those after the last observation. `seen` returns
    /// the time of that, given the time of the engine's last observation. The rows are in order of time, and each has
    /// one. They are `complete` for the stocks of which they contain all quotes of the period.
    pub fn gaps<'a>(
        &self,
        stocks: impl IntoIterator<Item = (Symbol, &'a [QuoteRow])>,
        seen: impl Fn(Symbol, Option<Timestamp>) -> Option<Timestamp>,
        complete: &HashSet<Symbol>,
    ) -> Gaps {
        let engine_generation = self.engine_generation.load(Ordering::Acquire);
        let gaps = stocks.into_iter().map(|(symbol, rows)| {
            // Stock by stock, so that evaluation waits for a copy of one history at most.
            let (history, session) = self.read(|engine| {
                let history = engine.history(symbol).cloned().unwrap_or_default();
                (history, engine.observed_session(symbol))
            });
            let seen = seen(symbol, session.map(|session| session.last_at));
            let observations = rows.iter().filter_map(|row| self.observation(row));
            let observations: Vec<MissedObservation> = observations
                .filter(|observation| seen.is_none_or(|seen| observation.at > seen))
                .collect();
            // If the feed is delayed, the engine received the observation later than it was made.
            let session = session.map(|session| ObservedSession {
                last_at: seen.unwrap_or(session.last_at),
                ..session
            });
            Gap {
                symbol,
                observations,
                history,
                session,
                is_complete: complete.contains(&symbol),
            }
        });
        Gaps {
            gaps: gaps.collect(),
            engine_generation,
        }
    }

    /// Converts a row to an observation in today's shares. Returns `None` outside sessions, and while the session's
    /// split waits for a clock that has jumped forward.
    fn observation(&self, row: &QuoteRow) -> Option<MissedObservation> {
        let at = row.time?;
        let session = self.settings.calendar.session_at(at)?.date;
        let splits = self.known_splits();
        if splits.is_waiting(row.symbol, session) {
            return None;
        }
        let in_todays_shares = |price| splits.price_in_todays_shares(row.symbol, session, price);
        Some(MissedObservation {
            at,
            session,
            price: in_todays_shares(row.price),
            bid: row.bid.map(in_todays_shares),
            ask: row.ask.map(in_todays_shares),
            vwap: row.vwap.map(in_todays_shares),
            volume: row
                .volume
                .map(|volume| splits.shares_of_today(row.symbol, session, volume)),
        })
    }

    /// Evaluates missed observations in a second engine.
    pub async fn evaluate_gaps(&self, gaps: &Arc<Gaps>) -> Result<RerunResult, StoreError> {
        let observed = || {
            gaps.gaps
                .iter()
                .filter_map(|gap| Some((gap, gap.observations.first()?)))
        };
        let Some(from) = observed().map(|(_, first)| first.at).min() else {
            return Ok(RerunResult::default());
        };
        let symbols: HashSet<Symbol> = observed().map(|(gap, _)| gap.symbol).collect();
        let until = self.clock.now();
        let alerts = self.alerts_on(&symbols, until).await?;
        let inputs: Vec<AlertInputs> = alerts.iter().map(AlertInputs::of).collect();
        let inputs = RerunInputs {
            facts: self.facts_since(from, &inputs).await?,
            alerts,
            until,
            stale_after: self.settings.engine.stale_after,
        };
        let mut engine = Engine::new(self.settings.calendar.clone(), self.settings.engine.clone());
        self.tell_known_splits(&mut engine, until);
        let gaps = Arc::clone(gaps);
        // The evaluation may take a while and must not block other tasks.
        let result = tokio::task::spawn_blocking(move || rerun(engine, &gaps.gaps, inputs)).await;
        result.map_err(|_| StoreError::Panicked("evaluation of missed observations".to_owned()))
    }

    /// Returns the active alerts that observations of some stocks evaluate: their own ones, and those that name them.
    async fn alerts_on(&self, symbols: &HashSet<Symbol>, now: Timestamp) -> Result<Vec<Alert>, StoreError> {
        let own: Vec<Symbol> = symbols.iter().copied().collect();
        let mut stored = self.store.active_alerts_of(&own).await?;
        let known: HashSet<AlertId> = stored.iter().map(|stored| stored.alert.id).collect();
        let naming: Vec<AlertId> = self.read(|engine| {
            let rules = engine.rules_of_several_stocks();
            let naming = rules.filter(|(_, stocks)| stocks.iter().any(|stock| symbols.contains(stock)));
            naming.map(|(id, _)| id).filter(|id| !known.contains(id)).collect()
        });
        if !naming.is_empty() {
            let read = self.store.alerts_by_id(&naming).await?;
            stored.extend(read.into_iter().filter(|stored| stored.alert.status == Status::Active));
        }
        let alerts = stored
            .into_iter()
            .map(|stored| with_clamped_armed_at(&stored.alert, now));
        Ok(alerts
            .filter(|alert| AlertInputs::of(alert).has_market_data() && self.owns(alert.symbol))
            .collect())
    }

    /// Merges missed observations into the live engine, and returns when their decisions are on disk: the number of
    /// alerts that have fired. Returns `None` if a stock was split or the engine was reloaded meanwhile, so that the
    /// gaps have to be evaluated again.
    pub async fn merge_gaps(self: &Arc<Self>, gaps: &Gaps, result: RerunResult) -> Result<Option<u64>, StoreError> {
        let mut is_outdated = false;
        let fired = self
            .evaluate_late(|engine, now| {
                is_outdated = self.engine_generation.load(Ordering::Acquire) != gaps.engine_generation;
                if is_outdated {
                    return (Vec::new(), LateDecisions::default());
                }
                merge::merge(engine, result, now)
            })
            .await?;
        Ok((!is_outdated).then_some(fired))
    }
}
