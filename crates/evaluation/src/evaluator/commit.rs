//! Evaluates, and commits the decisions in the same order.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::alerts::engine::{AlertAction, Decision, Engine, Event};
use ::market::Symbol;
use jiff::Timestamp;
use store::StoreError;
use store::model::{
    Epoch, EvaluationCommit, EventId, Firing, FiringResult, LatestQuote, LifecycleUpdate, RsiSideUpdate, Shard,
};

use super::Evaluator;
use super::backlog::{Backlog, FiredAlerts, PendingEvaluation};
use super::backlog::{before_repeated_alert, rejected_alerts, unwritten_alerts};
use super::event::EventComposer;
use super::expiry::Expiration;
use super::extended_prices::latest_extended_prices;
use super::inputs::EvaluationInputs;
use super::late_decisions::LateDecisions;
use super::lateness::Lateness;
use super::revision_guard::ReadGuard;
use super::sharded::{DividedDecisions, JudgedMessage};

/// The size of the first commit of an evaluation with many decisions, so that their notifications are not delayed
/// by the others.
const FIRST_COMMIT_SIZE: usize = 128;

impl Evaluator {
    /// Evaluates, and returns when the decisions are on disk.
    ///
    /// If the caller is dropped or the database fails meanwhile, the decisions stay in the backlog. The next evaluation
    /// commits them first.
    pub(crate) async fn evaluate<T>(
        self: &Arc<Self>,
        evaluate: impl FnOnce(&mut Engine, &mut Vec<Decision>) -> (EvaluationInputs, T),
    ) -> Result<T, StoreError> {
        Ok(self.evaluate_message(None, evaluate).await?.0)
    }

    /// As [`evaluate`](Self::evaluate), for a message of the bus. Also returns its shards that this node has judged as their owner.
    pub(crate) async fn evaluate_message<T>(
        self: &Arc<Self>,
        message: Option<&JudgedMessage>,
        evaluate: impl FnOnce(&mut Engine, &mut Vec<Decision>) -> (EvaluationInputs, T),
    ) -> Result<(T, Vec<(Shard, Epoch)>), StoreError> {
        let mut backlog = self.backlog.lock().await;
        self.commit(&mut backlog).await?;
        let result = self.evaluate_into(&mut backlog, message, evaluate);
        self.commit(&mut backlog).await?;
        self.arm_refused().await?;
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
        Ok(self.commit(&mut backlog).await?.late)
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
        let (mut symbols, mut late) = merge(&mut engine, at);
        in_time.extend(late.in_time);
        let (fence, alert_shards) = self.keep_owned_late(
            &engine,
            &mut symbols,
            [&mut in_time, &mut late.firings, &mut late.states],
        );
        let quotes = self.latest_quotes(&engine, symbols);
        drop(engine);
        let judged_at = self.clock.now();
        let in_time = PendingEvaluation {
            decisions: in_time,
            fence: fence.clone(),
            alert_shards: alert_shards.clone(),
            judged_at: Some(judged_at),
            ..PendingEvaluation::default()
        };
        let firings = PendingEvaluation {
            decisions: late.firings,
            fence: fence.clone(),
            alert_shards: alert_shards.clone(),
            judged_at: Some(judged_at),
            missed_evaluated_at: Some(at),
            ..PendingEvaluation::default()
        };
        // In one commit: after a crash before it, the gap is evaluated again from the states before it.
        let states = PendingEvaluation {
            decisions: late.states,
            fence,
            alert_shards,
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
        message: Option<&JudgedMessage>,
        evaluate: impl FnOnce(&mut Engine, &mut Vec<Decision>) -> (EvaluationInputs, T),
    ) -> (T, Vec<(Shard, Epoch)>) {
        let mut decisions = std::mem::take(&mut *self.pending_decisions());
        let earlier = decisions.len();
        let mut engine = self.engine();
        let (mut observed, result) = evaluate(&mut engine, &mut decisions);
        let judged_at = self.clock.now();
        let DividedDecisions {
            now,
            fence,
            alert_shards,
            judged,
        } = self.divide(&engine, decisions, earlier, message, (&mut observed, judged_at));
        let quotes = self.latest_quotes(&engine, observed.symbols);
        let extended_prices = latest_extended_prices(&engine, observed.extended);
        drop(engine);
        let pending = PendingEvaluation {
            decisions: now,
            fence,
            alert_shards,
            judged_at: Some(judged_at),
            superseded: self.take_observed(&quotes),
            quotes,
            extended_prices,
            clock: observed.clock,
            progress: message.map_or_else(Vec::new, |message| message.progress_of(&judged)),
            ..PendingEvaluation::default()
        };
        // In a cluster, the states of rules and the prices that they belong to are written in one transaction, unless it would be too large.
        let first_commit_size = if self.is_single() {
            FIRST_COMMIT_SIZE
        } else {
            usize::MAX
        };
        self.enqueue(backlog, pending, first_commit_size);
        (result, judged)
    }

    pub(super) fn enqueue(&self, backlog: &mut Backlog, mut pending: PendingEvaluation, first_commit_size: usize) {
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
        let is_last = pending.decisions.is_empty();
        if is_last {
            commit.quotes = std::mem::take(&mut pending.quotes);
            commit.superseded = std::mem::take(&mut pending.superseded);
            commit.extended_prices = std::mem::take(&mut pending.extended_prices);
            commit.clock = pending.clock.take();
            commit.progress = std::mem::take(&mut pending.progress);
        }
        commit.fence = self.fence(&pending.fence);
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
            ..
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

    /// Commits the backlog, in order.
    pub(super) async fn commit(self: &Arc<Self>, backlog: &mut Backlog) -> Result<FiredAlerts, StoreError> {
        let mut alerts = FiredAlerts::default();
        while let Some(next) = backlog.0.front_mut() {
            let reading = self.revision_guard.begin_read();
            // A copy: the backlog keeps its own until the commit has succeeded.
            let committed = self
                .store
                .commit_evaluation(next.commit.clone(), Arc::new(EventComposer(Arc::clone(self))))
                .await;
            self.is_behind.store(committed.is_err(), Ordering::Release);
            let outcome = committed?;
            if outcome.lost_shards.is_empty() {
                self.expire_alerts(&next.expirations).await?;
                next.expirations.clear();
            }
            let rejected = rejected_alerts(&next.commit, &outcome.firings);
            let unwritten = unwritten_alerts(&next.commit, &outcome.firings);
            if !rejected.is_empty() {
                self.note_positions_of(&rejected).await;
            }
            let fired = self.apply_outcome(&next.commit, outcome.firings, &reading);
            alerts.all += fired;
            if next.missed_evaluated_at.is_some() {
                alerts.late += fired;
            }
            if !rejected.is_empty() {
                backlog.drop_decisions(&rejected);
            }
            let Some(next) = backlog.0.front_mut() else {
                break;
            };
            if !outcome.lost_shards.is_empty() {
                // The rest of the other shards is written next.
                self.lose_owned(&outcome.lost_shards, &next.fence);
                self.keep_rest_of_commit(next, &unwritten);
                continue;
            }
            if next.decisions.is_empty() && !next.has_observations() {
                backlog.0.pop_front();
            } else {
                self.prepare_commit(next, usize::MAX);
            }
        }
        Ok(alerts)
    }

    /// Applies the outcome of firings to the engine. Returns the number of firings that count.
    fn apply_outcome(&self, commit: &EvaluationCommit, settled: Vec<FiringResult>, reading: &ReadGuard<'_>) -> u64 {
        let (mut fired, mut stale) = (0, 0);
        for (firing, settled) in commit.firings.iter().zip(settled) {
            match settled {
                FiringResult::Fired(stored) => {
                    fired += 1;
                    if let Some(sharded) = &self.sharded {
                        sharded.note_own_change(stored.alert.symbol);
                    }
                    // A recurring alert stays active and is evaluated by its new revision. Any other alert is recorded as ended,
                    // for reads that are in progress.
                    self.apply_read(&stored.alert, reading);
                }
                FiringResult::Stale(Some(stored)) => {
                    stale += 1;
                    // After a rule's firing the engine evaluates the next revision, which is another one in the database.
                    let mut engine = self.engine();
                    if engine.revision(firing.alert) == Some(stored.alert.revision) {
                        let _ = engine.process(Event::Disarmed(firing.alert), firing.at, &mut Vec::new());
                    }
                    drop(engine);
                    self.apply_read(&stored.alert, reading);
                }
                FiringResult::Stale(None) => {
                    stale += 1;
                    self.forget_alert(firing.alert);
                }
                FiringResult::ShardLost => {}
            }
        }
        if !commit.firings.is_empty() {
            metrics::counter!("bellwether_firings_total").increment(fired);
            metrics::counter!("bellwether_firings_stale_total").increment(stale);
        }
        fired
    }

    pub(super) fn latest_quotes(&self, engine: &Engine, mut symbols: Vec<Symbol>) -> Vec<LatestQuote> {
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
