//! Nodes and shards of a cluster.

use jiff::Timestamp;
use market::Symbol;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The id of a node: one run of a process. A restarted process has another id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub Uuid);

/// A part of all stocks. One node at a time evaluates it, its owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shard(pub u8);

impl Shard {
    /// The number of shards.
    pub const COUNT: usize = 256;

    /// Returns the shard of a stock: the first byte of the SHA-256 of its symbol's text. All versions of the program must agree on it.
    #[must_use]
    pub fn of(symbol: Symbol) -> Self {
        Self(Sha256::digest(symbol.as_str())[0])
    }

    /// Returns all shards in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self)
    }
}

/// The number of times that a shard has changed its owner. An owner that has lost the shard knows an earlier epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(pub i64);

/// A node whose lease has not ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClusterNode {
    /// Its id.
    pub id: NodeId,
    /// Its name, which the next run of the process has as well.
    pub name: String,
    /// Its roles as a bit set. The program defines the bits.
    pub roles: u32,
    /// Whether it reaches the other nodes, and not only the database.
    pub is_connected: bool,
}

/// The assignment of a shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShardState {
    /// The shard.
    pub shard: Shard,
    /// Its last owner. The owner may have ended.
    pub owner: Option<NodeId>,
    /// The node that evaluates it as well, to replace the owner. The standby may have ended.
    pub standby: Option<NodeId>,
    /// Whether the standby has loaded the shard.
    pub is_standby_ready: bool,
    /// Changes with each owner.
    pub epoch: Epoch,
    /// The instant up to which the owners have processed the clock.
    pub clock: Option<Timestamp>,
}

/// The nodes and shards of a cluster.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClusterState {
    /// The nodes whose leases have not ended, by name.
    pub nodes: Vec<ClusterNode>,
    /// All shards in order.
    pub shards: Vec<ShardState>,
}

/// The shards that a node must own for its observations to be written. See
/// [`EvaluationCommit::fence`](super::EvaluationCommit::fence).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fence {
    /// The node.
    pub owner: NodeId,
    /// The shards of the observed stocks, each with the epoch in which the node got it. Without shards, nothing is lost.
    pub shards: Vec<(Shard, Epoch)>,
}

/// The last message of an origin whose results for a shard are on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ShardProgress {
    /// The shard.
    pub shard: Shard,
    /// The run of the process that has sent the message.
    pub origin: Uuid,
    /// The number of the message among those of its origin.
    pub sequence: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_is_the_first_byte_of_the_hash() {
        // printf AAPL | sha256sum
        for (symbol, shard) in [("AAPL", 0x1e), ("MSFT", 0x86), ("BRK.B", 0x09)] {
            assert_eq!(Shard::of(symbol.parse().unwrap()), Shard(shard), "{symbol}");
        }
    }

    #[test]
    fn all_shards_are_in_order() {
        let all: Vec<Shard> = Shard::all().collect();
        assert_eq!(all.len(), Shard::COUNT);
        assert!(all.is_sorted());
    }
}
