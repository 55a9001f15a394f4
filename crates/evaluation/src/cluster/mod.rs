//! A cluster: several nodes with one database, which share the evaluation.
//!
//! PostgreSQL is the truth: alerts, firings, quotes, and who owns which shard. The bus carries what can be fetched again: market data
//! and hints. Every node processes all market data.
//!
//! * The node that receives market data numbers it and sends it to all nodes, itself included ([`origin`]). It is accepted once
//!   the owners of its shards have acknowledged it. So accepted data is on disk, and a new owner continues from there.
//! * Each node processes the messages of each origin in order ([`streams`]) and judges the alerts of its shards ([`market_task`]).
//! * [`membership`] renews the node's lease and takes part in the assignment of shards ([`plan`], [`ranking`]); [`loading`] reads their
//!   alerts.
//! * [`dispatch_shards`]: the live dispatchers share the deliveries.
//! * A new owner judges the messages whose results its predecessor has not written ([`takeovers`], [`recent_messages`]).
//! * [`hints`]: a change of an alert is judged at once, and by polling if its hint is lost.
//! * [`delayed`], [`change_positions`], [`early_changes`], [`held_shards`], [`shard_set`], [`sent_messages`], [`message`]: the parts.

pub(crate) mod change_positions;
pub(crate) mod delayed;
mod dispatch_shards;
pub(crate) mod early_changes;
pub(crate) mod held_shards;
mod hints;
mod loading;
mod market_task;
mod membership;
pub(crate) mod message;
pub(crate) mod origin;
mod plan;
mod ranking;
mod readiness;
mod recent_messages;
mod sent_messages;
pub(crate) mod shard_set;
mod streams;
mod takeovers;

use std::sync::Arc;

use bus::{Bus, BusError, BusSubscription};
use foundation::{DispatchShare, Ports, Roles, ServiceError};
use jiff::SignedDuration;
use store::ClusterTables;
use store::model::{ClusterNode, NodeId};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::EvaluationUseCases;
use crate::evaluator::sharded::ShardedEvaluation;
use market_task::MarketTask;
use membership::Membership;
use message::{ALERTS, MARKET, acknowledgements_to, requests_to};
use origin::Origin;
use takeovers::Takeovers;

/// The settings of a node of a cluster.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// The bus to the other nodes.
    pub bus: Bus,
    /// The name of the node, the same after a restart.
    pub name: String,
    /// The roles of the node.
    pub roles: Roles,
    /// How long the node keeps its shards without the database.
    pub lease_ttl: SignedDuration,
    /// How long a standby leaves its decisions to the owner.
    pub standby_delay: SignedDuration,
}

/// The messages of the other nodes.
#[derive(Debug)]
pub struct Subscriptions {
    market: BusSubscription,
    alerts: BusSubscription,
    acknowledgements: BusSubscription,
    requests: BusSubscription,
}

/// A node of a cluster.
#[derive(Debug)]
pub struct Cluster {
    config: ClusterConfig,
    id: NodeId,
    tables: ClusterTables,
    pub(crate) sharded: Arc<ShardedEvaluation>,
    pub(crate) origin: Arc<Origin>,
    takeovers: Takeovers,
    dispatch_share: DispatchShare,
    /// Wakes the evaluation of changed alerts without the bus.
    changed_here: Notify,
}

impl Cluster {
    /// Creates a node.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database cannot be shared.
    pub fn new(ports: &Ports, config: ClusterConfig) -> Result<Self, ServiceError> {
        let tables = ports.store.cluster();
        let tables = tables.ok_or_else(|| ServiceError::internal("SQLite cannot be shared by several nodes"))?;
        let id = NodeId(ports.random.uuid());
        Ok(Self {
            id,
            tables,
            sharded: Arc::new(ShardedEvaluation::new(id, config.standby_delay)),
            origin: Arc::new(Origin::new(id, config.bus.clone(), ports)),
            takeovers: Takeovers::default(),
            dispatch_share: DispatchShare::of_cluster(),
            changed_here: Notify::new(),
            config,
        })
    }

    /// Subscribes to the messages of the other nodes. They wait until the node [starts](Self::start).
    ///
    /// # Errors
    /// [`BusError`] if the bus refuses a subscription.
    pub async fn subscribe(&self) -> Result<Subscriptions, BusError> {
        let bus = &self.config.bus;
        Ok(Subscriptions {
            market: bus.subscribe(MARKET).await?,
            alerts: bus.subscribe(ALERTS).await?,
            acknowledgements: bus.subscribe(&acknowledgements_to(self.id.0)).await?,
            requests: bus.subscribe(&requests_to(self.id.0)).await?,
        })
    }

    /// Starts the tasks of the node, once its engine has loaded the market data.
    pub fn start(
        self: &Arc<Self>,
        subscriptions: Subscriptions,
        ports: &Ports,
        evaluation: &EvaluationUseCases,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) {
        let Subscriptions {
            market,
            alerts,
            acknowledgements,
            requests,
        } = subscriptions;
        // So that their first increase is seen.
        for counter in [
            "bellwether_bus_gaps_total",
            "bellwether_bus_lost_total",
            "bellwether_standby_commits_total",
        ] {
            metrics::counter!(counter).increment(0);
        }
        tasks.spawn(Arc::clone(&self.origin).run(acknowledgements, requests, stop.clone()));
        tasks.spawn(hints::run(Arc::clone(self), stop.clone()));
        // Otherwise the first renewal would find that nothing was ever judged.
        self.sharded.note_progress(ports.clock.uptime());
        let task = MarketTask::new(Arc::clone(self), ports, evaluation);
        tasks.spawn(task.run(market, alerts, stop.clone()));
        let membership = Membership::new(Arc::clone(self), ports, &evaluation.evaluator);
        tasks.spawn(membership.run(tasks.clone(), stop.clone()));
    }

    /// Returns the id of the node. It has another one after each start.
    #[must_use]
    pub const fn id(&self) -> NodeId {
        self.id
    }

    /// Returns the roles of the node.
    #[must_use]
    pub const fn roles(&self) -> Roles {
        self.config.roles
    }

    /// Returns the part of the deliveries that this node sends.
    #[must_use]
    pub const fn dispatch_share(&self) -> &DispatchShare {
        &self.dispatch_share
    }

    /// Returns the bus to the other nodes.
    #[must_use]
    pub const fn bus(&self) -> &Bus {
        &self.config.bus
    }

    fn node(&self) -> ClusterNode {
        ClusterNode {
            id: self.id,
            name: self.config.name.clone(),
            roles: self.config.roles.bits(),
            is_connected: self.is_connected(),
        }
    }

    fn is_connected(&self) -> bool {
        *self.config.bus.connection().borrow()
    }
}
