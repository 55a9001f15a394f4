//! Evaluates, and commits the decisions in the same order.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::alerts::AlertId;
use ::alerts::engine::{AlertAction, Decision, Engine, Event};
use ::market::Symbol;
use jiff::Timestamp;
use store::StoreError;
use store::model::{
    EvaluationCommit, EventId, Firing, FiringResult, LatestExtendedPrice, LatestQuote, LifecycleUpdate, RsiSideUpdate,
    SupersededQuote,
};

use super::Evaluator;
use super::event::EventComposer;
use super::expiry::Expiration;
use super::extended_prices::latest_extended_prices;
use super::late_decisions::LateDecisions;
use super::lateness::Lateness;
use super::revision_guard::ReadGuard;

/// The size of the first commit of an evaluation with many decisions, so that their notifications are not delayed
/// by the others.
const FIRST_COMMIT_SIZE: usize = 128;

/// Evaluations that are not on disk yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Backlog(VecDeque<PendingEvaluation>);

/// The part of an evaluation that is not on disk yet.
#[derive(Debug, Default)]
pub(super) struct PendingEvaluation {
    /// The decisions that are being committed.
    commit: EvaluationCommit,
    /// The alerts that have expired, which are written after the commit.
    expirations: Vec<Expiration>,
    /// The decisions that follow.
    decisions: Vec<Decision>,
    /// When the decisions were made.
    judged_at: Option<Timestamp>,
    /// The observations, which are committed with the last decisions.
    quotes: Vec<LatestQuote>,
    /// The stored observations that they replace although these are dated later.
    superseded: Vec<SupersededQuote>,
    /// The observations in extended hours, which are committed with the last decisions, too.
    extended_prices: Vec<LatestExtendedPrice>,
    pub(super) clock: Option<Timestamp>,
    /// The instant of the evaluation if it evaluated missed observations. Its firings are late.
    pub(super) missed_evaluated_at: Option<Timestamp>,
}

impl PendingEvaluation {
    /// Returns whether the observations are not part of a commit yet.
    const fn has_observations(&self) -> bool {
        !self.quotes.is_empty()
            || !self.superseded.is_empty()
            || !self.extended_prices.is_empty()
            || self.clock.is_some()
    }
}

impl Backlog {
    /// Drops all later decisions about alerts whose firing was rejected: they were made for a revision that is not the present one.
    fn drop_decisions(&mut self, rejected: &HashSet<AlertId>) {
        for pending in &mut self.0 {
            pending.decisions.retain(|decision| !rejected.contains(&decision.alert));
        }
    }
}

/// Returns the number of decisions before the first one about an alert that has fired before it. That one depends on the firing,
/// so it is committed afterwards.
fn before_repeated_alert(decisions: &[Decision]) -> usize {
    let mut fired = HashSet::new();
    let repeated = decisions.iter().position(|decision| {
        let has_fired = fired.contains(&decision.alert);
        if matches!(decision.action, AlertAction::FireRule { is_last: false, .. }) {
            fired.insert(decision.alert);
        }
        has_fired
    });
    repeated.unwrap_or(decisions.len())
}

/// Returns the alerts whose firing was rejected.
fn rejected_alerts(commit: &EvaluationCommit, results: &[FiringResult]) -> HashSet<AlertId> {
    let results = commit.firings.iter().zip(results);
    let rejected = results.filter(|(_, result)| matches!(result, FiringResult::Stale(_)));
    rejected.map(|(firing, _)| firing.alert).collect()
}

/// The inputs of an evaluation.
#[derive(Debug, Default)]
pub(crate) struct EvaluationInputs {
    /// The stocks with an observed price.
    pub(crate) symbols: Vec<Symbol>,
    /// The stocks with an observed price in extended hours.
    pub(crate) extended: Vec<Symbol>,
    /// The instant up to which the clock was processed, if it was.
    pub(crate) clock: Option<Timestamp>,
}

impl Evaluator {
    /// Evaluates, and returns when the decisions are on disk.
    ///
    /// If the caller is dropped or the database fails meanwhile, the decisions stay in the backlog. The next evaluation
    /// commits them first.
    pub(crate) async fn evaluate<T>(
        self: &Arc<Self>,
        evaluate: impl FnOnce(&mut Engine, &mut Vec<Decision>) -> (EvaluationInputs, T),
    ) -> Result<T, StoreError> {
        let mut backlog = self.backlog.lock().await;
        self.commit(&mut backlog).await?;
        let result = self.evaluate_into(&mut backlog, evaluate);
        self.commit(&mut backlog).await?;
        Ok(result)
    }

    /// Merges missed observations into the engine, and returns when their decisions are on disk: the number of alerts
    /// that have fired. `merge` returns the stocks with a new last price, and the late decisions.
    pub(super) async fn evaluate_late(
        self: &Arc<Self>,
        merge: impl FnOnce(&mut Engine, Timestamp) -> (Vec<Symbol>, LateDecisions),
    ) -> Result<u64, StoreError> {
        let mut backlog = self.backlog.lock().await;
        self.commit(&mut backlog).await?;
        self.evaluate_late_into(&mut backlog, merge);
        self.commit(&mut backlog).await
    }

    /// Commits the backlog.
    pub async fn flush(self: &Arc<Self>) -> Result<(), StoreError> {
        self.evaluate(|_, _| (EvaluationInputs::default(), ())).await
    }

    fn evaluate_late_into(
        &self,
        backlog: &mut Backlog,
        merge: impl FnOnce(&mut Engine, Timestamp) -> (Vec<Symbol>, LateDecisions),
    ) {
        let mut in_time = std::mem::take(&mut *self.pending_decisions());
        let mut engine = self.engine();
        let at = self.engine_now();
        let (symbols, late) = merge(&mut engine, at);
        in_time.extend(late.in_time);
        let quotes = self.latest_quotes(&engine, symbols);
        drop(engine);
        let judged_at = self.clock.now();
        let in_time = PendingEvaluation {
            decisions: in_time,
            judged_at: Some(judged_at),
            ..PendingEvaluation::default()
        };
        let firings = PendingEvaluation {
            decisions: late.firings,
            judged_at: Some(judged_at),
            missed_evaluated_at: Some(at),
            ..PendingEvaluation::default()
        };
        // In one commit: after a crash before it, the gap is evaluated again from the states before it.
        let states = PendingEvaluation {
            decisions: late.states,
            superseded: self.take_observed(&quotes),
            quotes,
            missed_evaluated_at: Some(at),
            ..PendingEvaluation::default()
        };
        self.enqueue(backlog, in_time, FIRST_COMMIT_SIZE);
        self.enqueue(backlog, firings, FIRST_COMMIT_SIZE);
        self.enqueue(backlog, states, usize::MAX);
    }

    fn evaluate_into<T>(
        &self,
        backlog: &mut Backlog,
        evaluate: impl FnOnce(&mut Engine, &mut Vec<Decision>) -> (EvaluationInputs, T),
    ) -> T {
        let mut decisions = std::mem::take(&mut *self.pending_decisions());
        let mut engine = self.engine();
        let (observed, result) = evaluate(&mut engine, &mut decisions);
        let quotes = self.latest_quotes(&engine, observed.symbols);
        let extended_prices = latest_extended_prices(&engine, observed.extended);
        drop(engine);
        let pending = PendingEvaluation {
            decisions,
            judged_at: Some(self.clock.now()),
            superseded: self.take_observed(&quotes),
            quotes,
            extended_prices,
            clock: observed.clock,
            ..PendingEvaluation::default()
        };
        self.enqueue(backlog, pending, FIRST_COMMIT_SIZE);
        result
    }

    fn enqueue(&self, backlog: &mut Backlog, mut pending: PendingEvaluation, first_commit_size: usize) {
        if !pending.decisions.is_empty() || pending.has_observations() {
            self.prepare_commit(&mut pending, first_commit_size);
            backlog.0.push_back(pending);
        }
    }

    /// Builds a commit of the next decisions, at most `at_most`. The last commit includes the observations.
    fn prepare_commit(&self, pending: &mut PendingEvaluation, at_most: usize) {
        let until = before_repeated_alert(&pending.decisions).min(at_most);
        let later = pending.decisions.split_off(until.min(pending.decisions.len()));
        let mut commit = EvaluationCommit::default();
        for decision in std::mem::replace(&mut pending.decisions, later) {
            let lateness = Lateness::of(&decision, pending);
            self.add_to_commit(
                &mut commit,
                &mut pending.expirations,
                decision,
                lateness,
                pending.judged_at,
            );
        }
        if pending.decisions.is_empty() {
            commit.quotes = std::mem::take(&mut pending.quotes);
            commit.superseded = std::mem::take(&mut pending.superseded);
            commit.extended_prices = std::mem::take(&mut pending.extended_prices);
            commit.clock = pending.clock.take();
        }
        pending.commit = commit;
    }

    fn add_to_commit(
        &self,
        commit: &mut EvaluationCommit,
        pending_expirations: &mut Vec<Expiration>,
        decision: Decision,
        lateness: Lateness,
        judged_at: Option<Timestamp>,
    ) {
        let Decision {
            alert,
            revision,
            at,
            action,
        } = decision;
        let firing = |price, metric, reason| Firing {
            alert,
            revision,
            at: lateness.evaluated_at().unwrap_or(at),
            crossed_at: lateness.evaluated_at().map(|_| at),
            price,
            metric,
            reason,
            terms: Vec::new(),
            lifecycle: None,
            judged_at,
            event: EventId(self.random.uuid()),
        };
        match action {
            AlertAction::Fire { price, reason } => {
                let text = lateness.explain(&reason, at);
                commit.firings.push(firing(price, reason.metric(), text));
            }
            AlertAction::FireRule {
                price, reason, state, ..
            } => {
                let text = lateness.explain(&*reason, at);
                commit.firings.push(Firing {
                    terms: reason.terms().to_vec(),
                    lifecycle: Some(state),
                    ..firing(price, reason.metric(), text)
                });
            }
            AlertAction::SetLifecycle { state } => commit.lifecycles.push(LifecycleUpdate { alert, revision, state }),
            AlertAction::Expire { at } => pending_expirations.push(Expiration { alert, revision, at }),
            AlertAction::SetRsiSide { side } => commit.sides.push(RsiSideUpdate { alert, revision, side }),
            // A split changes alerts in the database first. The engine gets each of them afterwards.
            AlertAction::Adjust { .. } => {}
        }
    }

    /// Commits the backlog, in order. Returns the number of alerts that have fired late.
    pub(super) async fn commit(self: &Arc<Self>, backlog: &mut Backlog) -> Result<u64, StoreError> {
        let mut fired_late = 0;
        while let Some(next) = backlog.0.front_mut() {
            let reading = self.revision_guard.begin_read();
            // A copy: the backlog keeps its own until the commit has succeeded.
            let committed = self
                .store
                .commit_evaluation(next.commit.clone(), Arc::new(EventComposer(Arc::clone(self))))
                .await;
            self.is_behind.store(committed.is_err(), Ordering::Release);
            let outcome = committed?;
            self.expire_alerts(&next.expirations).await?;
            next.expirations.clear();
            let rejected = rejected_alerts(&next.commit, &outcome.firings);
            let fired = self.apply_outcome(&next.commit, outcome.firings, &reading);
            if next.missed_evaluated_at.is_some() {
                fired_late += fired;
            }
            if !rejected.is_empty() {
                backlog.drop_decisions(&rejected);
            }
            let Some(next) = backlog.0.front_mut() else {
                break;
            };
            if next.decisions.is_empty() && !next.has_observations() {
                backlog.0.pop_front();
            } else {
                self.prepare_commit(next, usize::MAX);
            }
        }
        Ok(fired_late)
    }

    /// Applies the outcome of firings to the engine. Returns the number of firings that count.
    fn apply_outcome(&self, commit: &EvaluationCommit, settled: Vec<FiringResult>, reading: &ReadGuard<'_>) -> u64 {
        let mut fired = 0;
        for (firing, settled) in commit.firings.iter().zip(settled) {
            match settled {
                FiringResult::Fired(stored) => {
                    fired += 1;
                    // A recurring alert stays active and is evaluated by its new revision. Any other alert is recorded as ended,
                    // for reads that are in progress.
                    self.apply_read(&stored.alert, reading);
                }
                FiringResult::Stale(Some(stored)) => {
                    // After a rule's firing the engine evaluates the next revision, which is another one in the database.
                    let mut engine = self.engine();
                    if engine.revision(firing.alert) == Some(stored.alert.revision) {
                        let _ = engine.process(Event::Disarmed(firing.alert), firing.at, &mut Vec::new());
                    }
                    drop(engine);
                    self.apply_read(&stored.alert, reading);
                }
                FiringResult::Stale(None) => self.remove_alert(firing.alert),
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
                bid: so_far.bid,
                ask: so_far.ask,
                vwap: so_far.vwap,
            })
        });
        quotes.collect()
    }
}
