//! A cluster of two or three nodes.

use std::sync::Arc;

use alerts::{AlertId, Plan, Status};
use bus::{Bus, InProcessBroker};
use clock::{Clock, ManualClock};
use evaluation::cluster::ClusterConfig;
use evaluation::market::RowRejection;
use foundation::{Actor, Role, Roles, ServiceError};
use jiff::SignedDuration;
use serde_json::{Value, json};
use sqlx::{PgPool, Postgres, Transaction};
use store::model::Shard;
use testkit::{Database, eventually, eventually_some};
use uuid::Uuid;

use super::clocks::Clocks;
use crate::support::{OPEN, TestApp, settings, symbol};

/// The leases. They end by the clock of PostgreSQL, which runs slower than the clocks of the nodes.
const LEASE_TTL: SignedDuration = SignedDuration::from_secs(60);
/// How long a standby leaves its decisions to the owner.
pub(super) const STANDBY_DELAY: SignedDuration = SignedDuration::from_secs(2);

/// A node before its start: its roles, and by how much its clock is ahead.
#[derive(Clone, Copy)]
pub(super) struct NodeSetup {
    pub(super) roles: Roles,
    pub(super) ahead: SignedDuration,
}

impl NodeSetup {
    pub(super) const ALL_ROLES: Self = Self {
        roles: Roles::ALL,
        ahead: SignedDuration::ZERO,
    };

    pub(super) fn with_roles(roles: impl IntoIterator<Item = Role>) -> Self {
        let roles = Roles::new(roles).unwrap();
        Self {
            roles,
            ..Self::ALL_ROLES
        }
    }

    pub(super) const fn ahead_by(self, seconds: i64) -> Self {
        let ahead = SignedDuration::from_secs(seconds);
        Self { ahead, ..self }
    }
}

/// A running cluster.
pub(super) struct TestCluster {
    pub(super) nodes: Vec<TestApp>,
    pub(super) clocks: Clocks,
    broker: InProcessBroker,
    buses: Vec<Bus>,
    database: PgPool,
    /// The account that owns alerts.
    pub(super) ann: Actor,
}

impl TestCluster {
    /// Starts the nodes, and waits until each evaluator owns shards and all shards have standbys.
    pub(super) async fn start(setups: &[NodeSetup]) -> Self {
        let database = Arc::new(Database::postgres().await);
        let broker = InProcessBroker::default();
        let start_of = |setup: &NodeSetup| {
            OPEN.parse::<jiff::Timestamp>()
                .unwrap()
                .saturating_add(setup.ahead)
                .unwrap()
        };
        let times: Vec<_> = setups
            .iter()
            .map(|setup| Arc::new(ManualClock::new(start_of(setup))))
            .collect();
        let clocks = Clocks::start(times.iter().cloned());
        let (mut nodes, mut buses) = (Vec::<TestApp>::new(), Vec::new());
        for (place, (setup, clock)) in setups.iter().zip(&times).enumerate() {
            let bus = broker.node();
            let mut settings = settings();
            settings.cluster = Some(ClusterConfig {
                bus: bus.clone(),
                name: format!("node-{place}"),
                roles: setup.roles,
                lease_ttl: LEASE_TTL,
                standby_delay: STANDBY_DELAY,
            });
            let seed = 1_000 + u64::try_from(place).unwrap();
            let node = match nodes.first() {
                None => TestApp::first_node(&database, clock, settings).await,
                Some(first) => first.further_node(clock, seed, settings).await,
            };
            nodes.push(node);
            buses.push(bus);
        }
        let ann = nodes[0].ann(Plan::Premium).await;
        let pool = PgPool::connect(database.url()).await.unwrap();
        let cluster = Self {
            nodes,
            clocks,
            broker,
            buses,
            database: pool,
            ann,
        };
        let evaluators = setups.iter().filter(|setup| setup.roles.has(Role::Evaluator)).count();
        let dispatchers = setups.iter().any(|setup| setup.roles.has(Role::Dispatcher));
        cluster
            .clocks
            .fast_until("the nodes share the shards", async || {
                cluster.is_settled(evaluators).await && (!dispatchers || cluster.dispatch_shards() == Shard::COUNT)
            })
            .await;
        cluster
    }

    async fn is_settled(&self, evaluators: usize) -> bool {
        let sql = "SELECT count(owner_id), count(DISTINCT owner_id),
                          count(*) FILTER (WHERE is_standby_ready AND standby_id <> owner_id)
                   FROM shards";
        let (owned, owners, standbys): (i64, i64, i64) = sqlx::query_as(sql).fetch_one(&self.database).await.unwrap();
        let expected_standbys = if evaluators > 1 { 256 } else { 0 };
        (owned, usize::try_from(owners).unwrap(), standbys) == (256, evaluators, expected_standbys)
    }

    /// Returns the number of dispatch shards that the nodes have together.
    fn dispatch_shards(&self) -> usize {
        let of_node = |node: &TestApp| {
            let cluster = node.service.evaluation.cluster.as_ref().unwrap();
            cluster.dispatch_share().count(node.clock.uptime())
        };
        self.nodes.iter().map(of_node).sum()
    }

    /// Returns a stock whose alerts a node owns.
    pub(super) async fn stock_owned_by(&self, node: usize) -> &'static str {
        let sql = "SELECT shard FROM shards JOIN nodes ON nodes.id = shards.owner_id WHERE nodes.name = $1";
        let owned: Vec<i64> = sqlx::query_scalar(sql)
            .bind(format!("node-{node}"))
            .fetch_all(&self.database)
            .await
            .unwrap();
        let mut stocks = [
            "AAPL", "MSFT", "NVDA", "AMZN", "META", "GOOG", "TSLA", "JPM", "XOM", "KO", "PEP", "IBM",
        ]
        .into_iter();
        let is_owned = |stock: &&str| owned.contains(&i64::from(Shard::of(symbol(stock)).0));
        stocks.find(is_owned).unwrap()
    }

    /// Pushes market data to a node until it is accepted, as clients do. Returns the rejected rows.
    pub(super) async fn push(&self, node: usize, body: Value) -> Vec<RowRejection> {
        let node = &self.nodes[node];
        eventually_some("the push is accepted", async || {
            match node.service.market.ingest_json(node.operator(), &body).await {
                Ok(report) => Some(report.rejected),
                Err(ServiceError::Unavailable(_)) => None,
                Err(error) => panic!("{error}"),
            }
        })
        .await
    }

    /// Pushes a quote without a time, which must be accepted.
    pub(super) async fn push_price(&self, node: usize, stock: &str, price: f64) {
        let rejected = self
            .push(node, json!({"quotes": [{"symbol": stock, "price": price}]}))
            .await;
        assert_eq!(rejected, []);
    }

    /// Returns the last position of the change feed.
    pub(super) async fn position(&self) -> i64 {
        let sql = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM history_order";
        sqlx::query_scalar(sql).fetch_one(&self.database).await.unwrap()
    }

    /// Sends a price to all nodes that another node has received when the change feed was at a position.
    pub(super) async fn send_late(&self, (stock, price): (&str, &str), position: i64) {
        let quote = json!({"symbol": stock, "price": price.parse::<market::Price>().unwrap().micros()});
        let message = json!({
            "origin": Uuid::from_u128(1),
            "sequence": 1,
            "settled": 0,
            "batch": {"position": position, "batch": {"quotes": [quote]}},
        });
        let payload = message.to_string().into_bytes();
        self.broker.node().publish("market", payload.into()).await.unwrap();
    }

    /// Creates an alert of Ann on a node, and returns its id.
    pub(super) async fn create(&self, node: usize, body: Value) -> AlertId {
        self.nodes[node].create(&self.ann, body).await.stored.alert.id
    }

    pub(super) async fn status(&self, id: AlertId) -> Status {
        self.nodes[0].status(&self.ann, id).await
    }

    pub(super) async fn fires(&self, id: AlertId) {
        eventually("the alert has fired", async || {
            self.status(id).await == Status::Triggered
        })
        .await;
    }

    /// Cuts all nodes off from the bus.
    pub(super) fn cut_all(&self) {
        self.buses.iter().for_each(|bus| self.broker.cut(bus));
    }

    pub(super) fn cut(&self, node: usize) {
        self.broker.cut(&self.buses[node]);
    }

    pub(super) fn restore_all(&self) {
        self.buses.iter().for_each(|bus| self.broker.restore(bus));
    }

    /// Begins a transaction that has announced a change of an alert and does not end, as that of a process that was stopped. Until it is
    /// dropped, the change feed is not complete.
    pub(super) async fn open_change(&self) -> Transaction<'static, Postgres> {
        let mut transaction = self.database.begin().await.unwrap();
        let announce = "SELECT pg_advisory_xact_lock_shared(
                            (CAST(16983 AS BIGINT) << 48) + CASE WHEN is_called THEN last_value ELSE 0 END)
                        FROM history_order";
        sqlx::query(announce).execute(&mut *transaction).await.unwrap();
        transaction
    }

    /// Stops the nodes. Their last work needs clocks that run.
    pub(super) async fn stop(self) {
        for place in 0..self.nodes.len() {
            self.clocks.set_still(place, false);
        }
        for node in &self.nodes {
            node.service.stop().await;
        }
        self.database.close().await;
    }
}
