//! Owners and standbys of shards.

use uuid::Uuid;

use super::{ClusterTables, other_able_nodes, other_live_nodes, shard_of, with_live_nodes};
use crate::StoreError;
use crate::model::{Epoch, NodeId, Shard};

/// The shards to change, locked in their order. `$condition` is compared with each row as it is once it is locked.
macro_rules! with_locked_shards {
    ($wanted:literal, $($condition:expr),+) => {
        concat!(
            with_live_nodes!(),
            ", locked AS MATERIALIZED (
                 SELECT shards.shard FROM shards JOIN UNNEST(",
            $wanted,
            ") ON shards.shard = wanted_shard WHERE $1 = ANY (ARRAY(SELECT id FROM live)) AND ",
            $($condition,)+
            " ORDER BY shards.shard FOR NO KEY UPDATE OF shards
             ) "
        )
    };
}

/// A claimer that is connected takes shards from owners that are not. If it owns the shard already, it did not get the answer to its last
/// claim.
const CLAIM: &str = concat!(
    with_locked_shards!(
        "CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) AS wanted (wanted_shard, wanted_epoch",
        "epoch = wanted_epoch AND (owner_id = $1 OR (
             (owner_id IS NULL OR owner_id <> ALL (ARRAY(
                 SELECT id FROM live
                 WHERE is_connected OR NOT (SELECT claimer.is_connected FROM live AS claimer WHERE claimer.id = $1))))
             AND (NOT is_standby_ready OR standby_id IS NULL OR standby_id <> ALL ",
        other_able_nodes!(),
        ")))"
    ),
    "UPDATE shards SET owner_id = $1, epoch = epoch + 1,
         standby_id = CASE WHEN standby_id = ANY ",
    other_live_nodes!(),
    " THEN standby_id END,
         is_standby_ready = is_standby_ready AND COALESCE(standby_id = ANY ",
    other_live_nodes!(),
    ", FALSE)
     FROM locked WHERE shards.shard = locked.shard RETURNING shards.shard, shards.epoch"
);

const TAKE_STANDBY: &str = concat!(
    with_locked_shards!(
        "CAST($2 AS BIGINT[]), CAST($3 AS UUID[])) AS wanted (wanted_shard, replaced_id",
        "owner_id = ANY ",
        other_live_nodes!(),
        " AND (standby_id IS NULL OR standby_id = replaced_id OR standby_id <> ALL (ARRAY(SELECT id FROM live)))"
    ),
    "UPDATE shards SET standby_id = $1, is_standby_ready = FALSE
     FROM locked WHERE shards.shard = locked.shard RETURNING shards.shard"
);

const SET_STANDBY_READY: &str = concat!(
    with_locked_shards!("CAST($2 AS BIGINT[])) AS wanted (wanted_shard", "standby_id = $1"),
    "UPDATE shards SET is_standby_ready = TRUE
     FROM locked WHERE shards.shard = locked.shard RETURNING shards.shard"
);

/// The former owner has loaded the shard, so it is a standby that is ready.
const HAND_OVER: &str = concat!(
    with_locked_shards!(
        "CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) AS wanted (wanted_shard, wanted_epoch",
        "epoch = wanted_epoch AND owner_id = $1 AND is_standby_ready AND standby_id = ANY ",
        other_live_nodes!()
    ),
    "UPDATE shards SET owner_id = standby_id, standby_id = owner_id, epoch = epoch + 1
     FROM locked WHERE shards.shard = locked.shard RETURNING shards.shard"
);

/// Splits shards and their epochs into columns.
fn columns(shards: &[(Shard, Epoch)]) -> (Vec<i64>, Vec<i64>) {
    shards
        .iter()
        .map(|(shard, epoch)| (i64::from(shard.0), epoch.0))
        .unzip()
}

/// Reads the numbers of shards and sorts them.
fn sorted(rows: Vec<(i64,)>) -> Result<Vec<Shard>, StoreError> {
    let shards: Result<Vec<Shard>, StoreError> = rows.into_iter().map(|(shard,)| shard_of(shard)).collect();
    let mut shards = shards?;
    shards.sort_unstable();
    Ok(shards)
}

impl ClusterTables {
    /// Makes a living node the owner of shards that have the expected epochs. Returns those that it got, with their new epochs.
    ///
    /// A shard can be claimed if it has no living owner, or if the owner is not connected and the claimer is. If it has another ready
    /// standby that is as able as the claimer, only that one can claim it. A node may also claim a shard that it owns already, because it did not get the answer
    /// to its last claim.
    ///
    /// Waits for transactions that write observations of the shards ([`Fence`](crate::model::Fence)).
    pub async fn claim(&self, claimer: NodeId, shards: &[(Shard, Epoch)]) -> Result<Vec<(Shard, Epoch)>, StoreError> {
        let (numbers, epochs) = columns(shards);
        let query = sqlx::query_as::<_, (i64, i64)>(CLAIM).bind(claimer.0).bind(numbers);
        let gained = self.change(query.bind(epochs)).await?.into_iter();
        let gained: Result<Vec<(Shard, Epoch)>, StoreError> = gained
            .map(|(shard, epoch)| Ok((shard_of(shard)?, Epoch(epoch))))
            .collect();
        let mut gained = gained?;
        gained.sort_unstable();
        Ok(gained)
    }

    /// Makes a living node the standby, not yet ready, of shards that other living nodes own. Each shard comes with the standby that it
    /// may replace; a standby that has ended is always replaced. Returns the shards that it got.
    pub async fn take_standby(
        &self,
        node: NodeId,
        shards: &[(Shard, Option<NodeId>)],
    ) -> Result<Vec<Shard>, StoreError> {
        let (numbers, replaced): (Vec<i64>, Vec<Option<Uuid>>) = shards
            .iter()
            .map(|(shard, replaced)| (i64::from(shard.0), replaced.map(|node| node.0)))
            .unzip();
        let query = sqlx::query_as(TAKE_STANDBY).bind(node.0).bind(numbers);
        sorted(self.change(query.bind(replaced)).await?)
    }

    /// Marks a living standby as ready to replace the owners of shards. Returns the shards of which it is the standby.
    pub async fn standby_ready(&self, node: NodeId, shards: &[Shard]) -> Result<Vec<Shard>, StoreError> {
        let numbers: Vec<i64> = shards.iter().map(|shard| i64::from(shard.0)).collect();
        let query = sqlx::query_as(SET_STANDBY_READY).bind(node.0).bind(numbers);
        sorted(self.change(query).await?)
    }

    /// Makes the live and ready standbys the owners of shards that a living node owns in the expected epochs. The node becomes their
    /// standby and is ready. Returns the shards that it has handed over.
    pub async fn hand_over(&self, owner: NodeId, shards: &[(Shard, Epoch)]) -> Result<Vec<Shard>, StoreError> {
        let (numbers, epochs) = columns(shards);
        let query = sqlx::query_as(HAND_OVER).bind(owner.0).bind(numbers);
        sorted(self.change(query.bind(epochs)).await?)
    }
}
