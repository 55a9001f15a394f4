//! Shards that this node owns by now and has to take over. The task that judges does it between two messages.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::model::{NodeId, Shard, ShardState};
use tokio::sync::Notify;

/// The shards to take over, as they are in the database.
#[derive(Debug, Default)]
pub(crate) struct Takeovers {
    states: Mutex<BTreeMap<Shard, ShardState>>,
    has_some: Notify,
}

impl Takeovers {
    /// Adds shards. A shard that is there already gets the new state.
    pub(crate) fn add(&self, states: &[ShardState]) {
        if !states.is_empty() {
            self.states().extend(states.iter().map(|state| (state.shard, *state)));
            self.has_some.notify_one();
        }
    }

    /// Waits until there may be some.
    pub(crate) async fn wait(&self) {
        self.has_some.notified().await;
    }

    /// Removes shards that this node does not own any more, by the state of all shards.
    pub(crate) fn keep_owned(&self, node: NodeId, shards: &[ShardState]) {
        let is_owned = |state: &ShardState| {
            let now = shards.get(usize::from(state.shard.0));
            now.is_some_and(|now| now.owner == Some(node) && now.epoch <= state.epoch)
        };
        self.states().retain(|_, state| is_owned(state));
    }

    /// Returns some of them, at most `limit`. They stay until they are [removed](Self::remove).
    pub(crate) fn first(&self, limit: usize) -> Vec<ShardState> {
        self.states().values().take(limit).copied().collect()
    }

    /// Removes shards, unless their states have changed since. If others are left, [`wait`](Self::wait) returns at once.
    pub(crate) fn remove(&self, done: &[ShardState]) {
        let mut states = self.states();
        for state in done {
            if states.get(&state.shard) == Some(state) {
                states.remove(&state.shard);
            }
        }
        if !states.is_empty() {
            self.has_some.notify_one();
        }
    }

    fn states(&self) -> MutexGuard<'_, BTreeMap<Shard, ShardState>> {
        // A panic elsewhere leaves the map consistent: each change is one insertion or removal.
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use store::model::Epoch;
    use uuid::Uuid;

    use super::*;

    const OWN: NodeId = NodeId(Uuid::from_u128(1));
    const OTHER: NodeId = NodeId(Uuid::from_u128(2));

    fn state(shard: u8, owner: NodeId, epoch: i64) -> ShardState {
        ShardState {
            shard: Shard(shard),
            owner: Some(owner),
            standby: None,
            is_standby_ready: false,
            epoch: Epoch(epoch),
            clock: None,
        }
    }

    #[test]
    fn some_shards_are_taken_at_once_and_the_others_afterwards() {
        let takeovers = Takeovers::default();
        takeovers.add(&[state(0, OWN, 1), state(1, OWN, 1), state(2, OWN, 1)]);
        let first = takeovers.first(2);
        assert_eq!(first, [state(0, OWN, 1), state(1, OWN, 1)]);
        takeovers.remove(&first);
        assert_eq!(takeovers.first(2), [state(2, OWN, 1)]);
    }

    #[test]
    fn shard_that_was_gained_again_meanwhile_stays() {
        let takeovers = Takeovers::default();
        takeovers.add(&[state(0, OWN, 1)]);
        let first = takeovers.first(1);
        takeovers.add(&[state(0, OWN, 3)]);
        takeovers.remove(&first);
        assert_eq!(takeovers.first(1), [state(0, OWN, 3)]);
    }

    #[test]
    fn shards_of_other_nodes_are_left_out() {
        let takeovers = Takeovers::default();
        takeovers.add(&[state(0, OWN, 1), state(1, OWN, 1), state(2, OWN, 1)]);
        takeovers.keep_owned(OWN, &[state(0, OTHER, 2), state(1, OWN, 1), state(2, OWN, 3)]);
        assert_eq!(takeovers.first(3), [state(1, OWN, 1)]);
    }
}
