//! The gate: judging, and committing what was decided, in one order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::alerts::engine::{AlertAction, Decision, Engine};
use ::market::Symbol;
use jiff::Timestamp;
use store::StoreError;
use store::model::{EvaluationCommit, EventId, Firing, FiringResult, LatestQuote, RsiSideUpdate, SupersededQuote};

use super::lateness::Lateness;
use super::telling::Reading;
use super::{Evaluator, event};

/// Of many decisions so many are committed before the others, so that the first are told at once.
const HEAD: usize = 128;

/// What was decided and is not on disk yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Backlog(VecDeque<Judged>);

/// What came of one judging, as far as it is not on disk yet.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// What is being committed.
    commit: EvaluationCommit,
    /// What comes after it.
    decisions: Vec<Decision>,
    /// What was observed, which comes with the last.
    quotes: Vec<LatestQuote>,
    /// The stored observations that they replace though these are dated later.
    superseded: Vec<SupersededQuote>,
    pub(super) clock: Option<Timestamp>,
    /// Set if it was decided by what was missed: the instant at which that was judged. Its firings are late.
    pub(super) looked_back_at: Option<Timestamp>,
}

/// What a judging has looked at.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// The stocks of which a price was observed.
    pub(crate) symbols: Vec<Symbol>,
    /// The instant up to which the clock was processed, if it was.
    pub(crate) clock: Option<Timestamp>,
}

impl Evaluator {
    /// Lets the engine judge, and returns when what it decided is on disk.
    ///
    /// If the caller is dropped or the database fails meanwhile, the decisions stay in the backlog; the next judging
    /// commits them first.
    ///
    /// # Errors
    /// [`StoreError`] when the database did not take what was decided.
    pub(crate) async fn judge<T>(
        self: &Arc<Self>,
        judge: impl FnOnce(&mut Engine, &mut Vec<Decision>) -> (Observed, T),
    ) -> Result<T, StoreError> {
        let mut backlog = self.gate.lock().await;
        self.commit(&mut backlog).await?;
        let result = self.judge_into(&mut backlog, judge);
        self.commit(&mut backlog).await?;
        Ok(result)
    }

    /// Lets the engine know what was missed, and returns when what that has decided elsewhere is on disk: how many alerts
    /// have fired by it. `rejoin` answers the stocks of which a price became known, and the decisions, which are late.
    ///
    /// # Errors
    /// As of [`Self::judge`].
    pub(super) async fn judge_late(
        self: &Arc<Self>,
        rejoin: impl FnOnce(&mut Engine, Timestamp) -> (Vec<Symbol>, Vec<Decision>),
    ) -> Result<u64, StoreError> {
        let mut backlog = self.gate.lock().await;
        self.commit(&mut backlog).await?;
        self.rejoin_into(&mut backlog, rejoin);
        self.commit(&mut backlog).await
    }

    /// Commits what was decided and is not on disk yet.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not take it.
    pub(crate) async fn flush(self: &Arc<Self>) -> Result<(), StoreError> {
        self.judge(|_, _| (Observed::default(), ())).await
    }

    fn rejoin_into(
        &self,
        backlog: &mut Backlog,
        rejoin: impl FnOnce(&mut Engine, Timestamp) -> (Vec<Symbol>, Vec<Decision>),
    ) {
        let aside = std::mem::take(&mut *self.aside());
        let mut engine = self.engine();
        let at = self.engine_now();
        let (symbols, late) = rejoin(&mut engine, at);
        let quotes = self.latest_quotes(&engine, symbols);
        drop(engine);
        let aside = Judged {
            decisions: aside,
            ..Judged::default()
        };
        let late = Judged {
            decisions: late,
            superseded: self.take_observed(&quotes),
            quotes,
            looked_back_at: Some(at),
            ..Judged::default()
        };
        self.put_into(backlog, aside);
        self.put_into(backlog, late);
    }

    fn judge_into<T>(
        &self,
        backlog: &mut Backlog,
        judge: impl FnOnce(&mut Engine, &mut Vec<Decision>) -> (Observed, T),
    ) -> T {
        let mut decisions = std::mem::take(&mut *self.aside());
        let mut engine = self.engine();
        let (observed, result) = judge(&mut engine, &mut decisions);
        let quotes = self.latest_quotes(&engine, observed.symbols);
        drop(engine);
        let judged = Judged {
            decisions,
            superseded: self.take_observed(&quotes),
            quotes,
            clock: observed.clock,
            ..Judged::default()
        };
        self.put_into(backlog, judged);
        result
    }

    fn put_into(&self, backlog: &mut Backlog, mut judged: Judged) {
        if !judged.decisions.is_empty() || !judged.quotes.is_empty() || judged.clock.is_some() {
            self.take_up(&mut judged, HEAD);
            backlog.0.push_back(judged);
        }
    }

    /// Makes a commit of the next decisions, at most so many; with the last comes what was observed.
    fn take_up(&self, judged: &mut Judged, at_most: usize) {
        let later = judged.decisions.split_off(at_most.min(judged.decisions.len()));
        let mut commit = EvaluationCommit::default();
        for decision in std::mem::replace(&mut judged.decisions, later) {
            let lateness = Lateness::of(&decision, judged);
            self.note(&mut commit, &decision, lateness);
        }
        if judged.decisions.is_empty() {
            commit.quotes = std::mem::take(&mut judged.quotes);
            commit.superseded = std::mem::take(&mut judged.superseded);
            commit.clock = judged.clock.take();
        }
        judged.commit = commit;
    }

    fn note(&self, commit: &mut EvaluationCommit, decision: &Decision, lateness: Lateness) {
        let Decision {
            alert,
            revision,
            at,
            action,
        } = *decision;
        match action {
            AlertAction::Fire { price, reason } => commit.firings.push(Firing {
                alert,
                revision,
                at: lateness.judged_at().unwrap_or(at),
                crossed_at: lateness.judged_at().map(|_| at),
                price,
                metric: reason.metric(),
                reason: lateness.explain(&reason, at),
                event: EventId(self.chance.uuid()),
            }),
            AlertAction::SetRsiSide { side } => commit.sides.push(RsiSideUpdate { alert, revision, side }),
            // Splits move alerts in the database first, and the engine is told each one as it is afterwards.
            AlertAction::Adjust { .. } => {}
        }
    }

    /// Commits what is in the backlog, in order. Answers how many alerts have fired late.
    pub(super) async fn commit(self: &Arc<Self>, backlog: &mut Backlog) -> Result<u64, StoreError> {
        let mut fired_late = 0;
        while let Some(next) = backlog.0.front_mut() {
            let reading = self.telling.reading();
            // A copy, because the backlog keeps its own until the database has said yes.
            let committed = self
                .store
                .commit_evaluation(next.commit.clone(), event::composer(self))
                .await;
            self.is_behind.store(committed.is_err(), Ordering::Release);
            let outcome = committed?;
            let fired = self.settle(&next.commit, outcome.firings, &reading);
            if next.looked_back_at.is_some() {
                fired_late += fired;
            }
            if next.decisions.is_empty() {
                backlog.0.pop_front();
            } else {
                self.take_up(next, usize::MAX);
            }
        }
        Ok(fired_late)
    }

    /// Tells the engine what became of its firings. Answers how many of them count.
    fn settle(&self, commit: &EvaluationCommit, settled: Vec<FiringResult>, reading: &Reading<'_>) -> u64 {
        let mut fired = 0;
        for (firing, settled) in commit.firings.iter().zip(settled) {
            match settled {
                FiringResult::Fired(stored) => {
                    fired += 1;
                    // What recurs is active still, and judged by its new revision from now on; of everything else it is
                    // noted that it is not, for those who have read it as it was before.
                    self.tell_read(&stored.alert, reading);
                }
                FiringResult::Stale(Some(stored)) => drop(self.tell_read(&stored.alert, reading)),
                FiringResult::Stale(None) => self.forget(firing.alert),
            }
        }
        if !commit.firings.is_empty() {
            metrics::counter!("bellwether_firings_total").increment(fired);
            let stale = u64::try_from(commit.firings.len()).unwrap_or(u64::MAX) - fired;
            metrics::counter!("bellwether_firings_stale_total").increment(stale);
        }
        fired
    }

    fn latest_quotes(&self, engine: &Engine, mut symbols: Vec<Symbol>) -> Vec<LatestQuote> {
        symbols.sort_unstable();
        symbols.dedup();
        let quotes = symbols.into_iter().filter_map(|symbol| {
            let so_far = engine.observed_session(symbol)?;
            Some(LatestQuote {
                symbol,
                session: so_far.date,
                open: so_far.open,
                high: so_far.high,
                low: so_far.low,
                last: so_far.last,
                volume: so_far.volume,
                at: so_far.last_at,
                made_at: Some(self.quote_times.of(symbol, so_far.last_at)),
            })
        });
        quotes.collect()
    }
}
