//! The gate: judging, and committing what was decided, in one order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::alerts::engine::{Decision, Engine, Verdict};
use ::market::Symbol;
use jiff::Timestamp;
use store::StoreError;
use store::model::{EvaluationCommit, EventId, Firing, LatestQuote, Settled, SideDecided};

use super::telling::Reading;
use super::{Evaluator, event};

/// Of many decisions so many are committed before the others, so that the first are told at once.
const HEAD: usize = 128;

/// What was decided and is not on disk yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Backlog(VecDeque<Judged>);

/// What came of one judging, as far as it is not on disk yet.
#[derive(Debug)]
struct Judged {
    /// What is being committed.
    commit: EvaluationCommit,
    /// What comes after it.
    decisions: Vec<Decision>,
    /// What was observed, which comes with the last.
    quotes: Vec<LatestQuote>,
    clock: Option<Timestamp>,
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

    /// Commits what was decided and is not on disk yet.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not take it.
    pub(crate) async fn flush(self: &Arc<Self>) -> Result<(), StoreError> {
        self.judge(|_, _| (Observed::default(), ())).await
    }

    fn judge_into<T>(
        &self,
        backlog: &mut Backlog,
        judge: impl FnOnce(&mut Engine, &mut Vec<Decision>) -> (Observed, T),
    ) -> T {
        let mut decisions = std::mem::take(&mut *self.aside());
        let mut engine = self.engine();
        let (observed, result) = judge(&mut engine, &mut decisions);
        let quotes = latest_quotes(&engine, observed.symbols);
        drop(engine);
        if !decisions.is_empty() || !quotes.is_empty() || observed.clock.is_some() {
            let rest = decisions.split_off(HEAD.min(decisions.len()));
            let mut judged = Judged {
                commit: EvaluationCommit::default(),
                decisions,
                quotes,
                clock: observed.clock,
            };
            self.take_up(&mut judged, rest);
            backlog.0.push_back(judged);
        }
        result
    }

    /// Makes a commit of the decisions at hand, and goes on to those that come after them.
    fn take_up(&self, judged: &mut Judged, after: Vec<Decision>) {
        let is_last = after.is_empty();
        let mut commit = EvaluationCommit::default();
        for decision in std::mem::replace(&mut judged.decisions, after) {
            self.note(&mut commit, &decision);
        }
        if is_last {
            commit.quotes = std::mem::take(&mut judged.quotes);
            commit.clock = judged.clock.take();
        }
        judged.commit = commit;
    }

    fn note(&self, commit: &mut EvaluationCommit, decision: &Decision) {
        let Decision {
            alert,
            revision,
            at,
            verdict,
        } = *decision;
        match verdict {
            Verdict::Fire { price, reason } => commit.firings.push(Firing {
                alert,
                revision,
                at,
                price,
                metric: reason.metric(),
                reason: reason.to_string(),
                event: EventId(self.chance.uuid()),
            }),
            Verdict::Decide { side } => commit.sides.push(SideDecided { alert, revision, side }),
            // Splits move alerts in the database first, and the engine is told each one as it is afterwards.
            Verdict::Adjust { .. } => {}
        }
    }

    /// Commits what is in the backlog, in order.
    pub(super) async fn commit(self: &Arc<Self>, backlog: &mut Backlog) -> Result<(), StoreError> {
        while let Some(next) = backlog.0.front_mut() {
            let reading = self.telling.reading();
            // A copy, because the backlog keeps its own until the database has said yes.
            let committed = self
                .store
                .commit_evaluation(next.commit.clone(), event::composer(self))
                .await;
            self.is_behind.store(committed.is_err(), Ordering::Release);
            let outcome = committed?;
            self.settle(&next.commit, outcome.firings, &reading);
            if next.decisions.is_empty() {
                backlog.0.pop_front();
            } else {
                self.take_up(next, Vec::new());
            }
        }
        Ok(())
    }

    /// Tells the engine what became of its firings.
    fn settle(&self, commit: &EvaluationCommit, settled: Vec<Settled>, reading: &Reading<'_>) {
        let mut fired = 0;
        for (firing, settled) in commit.firings.iter().zip(settled) {
            match settled {
                Settled::Fired(stored) => {
                    fired += 1;
                    // What recurs is active still, and judged by its new revision from now on; of everything else it is
                    // noted that it is not, for those who have read it as it was before.
                    self.tell_read(&stored.alert, reading);
                }
                Settled::Stale(Some(stored)) => drop(self.tell_read(&stored.alert, reading)),
                Settled::Stale(None) => self.forget(firing.alert),
            }
        }
        if !commit.firings.is_empty() {
            metrics::counter!("bellwether_firings_total").increment(fired);
            let stale = u64::try_from(commit.firings.len()).unwrap_or(u64::MAX) - fired;
            metrics::counter!("bellwether_firings_stale_total").increment(stale);
        }
    }
}

fn latest_quotes(engine: &Engine, mut symbols: Vec<Symbol>) -> Vec<LatestQuote> {
    symbols.sort_unstable();
    symbols.dedup();
    let quotes = symbols.into_iter().filter_map(|symbol| {
        let so_far = engine.session_so_far(symbol)?;
        Some(LatestQuote {
            symbol,
            session: so_far.date,
            open: so_far.open,
            high: so_far.high,
            low: so_far.low,
            last: so_far.last,
            volume: so_far.volume,
            at: so_far.last_at,
        })
    });
    quotes.collect()
}
