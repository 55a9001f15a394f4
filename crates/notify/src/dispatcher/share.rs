//! Shares: several dispatchers of one outbox serve different endpoints.
//!
//! So the bound of an endpoint lives in one dispatcher. A host and an account may have endpoints in all of them, so each dispatcher has
//! an equal part of their bounds.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest, Sha256};

/// A part of the endpoints of all queues. One dispatcher at a time serves it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DispatchShard(pub u8);

impl DispatchShard {
    /// The number of dispatch shards.
    pub const COUNT: usize = 256;

    /// Returns the shard of an endpoint: the first byte of the SHA-256 of the name of its queue and its id (8 bytes, big-endian). All
    /// versions of the program must agree on it.
    #[must_use]
    pub fn of(queue: &str, endpoint: i64) -> Self {
        let hash = Sha256::new().chain_update(queue).chain_update(endpoint.to_be_bytes());
        Self(hash.finalize()[0])
    }

    /// Returns all shards in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self)
    }
}

/// The endpoints of a queue that a dispatcher serves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointShare {
    /// The name of the queue, and the shards that the dispatcher serves; `None` for all endpoints.
    part: Option<(&'static str, Arc<BTreeSet<DispatchShard>>)>,
    dispatchers: usize,
}

impl EndpointShare {
    /// The share of the only dispatcher of an outbox.
    pub const ALL: Self = Self {
        part: None,
        dispatchers: 1,
    };

    /// Returns the share of one of several dispatchers: some shards of a queue.
    #[must_use]
    pub const fn new(queue: &'static str, shards: Arc<BTreeSet<DispatchShard>>, dispatchers: usize) -> Self {
        Self {
            part: Some((queue, shards)),
            dispatchers,
        }
    }

    /// Returns whether the dispatcher serves an endpoint.
    #[must_use]
    pub fn has(&self, endpoint: i64) -> bool {
        let part = self.part.as_ref();
        part.is_none_or(|(queue, shards)| shards.contains(&DispatchShard::of(queue, endpoint)))
    }

    /// Returns the part of a bound that each dispatcher has; at least 1.
    pub(super) fn part_of(&self, bound: usize) -> usize {
        (bound / self.dispatchers.max(1)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_is_the_first_byte_of_the_hash_of_queue_and_endpoint() {
        // printf 'webhooks\0\0\0\0\0\0\0\7' | sha256sum
        for (queue, endpoint, shard) in [("webhooks", 7, 0x0a), ("email", 7, 0x3d), ("email", -7, 0x13)] {
            assert_eq!(
                DispatchShard::of(queue, endpoint),
                DispatchShard(shard),
                "{queue} {endpoint}"
            );
        }
    }

    #[test]
    fn share_has_the_endpoints_of_its_shards() {
        let shard = DispatchShard::of("webhooks", 7);
        let others: BTreeSet<_> = DispatchShard::all().filter(|other| *other != shard).collect();
        assert_eq!(others.len(), DispatchShard::COUNT - 1);
        let share = |shards| EndpointShare::new("webhooks", Arc::new(shards), 2);
        assert!(share(BTreeSet::from([shard])).has(7));
        assert!(!share(others).has(7));
        assert!(!share(BTreeSet::new()).has(7));
        assert!(EndpointShare::ALL.has(7));
    }

    #[test]
    fn bound_is_divided_by_the_dispatchers_and_at_least_one() {
        let part_of = |bound, dispatchers| EndpointShare::new("email", Arc::default(), dispatchers).part_of(bound);
        assert_eq!(
            [
                part_of(32, 1),
                part_of(32, 2),
                part_of(32, 3),
                part_of(4, 5),
                part_of(4, 0)
            ],
            [32, 16, 10, 1, 4]
        );
        assert_eq!(EndpointShare::ALL.part_of(32), 32);
    }
}
