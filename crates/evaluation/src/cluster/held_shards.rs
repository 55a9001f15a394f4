//! The shards that this node evaluates.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ::market::Symbol;
use store::model::{Epoch, Shard};

/// A number for each read of the alerts of some shards. A shard that is lost and held again meanwhile is read again, and the first read
/// does not count for it: alerts that were armed before the loss are not armed any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LoadNumber(u64);

/// The role of this node for a shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ShardRole {
    /// Another node evaluates the shard.
    #[default]
    Elsewhere,
    /// The alerts of the shard are being read.
    Loading(LoadNumber),
    /// It judges the alerts of the shard, and commits the firings that the owner has not settled in time.
    Standby,
    /// It judges the alerts of the shard, and commits at once.
    Owner(Epoch),
}

impl ShardRole {
    /// Whether the node can become the owner in an epoch: the alerts are read, and it is not the owner already.
    pub(crate) fn may_own(self, epoch: Epoch) -> bool {
        match self {
            Self::Elsewhere | Self::Loading(_) => false,
            Self::Standby => true,
            Self::Owner(known) => known < epoch,
        }
    }
}

/// The roles of all shards, by their numbers, and the number of reads of alerts so far.
#[derive(Debug)]
struct State {
    roles: [ShardRole; Shard::COUNT],
    loads: u64,
}

/// The shards that this node evaluates.
#[derive(Debug)]
pub(crate) struct HeldShards(RwLock<State>);

impl Default for HeldShards {
    fn default() -> Self {
        Self(RwLock::new(State {
            roles: [ShardRole::Elsewhere; Shard::COUNT],
            loads: 0,
        }))
    }
}

impl HeldShards {
    pub(crate) fn role(&self, shard: Shard) -> ShardRole {
        self.read().roles[usize::from(shard.0)]
    }

    /// Returns the roles of all shards, by their numbers.
    pub(crate) fn roles(&self) -> [ShardRole; Shard::COUNT] {
        self.read().roles
    }

    /// Whether the alerts on a stock are judged here.
    pub(crate) fn holds(&self, symbol: Symbol) -> bool {
        self.role(Shard::of(symbol)) != ShardRole::Elsewhere
    }

    /// Whether this node owns the shard of a stock.
    pub(crate) fn owns(&self, symbol: Symbol) -> bool {
        matches!(self.role(Shard::of(symbol)), ShardRole::Owner(_))
    }

    /// Returns the owned shards with their epochs.
    pub(crate) fn owned(&self) -> Vec<(Shard, Epoch)> {
        let state = self.read();
        let owned = Shard::all()
            .zip(state.roles.iter())
            .filter_map(|(shard, role)| match role {
                ShardRole::Owner(epoch) => Some((shard, *epoch)),
                ShardRole::Elsewhere | ShardRole::Loading(_) | ShardRole::Standby => None,
            });
        owned.collect()
    }

    /// Marks shards as loading. Returns the number of the read.
    pub(crate) fn begin_load(&self, shards: impl IntoIterator<Item = Shard>) -> LoadNumber {
        let mut state = self.write();
        state.loads += 1;
        let load = LoadNumber(state.loads);
        for shard in shards {
            state.roles[usize::from(shard.0)] = ShardRole::Loading(load);
        }
        load
    }

    /// Stands by for a shard whose alerts are read. Returns whether it does: the shard may have been lost since the read began.
    pub(crate) fn end_load(&self, shard: Shard, load: LoadNumber) -> bool {
        let role = &mut self.write().roles[usize::from(shard.0)];
        let is_current = *role == ShardRole::Loading(load);
        if is_current {
            *role = ShardRole::Standby;
        }
        is_current
    }

    /// Owns a shard whose alerts are read, unless it was lost or handed over in the meantime.
    pub(crate) fn own(&self, shard: Shard, epoch: Epoch) {
        let role = &mut self.write().roles[usize::from(shard.0)];
        if role.may_own(epoch) {
            *role = ShardRole::Owner(epoch);
        }
    }

    /// Stands by for a shard if the node owns it. If a fence has refused it already, its alerts are not armed any more.
    pub(crate) fn stand_by_for(&self, shard: Shard) {
        let role = &mut self.write().roles[usize::from(shard.0)];
        if matches!(role, ShardRole::Owner(_)) {
            *role = ShardRole::Standby;
        }
    }

    /// Stands by for all owned shards, until they are taken over again.
    pub(crate) fn stand_by_for_owned(&self) {
        for role in &mut self.write().roles {
            if matches!(role, ShardRole::Owner(_)) {
                *role = ShardRole::Standby;
            }
        }
    }

    /// Gives a shard up. Then its alerts can be disarmed.
    pub(crate) fn lose(&self, shard: Shard) {
        self.write().roles[usize::from(shard.0)] = ShardRole::Elsewhere;
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARD: Shard = Shard(3);

    #[test]
    fn shard_stands_by_once_its_alerts_are_read() {
        let held = HeldShards::default();
        let load = held.begin_load([SHARD]);
        assert_eq!(held.role(SHARD), ShardRole::Loading(load));
        assert!(held.end_load(SHARD, load));
        assert_eq!(held.role(SHARD), ShardRole::Standby);
    }

    #[test]
    fn shard_that_is_lost_while_its_alerts_are_read_is_not_held() {
        let held = HeldShards::default();
        let load = held.begin_load([SHARD]);
        held.lose(SHARD);
        assert!(!held.end_load(SHARD, load));
        assert_eq!(held.role(SHARD), ShardRole::Elsewhere);
    }

    #[test]
    fn shard_that_is_lost_and_held_again_stands_by_after_the_second_read() {
        let held = HeldShards::default();
        let first = held.begin_load([SHARD]);
        held.lose(SHARD);
        let second = held.begin_load([SHARD]);
        assert!(!held.end_load(SHARD, first), "its alerts were disarmed in between");
        assert_eq!(held.role(SHARD), ShardRole::Loading(second));
        assert!(held.end_load(SHARD, second));
    }
}
