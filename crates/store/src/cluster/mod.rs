//! The nodes of a cluster and the shards that they own.
//!
//! A node is alive while its lease lasts, by the database's clock, so the clocks of the nodes do not matter. Shards change their owner
//! by compare-and-set on the epoch (`shards.rs`). An owner that does not know yet that it has lost a shard cannot write observations of
//! it (`firings/fence.rs`).
//!
//! SQLite has one process, so its tables stay empty.
//!
//! # Concurrency
//!
//! The statements run at READ COMMITTED on the connections for reading, because renewals must not wait behind the write queue. Each
//! statement locks its rows of `shards` in the order of the shards, which prevents deadlocks, and decides by the rows as they are after
//! it has waited for their locks. It knows the living nodes as of its start: the row of a node is read once, so its lease is compared with
//! the time at which the statement began, not with the time after a wait.

mod shards;

use std::future::Future;
use std::time::Duration;

use jiff::SignedDuration;
use sqlx::postgres::{PgArguments, PgPoolOptions, PgRow};
use sqlx::query::QueryAs;
use sqlx::{FromRow, PgPool, Postgres};
use uuid::Uuid;

use crate::columns::{Table, values};
use crate::database::Either;
use crate::job_leases::server_time;
use crate::model::{ClusterNode, ClusterState, Epoch, NodeId, Shard, ShardProgress, ShardState};
use crate::timeouts::{PingTimeouts, with_pings, with_timeout};
use crate::{Store, StoreError};

/// The maximum time for a change or a read. A node that waits longer would not renew its lease in time.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a connection may take to answer a ping: a new one can be opened within [`STATEMENT_TIMEOUT`] instead.
const PING_TIMEOUTS: PingTimeouts = PingTimeouts {
    unused: Duration::from_millis(400),
    released: Duration::from_millis(400),
};
/// How long the progress of an origin is kept after its last message. No message is judged so late.
const PROGRESS_KEPT_FOR: SignedDuration = SignedDuration::from_mins(30);
/// The connections for renewals and changes.
const MAX_CONNECTIONS: u32 = 2;

/// Begins a change. The server ends its statement before [`STATEMENT_TIMEOUT`]: a change that its caller no longer awaits must not happen
/// later. It also ends the transaction of a process that has stopped, which would block others.
const BEGIN: &str =
    "BEGIN; SET LOCAL statement_timeout = '800ms'; SET LOCAL idle_in_transaction_session_timeout = '2s'";

/// The nodes whose leases have not ended when the statement begins, as the first part of a statement.
macro_rules! with_live_nodes {
    () => {
        "WITH live AS MATERIALIZED (
             SELECT id, is_connected FROM nodes
             WHERE until > CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)
         )"
    };
}

/// The ids of the living nodes other than `$1`. A value and not a join: it stays the same when a row is compared again after a wait.
macro_rules! other_live_nodes {
    () => {
        "(ARRAY(SELECT id FROM live WHERE id <> $1))"
    };
}

/// The ids of the living nodes other than `$1` that can take over: if `$1` is connected, only those that are.
macro_rules! other_able_nodes {
    () => {
        "(ARRAY(SELECT id FROM live WHERE id <> $1
                AND (is_connected OR NOT (SELECT claimer.is_connected FROM live AS claimer WHERE claimer.id = $1))))"
    };
}

pub(crate) use {other_able_nodes, other_live_nodes, with_live_nodes};

/// Takes all shards from a node, as a part of a statement. A live and ready standby becomes the owner.
macro_rules! release {
    () => {
        concat!(
            with_live_nodes!(),
            ", locked AS MATERIALIZED (
                 SELECT shard, owner_id = $1 AS is_owner,
                        CASE WHEN is_standby_ready AND standby_id = ANY ",
            other_live_nodes!(),
            " THEN standby_id END AS successor_id
                 FROM shards WHERE owner_id = $1 OR standby_id = $1 ORDER BY shard FOR NO KEY UPDATE
             ), released AS (
                 UPDATE shards SET
                     owner_id = CASE WHEN is_owner THEN successor_id ELSE owner_id END,
                     epoch = CASE WHEN is_owner THEN epoch + 1 ELSE epoch END,
                     standby_id = CASE WHEN is_owner AND successor_id IS NULL THEN standby_id END,
                     is_standby_ready = FALSE
                 FROM locked WHERE shards.shard = locked.shard
             )"
        )
    };
}

const JOIN: &str = concat!(
    release!(),
    ", ended AS (
         DELETE FROM nodes WHERE id IN (
             SELECT id FROM nodes WHERE id <> $1 AND (name = $2 OR until <= ",
    server_time!(),
    ") ORDER BY id FOR UPDATE)
     ), forgotten AS (
         DELETE FROM shard_progress WHERE judged_at < ",
    server_time!(),
    " - $6 AND origin_id NOT IN (SELECT id FROM nodes)
     ) INSERT INTO nodes (id, name, roles, is_connected, until) VALUES ($1, $2, $3, $4, ",
    server_time!(),
    " + $5) ON CONFLICT (id) DO UPDATE SET name = excluded.name, roles = excluded.roles,
             is_connected = excluded.is_connected, until = excluded.until
     RETURNING 1"
);

const RENEW: &str = concat!(
    "UPDATE nodes SET until = ",
    server_time!(),
    " + $3, is_connected = $2 WHERE id = $1 AND until > ",
    server_time!()
);

const LEAVE: &str = concat!(release!(), " DELETE FROM nodes WHERE id = $1 RETURNING 1");

const SHARDS: &str = "SELECT shard, owner_id, standby_id, is_standby_ready, epoch, clock FROM shards ORDER BY shard";

const NODES: &str = concat!(
    "SELECT id, name, roles, is_connected FROM nodes WHERE until > ",
    server_time!(),
    " ORDER BY name, id"
);

const PROGRESS: &str =
    "SELECT shard, origin_id, sequence FROM shard_progress WHERE shard = ANY ($1) ORDER BY shard, origin_id";

const NODES_TABLE: Table = Table("nodes");
const SHARDS_TABLE: Table = Table("shards");

/// A row of `nodes`.
type NodeRow = (Uuid, String, i64, bool);

/// A row of `shards`.
type ShardRow = (i64, Option<Uuid>, Option<Uuid>, bool, i64, Option<i64>);

impl TryFrom<NodeRow> for ClusterNode {
    type Error = StoreError;

    fn try_from((id, name, roles, is_connected): NodeRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: NodeId(id),
            name,
            roles: NODES_TABLE.narrow("roles", roles)?,
            is_connected,
        })
    }
}

impl TryFrom<ShardRow> for ShardState {
    type Error = StoreError;

    fn try_from((shard, owner, standby, is_standby_ready, epoch, clock): ShardRow) -> Result<Self, StoreError> {
        Ok(Self {
            shard: shard_of(shard)?,
            owner: owner.map(NodeId),
            standby: standby.map(NodeId),
            is_standby_ready,
            epoch: Epoch(epoch),
            clock: SHARDS_TABLE.optional_instant(clock)?,
        })
    }
}

/// Reads the number of a shard.
fn shard_of(number: i64) -> Result<Shard, StoreError> {
    SHARDS_TABLE.narrow("shard", number).map(Shard)
}

/// A duration in microseconds, small enough to be added to a time.
fn microseconds(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_micros())
        .unwrap_or(i64::MAX)
        .min(i64::MAX / 2)
}

/// Waits for at most [`STATEMENT_TIMEOUT`].
async fn in_time<T>(work: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, StoreError> {
    Ok(with_timeout(STATEMENT_TIMEOUT, work).await?)
}

/// The nodes and shards of a cluster.
///
/// Each method fails if the database does not respond within one second. The change may have been made nevertheless: the next
/// [`state`](Self::state) has it.
#[derive(Clone, Debug)]
pub struct ClusterTables(PgPool);

/// Returns connections of their own to the same database: renewals must not wait for reads.
fn connections_beside(pool: &PgPool) -> PgPool {
    let options = (*pool.connect_options()).clone();
    let pool = PgPoolOptions::new()
        .max_connections(MAX_CONNECTIONS)
        .acquire_timeout(STATEMENT_TIMEOUT);
    with_pings(pool, PING_TIMEOUTS).connect_lazy_with(options)
}

impl Store {
    /// Returns the nodes and shards of the processes on this database. `None` on SQLite, which one process uses.
    #[must_use]
    pub fn cluster(&self) -> Option<ClusterTables> {
        match &self.pools {
            Either::Lite(_) => None,
            Either::Pg(pool) => Some(ClusterTables(connections_beside(pool))),
        }
    }
}

impl ClusterTables {
    /// Adds a node that owns nothing, until its lease ends. Deletes earlier runs of the same name and nodes whose leases have ended. The
    /// next renewal of such a run returns `None`.
    ///
    /// A node whose lease has ended may join again. It loses the shards that it still has, as if it had left.
    pub async fn join(&self, node: &ClusterNode, ttl: SignedDuration) -> Result<(), StoreError> {
        let query = sqlx::query_as::<_, (i32,)>(JOIN).bind(node.id.0).bind(&node.name);
        let query = query.bind(i64::from(node.roles)).bind(node.is_connected);
        let query = query.bind(microseconds(ttl)).bind(microseconds(PROGRESS_KEPT_FOR));
        self.change(query).await.map(drop)
    }

    /// Extends the lease of a node that has not ended, and returns the state after it. `None` if the node has ended: it no
    /// longer owns anything, and must join again.
    ///
    /// The lease lasts for at least `ttl` from the call, not from the answer.
    pub async fn renew(
        &self,
        node: NodeId,
        is_connected: bool,
        ttl: SignedDuration,
    ) -> Result<Option<ClusterState>, StoreError> {
        let query = sqlx::query(RENEW).bind(node.0).bind(is_connected);
        let renewed = in_time(query.bind(microseconds(ttl)).execute(&self.0)).await?;
        if renewed.rows_affected() == 0 {
            return Ok(None);
        }
        self.state().await.map(Some)
    }

    /// Ends a node. Live and ready standbys become the owners of its shards; its other shards have no owner.
    pub async fn leave(&self, node: NodeId) -> Result<(), StoreError> {
        let query = sqlx::query_as::<_, (i32,)>(LEAVE).bind(node.0);
        self.change(query).await.map(drop)
    }

    /// Returns the living nodes and all shards. The nodes are read after the shards, so an owner that is not among them has ended.
    pub async fn state(&self) -> Result<ClusterState, StoreError> {
        let shards = in_time(sqlx::query_as::<_, ShardRow>(SHARDS).fetch_all(&self.0)).await?;
        let nodes = in_time(sqlx::query_as::<_, NodeRow>(NODES).fetch_all(&self.0)).await?;
        let state = ClusterState {
            nodes: values(nodes)?,
            shards: values(shards)?,
        };
        if !state.shards.iter().map(|state| state.shard).eq(Shard::all()) {
            let found = state.shards.len();
            return Err(SHARDS_TABLE.corrupt(format_args!("{found} of {} shards are there", Shard::COUNT)));
        }
        Ok(state)
    }

    /// Returns the last messages of each origin whose results for some shards are on disk, by shard and origin.
    pub async fn progress(&self, shards: &[Shard]) -> Result<Vec<ShardProgress>, StoreError> {
        let numbers: Vec<i64> = shards.iter().map(|shard| i64::from(shard.0)).collect();
        let query = sqlx::query_as::<_, (i64, Uuid, i64)>(PROGRESS).bind(numbers);
        let rows = in_time(query.fetch_all(&self.0)).await?;
        let progress = rows.into_iter().map(|(shard, origin, sequence)| {
            Ok(ShardProgress {
                shard: shard_of(shard)?,
                origin,
                sequence: sequence.cast_unsigned(),
            })
        });
        progress.collect()
    }

    /// Returns the random id of the cluster, which tells its messages from those of others on the same servers.
    pub async fn cluster_id(&self) -> Result<Uuid, StoreError> {
        let sql = "SELECT cluster_id FROM cluster_identity";
        let (id,) = in_time(sqlx::query_as::<_, (Uuid,)>(sql).fetch_one(&self.0)).await?;
        Ok(id)
    }

    /// Runs one statement that writes, and returns its rows.
    async fn change<Row>(&self, query: QueryAs<'_, Postgres, Row, PgArguments>) -> Result<Vec<Row>, StoreError>
    where
        Row: Send + Unpin + for<'r> FromRow<'r, PgRow>,
    {
        let change = async {
            let mut transaction = self.0.begin_with(BEGIN).await?;
            let rows = query.fetch_all(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(rows)
        };
        in_time(change).await
    }
}
