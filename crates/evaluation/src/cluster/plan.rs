//! The assignment of shards: the next steps of one node, from the state of all.
//!
//! Each shard ranks the nodes ([`ranking`](super::ranking)). The first should own the shard, and the second be its standby.
//!
//! * A shard whose owner is gone goes to its standby, which has judged everything the owner has, and only without one to the first
//!   node.
//! * A node that ranks above an owner becomes the standby first, and gets the shard from the owner once it has read the alerts.
//!
//! Every step is a compare-and-set in the database, so that nodes which see different states cannot both succeed.

use store::model::{ClusterNode, ClusterState, Epoch, NodeId, Shard, ShardState};

use super::held_shards::ShardRole;
use super::ranking::{able, first};

/// The next steps of a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Plan {
    /// Shards to claim, with the epochs that they have now.
    pub(crate) claim: Vec<(Shard, Epoch)>,
    /// Shards to become the standby of, with their present standbys.
    pub(crate) stand_by: Vec<(Shard, Option<NodeId>)>,
    /// Owned shards to hand over to their standbys, with their epochs.
    pub(crate) hand_over: Vec<(Shard, Epoch)>,
    /// Shards that this node owns by now.
    pub(crate) owned: Vec<(Shard, Epoch)>,
    /// Shards whose standby this node is by now.
    pub(crate) standing_by: Vec<Shard>,
    /// Shards whose standby this node is, and whose alerts it has read, although the database does not say so.
    pub(crate) ready: Vec<Shard>,
    /// Shards that belong to other nodes by now.
    pub(crate) lost: Vec<Shard>,
}

/// The node that makes a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnNode<'a> {
    pub(crate) id: NodeId,
    pub(crate) roles: &'a [ShardRole; Shard::COUNT],
    /// Whether the node may take shards that it does not hold. A node that was cut off may not for a while.
    pub(crate) may_claim: bool,
}

/// Returns the next steps of a node. `evaluators` are the live nodes that evaluate.
pub(crate) fn plan(state: &ClusterState, evaluators: &[&ClusterNode], own: OwnNode<'_>) -> Plan {
    let mut plan = Plan::default();
    let able = able(evaluators);
    let own_is_able = able.iter().any(|node| node.id == own.id);
    for row in &state.shards {
        let role = own.roles[usize::from(row.shard.0)];
        if row.owner == Some(own.id) {
            if role == ShardRole::Owner(row.epoch) {
                hand_over(row, &able, own, &mut plan);
            } else {
                plan.owned.push((row.shard, row.epoch));
            }
            continue;
        }
        let stands_by = row.standby == Some(own.id);
        match (stands_by, role) {
            (true, ShardRole::Elsewhere | ShardRole::Owner(_)) => plan.standing_by.push(row.shard),
            (true, ShardRole::Standby) if !row.is_standby_ready => plan.ready.push(row.shard),
            (true, ShardRole::Loading(_) | ShardRole::Standby) | (false, ShardRole::Elsewhere) => {}
            (false, _) => plan.lost.push(row.shard),
        }
        if own_is_able && own.may_claim {
            take(row, &able, own, &mut plan);
        }
    }
    plan
}

/// Hands an owned shard over if its standby ranks first.
fn hand_over(row: &ShardState, able: &[&ClusterNode], own: OwnNode<'_>, plan: &mut Plan) {
    let first = first(row.shard.0, able);
    if row.is_standby_ready && first.is_some() && first == row.standby && first != Some(own.id) {
        plan.hand_over.push((row.shard, row.epoch));
    }
}

/// Claims a shard without an owner, or becomes the standby of one with an owner, if it is this node's turn.
fn take(row: &ShardState, able: &[&ClusterNode], own: OwnNode<'_>, plan: &mut Plan) {
    let is_able = |id: NodeId| able.iter().any(|node| node.id == id);
    let owner = row.owner.filter(|owner| is_able(*owner));
    let Some(owner) = owner else {
        let heir = row.standby.filter(|standby| row.is_standby_ready && is_able(*standby));
        if heir.or_else(|| first(row.shard.0, able)) == Some(own.id) {
            plan.claim.push((row.shard, row.epoch));
        }
        return;
    };
    if row.standby == Some(own.id) {
        return;
    }
    let others: Vec<&ClusterNode> = able.iter().copied().filter(|node| node.id != owner).collect();
    if first(row.shard.0, &others) == Some(own.id) {
        plan.stand_by.push((row.shard, row.standby));
    }
}

#[cfg(test)]
mod tests;
