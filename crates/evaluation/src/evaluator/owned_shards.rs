//! The shards of this node in an evaluation: its decisions about them, their fence, and giving them up.

use std::collections::{HashMap, HashSet};

use ::alerts::engine::{Decision, Engine, Event};
use ::alerts::{Alert, AlertId, Revision, Status};
use ::market::Symbol;
use jiff::Timestamp;
use store::StoreError;
use store::model::{Epoch, Fence, Shard};

use super::Evaluator;
use super::backlog::PendingEvaluation;
use super::inputs::EvaluationInputs;
use super::sharded::{DividedDecisions, JudgedMessage, ShardedEvaluation};
use crate::cluster::held_shards::ShardRole;
use crate::cluster::shard_set::ShardSet;

impl Evaluator {
    /// Divides the decisions of an evaluation, and leaves of its observations only those of owned shards.
    pub(super) fn divide(
        &self,
        engine: &Engine,
        decisions: Vec<Decision>,
        earlier: usize,
        message: Option<&JudgedMessage>,
        (observed, judged_at): (&mut EvaluationInputs, Timestamp),
    ) -> DividedDecisions {
        let Some(sharded) = &self.sharded else {
            return DividedDecisions {
                now: decisions,
                ..DividedDecisions::default()
            };
        };
        let uptime = self.clock.uptime();
        let roles = sharded.roles_with_lease(uptime);
        let mut divided = sharded.divide(engine, decisions, earlier, message, (uptime, judged_at), &roles);
        let observed = ShardedEvaluation::keep_owned(observed, &roles);
        divided.fence.extend(observed);
        divided.fence.extend(divided.judged.iter().copied());
        divided
    }

    /// Leaves of the results of missed observations those of owned shards. Returns these shards, and those of the alerts. The standby
    /// does not keep the others: a period that was not evaluated is evaluated again.
    pub(super) fn keep_owned_late(
        &self,
        engine: &Engine,
        symbols: &mut Vec<Symbol>,
        decisions: [&mut Vec<Decision>; 3],
    ) -> (HashMap<Shard, Epoch>, HashMap<AlertId, Shard>) {
        let mut alert_shards = HashMap::new();
        let Some(sharded) = &self.sharded else {
            return (HashMap::new(), alert_shards);
        };
        let roles = sharded.roles_with_lease(self.clock.uptime());
        let mut observed = EvaluationInputs {
            symbols: std::mem::take(symbols),
            ..EvaluationInputs::default()
        };
        let mut fence = ShardedEvaluation::keep_owned(&mut observed, &roles);
        *symbols = observed.symbols;
        for decisions in decisions {
            decisions.retain(|decision| {
                let shard = Shard::of(engine.symbol(decision.stock));
                match roles[usize::from(shard.0)] {
                    ShardRole::Owner(epoch) => {
                        fence.insert(shard, epoch);
                        alert_shards.insert(decision.alert, shard);
                        return true;
                    }
                    ShardRole::Standby | ShardRole::Loading(_) => {
                        sharded.leave((decision.alert, decision.revision), shard);
                    }
                    ShardRole::Elsewhere => {}
                }
                false
            });
        }
        (fence, alert_shards)
    }

    /// Returns the fence of a commit; `None` if this process evaluates all alerts.
    pub(super) fn fence(&self, shards: &HashMap<Shard, Epoch>) -> Option<Fence> {
        let sharded = self.sharded.as_ref()?;
        Some(Fence {
            owner: sharded.node,
            shards: shards.iter().map(|(&shard, &epoch)| (shard, epoch)).collect(),
        })
    }

    /// Records that alerts have other revisions than the engine knows, and that it gets these now.
    pub(super) async fn note_positions_of(&self, alerts: &HashSet<AlertId>) {
        let Some(sharded) = &self.sharded else { return };
        let ids: Vec<AlertId> = alerts.iter().copied().collect();
        let known: HashMap<AlertId, i64> = match self.store.change_positions(&ids).await {
            Ok(known) => known
                .into_iter()
                .map(|change| (change.alert, change.position))
                .collect(),
            Err(error) => {
                tracing::warn!(%error, "positions of changes could not be read; no message fires these alerts for a while");
                HashMap::new()
            }
        };
        let mut positions = sharded.positions();
        for alert in alerts {
            let position = known.get(alert).copied().unwrap_or(i64::MAX);
            positions.note(*alert, position, self.clock.uptime());
        }
    }

    /// Records that an alert has changed at a position.
    pub(super) fn note_position(&self, alert: AlertId, position: i64) {
        if let Some(sharded) = &self.sharded {
            sharded.positions().note(alert, position, self.clock.uptime());
        }
    }

    /// Arms alerts again that a message was not allowed to fire.
    pub(super) async fn arm_refused(&self) -> Result<(), StoreError> {
        let Some(sharded) = &self.sharded else { return Ok(()) };
        let refused: HashMap<AlertId, Revision> = sharded.take_refused().into_iter().collect();
        if refused.is_empty() {
            return Ok(());
        }
        let ids: Vec<AlertId> = refused.keys().copied().collect();
        let stored = self.store.alerts_by_id(&ids).await;
        if stored.is_err() {
            sharded.add_refused(refused.clone());
        }
        let stored = stored?;
        let is_newer = |alert: &Alert| refused.get(&alert.id) != Some(&alert.revision);
        let newer = stored
            .iter()
            .map(|stored| &stored.alert)
            .filter(|alert| is_newer(alert));
        let newer: HashSet<AlertId> = newer.map(|alert| alert.id).collect();
        if !newer.is_empty() {
            self.note_positions_of(&newer).await;
        }
        for stored in stored.iter().filter(|stored| stored.alert.status == Status::Active) {
            self.replace_alert(&stored.alert);
        }
        Ok(())
    }

    /// Gives up owned shards that a fence has refused, unless the node has got them again in another epoch.
    pub(super) fn lose_owned(&self, lost: &[Shard], fence: &HashMap<Shard, Epoch>) {
        let lost = lost
            .iter()
            .copied()
            .filter(|shard| self.owns_as(*shard, fence.get(shard).copied()));
        self.lose_shards(&lost.collect());
    }

    /// Leaves of an evaluation whose fence is lost only what is not written yet and belongs to shards that this node still owns. The firings
    /// of the `unwritten` alerts are not written.
    pub(super) fn keep_rest_of_commit(&self, pending: &mut PendingEvaluation, unwritten: &HashSet<AlertId>) {
        pending.fence.retain(|shard, epoch| self.owns_as(*shard, Some(*epoch)));
        let (fence, alert_shards) = (&pending.fence, &pending.alert_shards);
        let keeps = |alert: AlertId, revision: Revision| {
            let shard = alert_shards.get(&alert).copied();
            let is_owned = shard.is_some_and(|shard| fence.contains_key(&shard));
            if let Some(shard) = shard.filter(|_| !is_owned) {
                self.leave_unwritten((alert, revision), shard);
            }
            is_owned
        };
        let commit = &mut pending.commit;
        commit
            .firings
            .retain(|firing| unwritten.contains(&firing.alert) && keeps(firing.alert, firing.revision));
        commit.lifecycles.retain(|update| keeps(update.alert, update.revision));
        commit.sides.retain(|update| keeps(update.alert, update.revision));
        pending
            .decisions
            .retain(|decision| keeps(decision.alert, decision.revision));
        pending
            .expirations
            .retain(|expiration| keeps(expiration.alert, expiration.revision));
        // Those of this commit, and those of a later one.
        let is_owned = |symbol: Symbol| fence.contains_key(&Shard::of(symbol));
        for quotes in [&mut commit.quotes, &mut pending.quotes] {
            quotes.retain(|quote| is_owned(quote.symbol));
        }
        for superseded in [&mut commit.superseded, &mut pending.superseded] {
            superseded.retain(|quote| is_owned(quote.symbol));
        }
        for prices in [&mut commit.extended_prices, &mut pending.extended_prices] {
            prices.retain(|price| is_owned(price.symbol));
        }
        for progress in [&mut commit.progress, &mut pending.progress] {
            progress.retain(|progress| fence.contains_key(&progress.shard));
        }
        commit.fence = self.fence(fence);
    }

    /// Leaves a decision that a fence has refused to the new owner of its shard. If this node is its standby by now and takes it over later,
    /// it arms the alert as it is stored. The alerts of a shard that it does not hold are read again.
    fn leave_unwritten(&self, decided: (AlertId, Revision), shard: Shard) {
        if let Some(sharded) = &self.sharded
            && sharded.held.role(shard) != ShardRole::Elsewhere
        {
            sharded.leave(decided, shard);
        }
    }

    /// Whether this node owns a shard in an epoch.
    pub(super) fn owns_as(&self, shard: Shard, epoch: Option<Epoch>) -> bool {
        let sharded = self.sharded.as_ref();
        sharded.is_some_and(|sharded| epoch.is_some_and(|epoch| sharded.held.role(shard) == ShardRole::Owner(epoch)))
    }

    /// Gives up shards that belong to other nodes by now.
    pub(crate) fn lose_shards(&self, lost: &ShardSet) {
        let Some(sharded) = &self.sharded else { return };
        for shard in lost.iter() {
            sharded.held.lose(shard);
        }
        sharded.delayed().forget(lost);
        sharded.forget_left_in(lost);
        let now = self.engine_now();
        let mut engine = self.engine();
        for alert in engine.armed_on(|symbol| lost.contains(Shard::of(symbol))) {
            // An armed alert is always disarmed.
            let _ = engine.process(Event::Disarmed(alert), now, &mut Vec::new());
        }
    }
}
