//! The shards that this node evaluates.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ::market::Symbol;
use store::model::{Epoch, Shard};

/// The role of this node for a shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ShardRole {
    /// Another node evaluates the shard.
    #[default]
    Elsewhere,
    /// The alerts of the shard are being read.
    Loading,
    /// It judges the alerts of the shard, and commits the firings that the owner has not settled in time.
    Standby,
    /// It judges the alerts of the shard, and commits at once.
    Owner(Epoch),
}

impl ShardRole {
    /// Whether the node can become the owner in an epoch: the alerts are read, and it is not the owner already.
    pub(crate) fn may_own(self, epoch: Epoch) -> bool {
        match self {
            Self::Elsewhere | Self::Loading => false,
            Self::Standby => true,
            Self::Owner(known) => known < epoch,
        }
    }
}

/// The shards that this node evaluates.
#[derive(Debug)]
pub(crate) struct HeldShards(RwLock<[ShardRole; Shard::COUNT]>);

impl Default for HeldShards {
    fn default() -> Self {
        Self(RwLock::new([ShardRole::Elsewhere; Shard::COUNT]))
    }
}

impl HeldShards {
    pub(crate) fn role(&self, shard: Shard) -> ShardRole {
        self.read()[usize::from(shard.0)]
    }

    /// Returns the roles of all shards, by their numbers.
    pub(crate) fn roles(&self) -> [ShardRole; Shard::COUNT] {
        *self.read()
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
        let roles = self.read();
        let owned = Shard::all().zip(roles.iter()).filter_map(|(shard, role)| match role {
            ShardRole::Owner(epoch) => Some((shard, *epoch)),
            ShardRole::Elsewhere | ShardRole::Loading | ShardRole::Standby => None,
        });
        owned.collect()
    }

    /// Owns a shard whose alerts are read, unless it was lost or handed over in the meantime.
    pub(crate) fn own(&self, shard: Shard, epoch: Epoch) {
        let role = &mut self.write()[usize::from(shard.0)];
        if role.may_own(epoch) {
            *role = ShardRole::Owner(epoch);
        }
    }

    /// Stands by for a shard if the node owns it. If a fence has refused it already, its alerts are not armed any more.
    pub(crate) fn stand_by_for(&self, shard: Shard) {
        let role = &mut self.write()[usize::from(shard.0)];
        if matches!(role, ShardRole::Owner(_)) {
            *role = ShardRole::Standby;
        }
    }

    /// Stands by for all owned shards, until they are taken over again.
    pub(crate) fn stand_by_for_owned(&self) {
        for role in self.write().iter_mut() {
            if matches!(role, ShardRole::Owner(_)) {
                *role = ShardRole::Standby;
            }
        }
    }

    pub(crate) fn set(&self, shard: Shard, role: ShardRole) {
        self.write()[usize::from(shard.0)] = role;
    }

    fn read(&self) -> RwLockReadGuard<'_, [ShardRole; Shard::COUNT]> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, [ShardRole; Shard::COUNT]> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
