//! The assignment of dispatch shards to the live nodes with the role `dispatcher`.
//!
//! Each of these nodes ranks first for its shards ([`ranking`](super::ranking)). The assignment is not stored: nodes that know the same
//! nodes agree on it. A claim in the database decides between nodes that do not agree yet.

use std::collections::BTreeSet;

use foundation::{Role, Roles};
use notify::dispatcher::DispatchShard;
use store::model::{ClusterNode, NodeId};

use super::ranking::{able, first};

/// The assignment of one node: its part of the deliveries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DispatchAssignment {
    /// The shards of the node; none without the role.
    pub(super) shards: BTreeSet<DispatchShard>,
    /// The number of live dispatchers that send.
    pub(super) dispatchers: usize,
}

/// Returns the part of the node `own` among the live nodes.
pub(super) fn dispatch_shards(nodes: &[ClusterNode], own: NodeId) -> DispatchAssignment {
    let is_dispatcher = |node: &&ClusterNode| Roles::from_bits(node.roles).has(Role::Dispatcher);
    let dispatchers: Vec<&ClusterNode> = nodes.iter().filter(is_dispatcher).collect();
    // Others learn of deliveries that are due only by polling.
    let dispatchers = able(&dispatchers);
    let is_own = |shard: &DispatchShard| first(shard.0, &dispatchers) == Some(own);
    DispatchAssignment {
        shards: DispatchShard::all().filter(is_own).collect(),
        dispatchers: dispatchers.len(),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn node(number: u128, roles: Roles) -> ClusterNode {
        ClusterNode {
            id: NodeId(Uuid::from_u128(number)),
            name: format!("node-{number}"),
            roles: roles.bits(),
            is_connected: true,
        }
    }

    fn dispatchers(numbers: impl IntoIterator<Item = u128>) -> Vec<ClusterNode> {
        numbers.into_iter().map(|number| node(number, Roles::ALL)).collect()
    }

    fn shards_of(nodes: &[ClusterNode], number: u128) -> BTreeSet<DispatchShard> {
        dispatch_shards(nodes, NodeId(Uuid::from_u128(number))).shards
    }

    #[test]
    fn each_shard_has_exactly_one_of_the_live_dispatchers() {
        for count in 1..=5 {
            let nodes = dispatchers(1..=count);
            let parts: Vec<_> = (1..=count).map(|number| shards_of(&nodes, number)).collect();
            let all: BTreeSet<_> = parts.iter().flatten().copied().collect();
            assert_eq!(all.len(), DispatchShard::COUNT);
            assert_eq!(parts.iter().map(BTreeSet::len).sum::<usize>(), DispatchShard::COUNT);
            assert!(parts.iter().all(|part| part.len() > 20), "{parts:?}");
        }
    }

    #[test]
    fn node_that_joins_takes_its_share_and_moves_nothing_else() {
        let (before, after) = (dispatchers([1, 2]), dispatchers([1, 2, 3]));
        let joined = shards_of(&after, 3);
        for number in [1, 2] {
            let kept: BTreeSet<_> = shards_of(&before, number).difference(&joined).copied().collect();
            assert_eq!(shards_of(&after, number), kept);
        }
        assert!(joined.len() > 40, "{joined:?}");
    }

    #[test]
    fn node_without_the_role_or_a_lease_has_no_shards() {
        let api = node(3, Roles::new([Role::Api, Role::Evaluator]).unwrap());
        let nodes = [dispatchers([1]), vec![api]].concat();
        let of = |number| dispatch_shards(&nodes, NodeId(Uuid::from_u128(number)));
        assert_eq!((of(1).shards.len(), of(1).dispatchers), (DispatchShard::COUNT, 1));
        assert_eq!((of(3).shards.len(), of(3).dispatchers), (0, 1));
        assert_eq!(
            of(4).shards.len(),
            0,
            "its lease has ended, so it is not among the nodes"
        );
    }

    #[test]
    fn dispatcher_without_nats_has_no_shards_unless_all_are_without() {
        let mut nodes = dispatchers([1, 2]);
        nodes[0].is_connected = false;
        assert_eq!(
            (shards_of(&nodes, 1).len(), shards_of(&nodes, 2).len()),
            (0, DispatchShard::COUNT)
        );
        nodes[1].is_connected = false;
        assert_eq!(shards_of(&nodes, 1), shards_of(&dispatchers([1, 2]), 1));
    }
}
