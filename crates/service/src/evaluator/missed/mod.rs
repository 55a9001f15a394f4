//! What was missed is judged late.
//!
//! The feed was dead for a while, or the program was off, and now it is known what would have been seen. The live engine
//! cannot be told: its time does not go back, and it has more to do. So a second, small engine is made of the stocks in
//! question: with what the live engine knew before the gap, and with their alerts as they are on disk, each armed at its own
//! instant. It goes through the gap on a clock of its own ([`mod@rerun`]), and what it decides goes the way of all decisions,
//! marked late. Then the live engine learns what was seen ([`mod@rejoin`]).
//!
//! That nothing fires twice does not hang on any order here: a firing is taken by compare-and-set, as all are. Whoever judges
//! the same stretch again, in this process or another, finds the alert triggered, or armed anew after the stretch, or
//! judges as before and finds nothing.
//!
//! A portion of the stocks is judged at a time, so that a whole market that was missed takes no more memory than a few
//! hundred stocks.

#[cfg(test)]
mod races;
mod rejoin;
mod rerun;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::alerts::Alert;
use ::alerts::condition::ConditionFamily;
use ::alerts::engine::{Engine, ObservedSession};
use ::market::records::QuoteRow;
use ::market::{History, Price, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use store::StoreError;

use super::Evaluator;
use super::telling::armed_by;
use rerun::{Earnings, Found, rerun};

/// One observation that was missed, in today's shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sight {
    /// When it was made.
    pub(crate) at: Timestamp,
    /// The session that it falls into.
    pub(crate) session: Date,
    price: Price,
    volume: Option<i64>,
}

/// What was missed of a stock, and what was known of it before.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    symbol: Symbol,
    /// In the order of time, at least one.
    sights: Vec<Sight>,
    /// The completed sessions that the live engine knows.
    history: History,
    /// What the live engine observed last.
    session: Option<ObservedSession>,
}

/// What was missed of some stocks, as of one state of the live engine.
#[derive(Debug)]
pub(crate) struct Gaps {
    gaps: Vec<Gap>,
    /// How many splits had been applied by then.
    divided: u64,
}

impl Gap {
    /// The first session of which something was missed.
    fn first_session(&self) -> Option<Date> {
        self.sights.first().map(|sight| sight.session)
    }
}

impl Gaps {
    /// How many observations there are.
    pub(crate) fn len(&self) -> usize {
        self.gaps.iter().map(|gap| gap.sights.len()).sum()
    }

    /// The last observation of each stock that was missed.
    pub(crate) fn last_sights(&self) -> impl Iterator<Item = (Symbol, Sight)> {
        self.gaps
            .iter()
            .filter_map(|gap| Some((gap.symbol, *gap.sights.last()?)))
    }
}

impl Evaluator {
    /// Waits until nobody else judges what was missed.
    pub(crate) async fn look_back(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.looking_back.lock().await
    }

    /// What was missed of some stocks: of each what comes after the last that was seen. `seen` knows when that was, given when the
    /// engine saw something last. Rows are in the order of time, and each has one.
    pub(crate) fn gaps<'a>(
        &self,
        stocks: impl IntoIterator<Item = (Symbol, &'a [QuoteRow])>,
        seen: impl Fn(Symbol, Option<Timestamp>) -> Option<Timestamp>,
    ) -> Gaps {
        let divided = self.divided.load(Ordering::Acquire);
        let gaps = stocks.into_iter().filter_map(|(symbol, rows)| {
            // Stock by stock, so that judging waits for a copy of one history at most.
            let (history, session) = self.read(|engine| {
                let history = engine.history(symbol).cloned().unwrap_or_default();
                (history, engine.observed_session(symbol))
            });
            let seen = seen(symbol, session.map(|session| session.last_at));
            let sights = rows.iter().filter_map(|row| self.sight(row));
            let sights: Vec<Sight> = sights.filter(|sight| seen.is_none_or(|seen| sight.at > seen)).collect();
            // The engine was told it later than it was made, if the feed is delayed.
            let session = session.map(|session| ObservedSession {
                last_at: seen.unwrap_or(session.last_at),
                ..session
            });
            let gap = Gap {
                symbol,
                sights,
                history,
                session,
            };
            (!gap.sights.is_empty()).then_some(gap)
        });
        Gaps {
            gaps: gaps.collect(),
            divided,
        }
    }

    /// An observation of a session, in today's shares. `None` while the session's split waits for a clock that has jumped forward.
    fn sight(&self, row: &QuoteRow) -> Option<Sight> {
        let at = row.time?;
        let session = self.settings.calendar.session_at(at)?.date;
        let splits = self.known_splits();
        if splits.is_waiting(row.symbol, session) {
            return None;
        }
        Some(Sight {
            at,
            session,
            price: splits.price_in_todays_shares(row.symbol, session, row.price),
            volume: row
                .volume
                .map(|volume| splits.shares_of_today(row.symbol, session, volume)),
        })
    }

    /// Judges what was missed, without the live engine.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(crate) async fn rerun(&self, gaps: &Arc<Gaps>) -> Result<Found, StoreError> {
        let symbols: Vec<Symbol> = gaps.gaps.iter().map(|gap| gap.symbol).collect();
        let stored = self.store.active_alerts_of(&symbols).await?;
        let now = self.clock.now();
        let alerts: Vec<Alert> = stored
            .into_iter()
            .map(|stored| armed_by(&stored.alert, now))
            .filter(is_judged_by_sight)
            .collect();
        let earnings = self.earnings_of(&gaps.gaps, &alerts).await?;
        let engine = Engine::new(self.settings.calendar.clone(), self.settings.engine.clone());
        let gaps = Arc::clone(gaps);
        // It may take a while, and others have something to do.
        let judged = tokio::task::spawn_blocking(move || rerun(engine, &gaps.gaps, earnings, alerts)).await;
        judged.map_err(|_| StoreError::Panicked("judging what was missed".to_owned()))
    }

    /// The earnings per share that alerts are judged by, as they were known in the sessions of which something was missed.
    async fn earnings_of(&self, gaps: &[Gap], alerts: &[Alert]) -> Result<Earnings, StoreError> {
        let is_fundamental = |alert: &&Alert| alert.condition.kind().family() == ConditionFamily::Fundamental;
        let wanted: HashSet<Symbol> = alerts.iter().filter(is_fundamental).map(|alert| alert.symbol).collect();
        let asked = gaps.iter().filter(|gap| wanted.contains(&gap.symbol));
        let asked: Vec<(Symbol, Date)> = asked
            .filter_map(|gap| Some((gap.symbol, gap.first_session()?)))
            .collect();
        let mut earnings = Earnings::new();
        for mut row in self.store.fundamentals_since(&asked).await? {
            let splits = self.known_splits();
            let of_today = |eps| splits.eps_in_todays_shares(row.symbol, row.as_of, eps);
            (row.eps_ttm, row.eps_forward) = (row.eps_ttm.map(of_today), row.eps_forward.map(of_today));
            earnings.entry(row.symbol).or_default().push(row);
        }
        earnings.values_mut().for_each(|rows| rows.sort_by_key(|row| row.as_of));
        Ok(earnings)
    }

    /// Tells the live engine what was missed, and returns when what was decided by it is on disk: how many alerts have
    /// fired. `None`: a stock was split meanwhile, and everything has to be looked at anew.
    ///
    /// # Errors
    /// [`StoreError`] when the database did not take what was decided.
    pub(crate) async fn rejoin(self: &Arc<Self>, gaps: &Gaps, found: Found) -> Result<Option<u64>, StoreError> {
        let mut is_outdated = false;
        let fired = self
            .judge_late(|engine, now| {
                is_outdated = self.divided.load(Ordering::Acquire) != gaps.divided;
                if is_outdated {
                    return (Vec::new(), Vec::new());
                }
                rejoin::rejoin(engine, found, now)
            })
            .await?;
        Ok((!is_outdated).then_some(fired))
    }
}

/// Whether an alert is judged by what is observed of its stock, and not by the clock or by what becomes known otherwise.
fn is_judged_by_sight(alert: &Alert) -> bool {
    matches!(
        alert.condition.kind().family(),
        ConditionFamily::Price | ConditionFamily::Technical | ConditionFamily::Volume | ConditionFamily::Fundamental
    )
}
