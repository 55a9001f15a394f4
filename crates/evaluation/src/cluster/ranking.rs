//! The ranking of nodes by a shard: rendezvous hashing.
//!
//! Each shard ranks the nodes by a hash of both, so that a node that joins or leaves moves only its share of the shards.

use sha2::{Digest, Sha256};
use store::model::{ClusterNode, NodeId};

/// Returns the node that ranks first for a shard. The names count, so that a node gets its shards back when it is started again.
pub(super) fn first(shard: u8, nodes: &[&ClusterNode]) -> Option<NodeId> {
    let hash = |node: &&&ClusterNode| -> [u8; 32] {
        let hash = Sha256::new().chain_update([shard]);
        hash.chain_update(node.name.as_bytes()).finalize().into()
    };
    nodes.iter().min_by_key(hash).map(|node| node.id)
}

/// Returns the nodes that receive messages of others; all of them if none does, because work that is due by itself needs no messages.
pub(super) fn able<'a>(nodes: &[&'a ClusterNode]) -> Vec<&'a ClusterNode> {
    let is_any_connected = nodes.iter().any(|node| node.is_connected);
    let able = nodes.iter().filter(|node| node.is_connected || !is_any_connected);
    able.copied().collect()
}
