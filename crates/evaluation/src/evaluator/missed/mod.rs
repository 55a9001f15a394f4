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
//! stocks only.

mod merge;
mod rerun;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::alerts::Alert;
use ::alerts::condition::{Condition, ConditionFamily};
use ::alerts::engine::{Engine, ObservedSession};
use ::alerts::expression::ast::MetricReference;
use ::alerts::expression::metric::MetricNeed;
use ::alerts::expression::shape::metrics;
use ::alerts::options::TriggerPrice;
use ::market::records::QuoteRow;
use ::market::{History, Price, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use store::StoreError;

use super::Evaluator;
use super::revision_guard::with_clamped_armed_at;
use rerun::rerun;
pub use rerun::{Earnings, RerunResult};

/// A missed observation, in today's shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MissedObservation {
    /// The instant of the observation.
    pub(crate) at: Timestamp,
    /// The session of the observation.
    pub(crate) session: Date,
    price: Price,
    volume: Option<i64>,
}

/// The missed observations of a stock, and its state before them.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    symbol: Symbol,
    /// In order of time, at least one.
    observations: Vec<MissedObservation>,
    /// The completed sessions in the live engine.
    history: History,
    /// The last session observed by the live engine.
    session: Option<ObservedSession>,
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
    /// one.
    pub fn gaps<'a>(
        &self,
        stocks: impl IntoIterator<Item = (Symbol, &'a [QuoteRow])>,
        seen: impl Fn(Symbol, Option<Timestamp>) -> Option<Timestamp>,
    ) -> Gaps {
        let engine_generation = self.engine_generation.load(Ordering::Acquire);
        let gaps = stocks.into_iter().filter_map(|(symbol, rows)| {
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
            let gap = Gap {
                symbol,
                observations,
                history,
                session,
            };
            (!gap.observations.is_empty()).then_some(gap)
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
        Some(MissedObservation {
            at,
            session,
            price: splits.price_in_todays_shares(row.symbol, session, row.price),
            volume: row
                .volume
                .map(|volume| splits.shares_of_today(row.symbol, session, volume)),
        })
    }

    /// Evaluates missed observations in a second engine.
    pub async fn evaluate_gaps(&self, gaps: &Arc<Gaps>) -> Result<RerunResult, StoreError> {
        let symbols: Vec<Symbol> = gaps.gaps.iter().map(|gap| gap.symbol).collect();
        let stored = self.store.active_alerts_of(&symbols).await?;
        let now = self.clock.now();
        let alerts: Vec<Alert> = stored
            .into_iter()
            .map(|stored| with_clamped_armed_at(&stored.alert, now))
            .filter(is_evaluated_by_quotes)
            .collect();
        let earnings = self.earnings_of(&gaps.gaps, &alerts).await?;
        let mut engine = Engine::new(self.settings.calendar.clone(), self.settings.engine.clone());
        self.tell_known_splits(&mut engine, now);
        let gaps = Arc::clone(gaps);
        // The evaluation may take a while and must not block other tasks.
        let result = tokio::task::spawn_blocking(move || rerun(engine, &gaps.gaps, earnings, alerts)).await;
        result.map_err(|_| StoreError::Panicked("evaluation of missed observations".to_owned()))
    }

    /// Returns the earnings per share that the alerts depend on, as known in the sessions with missed observations.
    async fn earnings_of(&self, gaps: &[Gap], alerts: &[Alert]) -> Result<Earnings, StoreError> {
        let is_fundamental = |alert: &&Alert| alert.condition.kind().family() == ConditionFamily::Fundamental;
        let wanted: HashSet<Symbol> = alerts.iter().filter(is_fundamental).map(|alert| alert.symbol).collect();
        let asked = gaps.iter().filter(|gap| wanted.contains(&gap.symbol));
        let asked: Vec<(Symbol, Date)> = asked
            .filter_map(|gap| Some((gap.symbol, gap.first_session()?)))
            .collect();
        let mut earnings = Earnings::new();
        for row in self.store.fundamentals_since(&asked).await? {
            let row = self.per_todays_share(row);
            earnings.entry(row.symbol).or_default().push(row);
        }
        earnings.values_mut().for_each(|rows| rows.sort_by_key(|row| row.as_of));
        Ok(earnings)
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
                    return (Vec::new(), Vec::new());
                }
                merge::merge(engine, result, now)
            })
            .await?;
        Ok((!is_outdated).then_some(fired))
    }
}

/// Whether an alert depends on observations of its stock, and not on the clock or on other data. An expression must depend on prices
/// alone: the second engine has no volumes of the time before the gap, and no other stocks.
fn is_evaluated_by_quotes(alert: &Alert) -> bool {
    // Missed observations have no bid, ask and volume-weighted average price, and are no closes.
    if !matches!(alert.options.trigger, TriggerPrice::Last | TriggerPrice::TwoLasts) {
        return false;
    }
    if let Condition::Expression(condition) = &alert.condition {
        let is_own_price = |used: &MetricReference| {
            let mut needs = used.metric.spec().needs.iter();
            used.symbol.is_none()
                && needs.all(|need| {
                    matches!(
                        need,
                        MetricNeed::Quote | MetricNeed::InitialPrice | MetricNeed::Sessions
                    )
                })
        };
        return metrics(&condition.expression).iter().all(is_own_price);
    }
    matches!(
        alert.condition.kind().family(),
        ConditionFamily::Price | ConditionFamily::Technical | ConditionFamily::Volume | ConditionFamily::Fundamental
    )
}
