//! The node's membership: renews its lease, and carries out its part of the plan.
//!
//! Leases go by the database's clock. The node itself counts from the moment before each renewal, by its uptime, so it always takes its
//! lease to end earlier than the others do.
//!
//! When the lease has ended, because the node was stopped or cut off from the database, it owns nothing any more. It joins again, and
//! takes shards only after the duration of a lease: by then the others have taken over, or it sees that they have not.

use std::sync::Arc;

use clock::Clock;
use foundation::{Ports, Role, Roles};
use jiff::SignedDuration;
use store::StoreError;
use store::model::{ClusterNode, ClusterState, Epoch, Shard, ShardState};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Cluster;
use super::dispatch_shards::{DispatchAssignment, dispatch_shards};
use super::held_shards::ShardRole;
use super::loading::{LoadPurpose, LoadRequest, Loader};
use super::plan::{OwnNode, Plan, plan};
use super::readiness::MAX_STANDSTILL;
use super::shard_set::ShardSet;
use crate::evaluator::Evaluator;

/// The number of renewals within the duration of a lease.
const RENEWALS_PER_LEASE: i32 = 6;

/// The task that keeps a node in its cluster.
pub(super) struct Membership {
    cluster: Arc<Cluster>,
    evaluator: Arc<Evaluator>,
    clock: Arc<dyn Clock>,
    time: Arc<dyn Clock>,
    /// From when on the node takes shards, by its uptime. `None` while it is not a member.
    takes_from: Option<SignedDuration>,
    loads: mpsc::UnboundedSender<LoadRequest>,
    requests: Option<mpsc::UnboundedReceiver<LoadRequest>>,
}

impl Membership {
    pub(super) fn new(cluster: Arc<Cluster>, ports: &Ports, evaluator: &Arc<Evaluator>) -> Self {
        let (loads, requests) = mpsc::unbounded_channel();
        Self {
            cluster,
            evaluator: Arc::clone(evaluator),
            clock: Arc::clone(&ports.clock),
            time: Arc::clone(&ports.network.time),
            takes_from: None,
            loads,
            requests: Some(requests),
        }
    }

    /// Renews the lease until `stop`, and leaves the cluster then.
    pub(super) async fn run(mut self, tasks: TaskTracker, stop: CancellationToken) {
        if let Some(requests) = self.requests.take() {
            let loader = Loader {
                cluster: Arc::clone(&self.cluster),
                evaluator: Arc::clone(&self.evaluator),
                time: Arc::clone(&self.time),
            };
            tasks.spawn(loader.run(requests, stop.clone()));
        }
        let interval = (self.cluster.config.lease_ttl / RENEWALS_PER_LEASE).unsigned_abs();
        let mut is_first = true;
        loop {
            if let Err(error) = self.step(is_first).await {
                tracing::warn!(%error, "the node's lease could not be renewed");
            }
            is_first = is_first && self.takes_from.is_none();
            self.measure();
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.time.sleep(interval) => {}
            }
        }
        self.leave().await;
    }

    /// Renews the lease, or joins, and carries out the next steps of the plan.
    async fn step(&mut self, is_first: bool) -> Result<(), StoreError> {
        let (node, ttl) = (self.cluster.node(), self.cluster.config.lease_ttl);
        let uptime = self.clock.uptime();
        let is_evaluator = self.cluster.roles().has(Role::Evaluator);
        if is_evaluator && !self.cluster.sharded.has_progress_since(uptime - MAX_STANDSTILL) {
            tracing::error!("the evaluation makes no progress, so this node lets its lease end");
            return Ok(());
        }
        let tables = &self.cluster.tables;
        let mut state = None;
        if self.takes_from.is_some() {
            state = tables.renew(self.cluster.id, node.is_connected, ttl).await?;
        }
        if state.is_none() {
            if self.takes_from.take().is_some() {
                tracing::warn!("the node's lease had ended; it joins the cluster again");
            }
            self.cluster.dispatch_share.end();
            if !is_first && self.is_replaced().await? {
                let held = Shard::all().filter(|shard| self.cluster.sharded.held.role(*shard) != ShardRole::Elsewhere);
                self.evaluator.lose_shards(&held.collect());
                tracing::error!(
                    node = node.name,
                    "another process is the node of this name, so this one evaluates and sends nothing; set a different cluster.node_id for each"
                );
                return Ok(());
            }
            tables.join(&node, ttl).await?;
            // The state is read after the node has joined, so that its shards are not claimed in between.
            state = tables.renew(self.cluster.id, node.is_connected, ttl).await?;
            let wait = if is_first { SignedDuration::ZERO } else { ttl };
            // Not from the beginning of this step: the process may have been stopped since.
            self.takes_from = state.is_some().then(|| self.clock.uptime() + wait);
        }
        let Some(state) = state else { return Ok(()) };
        // Before this, so that decisions about shards that others have taken are not committed as their owner's.
        let own_plan = self.plan(&state);
        self.lose(&own_plan);
        self.cluster.takeovers.keep_owned(self.cluster.id, &state.shards);
        let sharded = Arc::clone(&self.cluster.sharded);
        sharded.extend_lease(uptime + ttl);
        let DispatchAssignment { shards, dispatchers } = dispatch_shards(&state.nodes, self.cluster.id);
        let now = self.clock.uptime();
        self.cluster
            .dispatch_share
            .publish(shards, dispatchers, now, uptime + ttl);
        self.carry_out(own_plan, &state).await
    }

    /// Whether another process has joined as the node of this name.
    async fn is_replaced(&self) -> Result<bool, StoreError> {
        let Cluster { id, tables, config, .. } = &*self.cluster;
        let state = tables.state().await?;
        Ok(state
            .nodes
            .iter()
            .any(|node| node.name == config.name && node.id != *id))
    }

    fn plan(&self, state: &ClusterState) -> Plan {
        let is_evaluator = |node: &&ClusterNode| Roles::from_bits(node.roles).has(Role::Evaluator);
        let evaluators: Vec<&ClusterNode> = state.nodes.iter().filter(is_evaluator).collect();
        let own = OwnNode {
            id: self.cluster.id,
            roles: &self.cluster.sharded.held.roles(),
            may_claim: self.takes_from.is_some_and(|from| self.clock.uptime() >= from),
        };
        plan(state, &evaluators, own)
    }

    /// Gives up what belongs to other nodes by now.
    fn lose(&self, plan: &Plan) {
        let lost: ShardSet = plan.lost.iter().copied().collect();
        if !lost.is_empty() {
            self.evaluator.lose_shards(&lost);
        }
    }

    async fn carry_out(&self, plan: Plan, state: &ClusterState) -> Result<(), StoreError> {
        let cluster = Arc::clone(&self.cluster);
        let Cluster {
            id, tables, sharded, ..
        } = &*cluster;
        let mut owned = plan.owned;
        if !plan.claim.is_empty() {
            owned.extend(tables.claim(*id, &plan.claim).await?);
        }
        self.own(owned, state);
        let mut standing_by: Vec<Shard> = Vec::new();
        for shard in plan.standing_by {
            match sharded.held.role(shard) {
                // It was handed over, so its alerts are judged already.
                ShardRole::Owner(_) => sharded.held.stand_by_for(shard),
                ShardRole::Elsewhere => standing_by.push(shard),
                ShardRole::Loading(_) | ShardRole::Standby => {}
            }
        }
        if !plan.ready.is_empty() {
            tables.standby_ready(*id, &plan.ready).await?;
        }
        if !plan.stand_by.is_empty() {
            standing_by.extend(tables.take_standby(*id, &plan.stand_by).await?);
        }
        let standing_by: Vec<ShardState> = standing_by
            .iter()
            .map(|shard| state.shards[usize::from(shard.0)])
            .collect();
        self.hold(standing_by, LoadPurpose::StandBy);
        if !plan.hand_over.is_empty() {
            // From here on the decisions wait: the standby may own the shards before this node knows it.
            let handed_over = tables.hand_over(*id, &plan.hand_over).await?;
            for shard in handed_over {
                sharded.held.stand_by_for(shard);
            }
        }
        Ok(())
    }

    /// Owns shards: at once those whose alerts the node has read, and the others when it has read them.
    fn own(&self, owned: Vec<(Shard, Epoch)>, state: &ClusterState) {
        let cluster = Arc::clone(&self.cluster);
        let held = &cluster.sharded.held;
        let states = owned
            .into_iter()
            .filter(|(shard, _)| !matches!(held.role(*shard), ShardRole::Loading(_)))
            .map(|(shard, epoch)| ShardState {
                epoch,
                ..state.shards[usize::from(shard.0)]
            });
        let (unknown, known): (Vec<_>, Vec<_>) =
            states.partition(|state| held.role(state.shard) == ShardRole::Elsewhere);
        self.cluster.takeovers.add(&known);
        if !unknown.is_empty() {
            tracing::info!(shards = unknown.len(), "this node owns shards; it reads their alerts");
            self.hold(unknown, LoadPurpose::Own);
        }
    }

    /// Holds shards from now on, so that changes of their alerts are followed, and lets their alerts be read.
    fn hold(&self, states: Vec<ShardState>, purpose: LoadPurpose) {
        if states.is_empty() {
            return;
        }
        let held = &self.cluster.sharded.held;
        let load = held.begin_load(states.iter().map(|state| state.shard));
        // The loader lives as long as this task.
        let _ = self.loads.send(LoadRequest { load, purpose, states });
    }

    fn measure(&self) {
        let owned = self.cluster.sharded.held.owned();
        let roles = self.cluster.sharded.held.roles();
        let standbys = roles.iter().filter(|role| **role == ShardRole::Standby).count();
        // All are far below 2⁵³.
        metrics::gauge!("bellwether_shard_standby").set(standbys as f64);
        metrics::gauge!("bellwether_shard_owner").set(owned.len() as f64);
        let newest = owned.iter().map(|(_, epoch)| epoch.0).max().unwrap_or_default();
        metrics::gauge!("bellwether_epoch").set(newest as f64);
        let dispatched = self.cluster.dispatch_share.count(self.clock.uptime());
        metrics::gauge!("bellwether_dispatch_shards").set(dispatched as f64);
    }

    /// Hands the shards over and leaves, so that the others do not wait for the end of the lease.
    async fn leave(&self) {
        if let Err(error) = self.evaluator.flush().await {
            tracing::warn!(%error, "the last decisions could not be committed; the standbys commit them");
        }
        if let Err(error) = self.cluster.tables.leave(self.cluster.id).await {
            tracing::warn!(%error, "the cluster could not be left; the other nodes take over when the lease has ended");
        }
    }
}
