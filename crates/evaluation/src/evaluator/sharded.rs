//! Evaluation on one of several nodes: which decisions this node commits, and when.
//!
//! Every node processes all market data, so that it knows the prices of all stocks. It judges only the alerts of the shards that it
//! holds: those that it owns, and those whose standby it is. The owner commits its decisions at once. The standby keeps firings of alerts
//! without a life cycle that data about their stock has caused, and commits those that the owner has not settled after a while. It leaves
//! all other decisions to the owner, because they depend on states that only the owner writes. When it becomes the owner, it continues from what is stored
//! (`takeover.rs`).
//!
//! A decision counts by compare-and-set, so two nodes that both judge a message fire each alert once. What a node writes as the owner of
//! shards is written only if it still owns them (a fence): firings, quotes, states, clock marks and the numbers of the judged messages. A
//! node that was cut off and has not noticed that it has lost a shard may have missed prices, and would fire an alert that was activated
//! since by an earlier one.
//!
//! A node whose lease has ended, because it was stopped or cut off, does not know whether its shards have other owners by now. Until
//! it has taken them over again, it is their standby.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::alerts::engine::{AlertAction, Decision, Engine};
use ::alerts::{AlertId, Revision};
use ::market::Symbol;
use jiff::{SignedDuration, Timestamp};
use store::model::{Epoch, NodeId, Shard, ShardProgress};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::cluster::change_positions::ChangePositions;
use crate::cluster::delayed::{DelayedDecisions, DelayedEvaluation};
use crate::cluster::early_changes::EarlyChanges;
use crate::cluster::held_shards::{HeldShards, ShardRole};
use crate::cluster::shard_set::ShardSet;
use crate::evaluator::inputs::EvaluationInputs;

/// The state of the evaluation on one of several nodes.
#[derive(Debug)]
pub(crate) struct ShardedEvaluation {
    pub(crate) node: NodeId,
    pub(crate) held: HeldShards,
    positions: Mutex<ChangePositions>,
    early_changes: Mutex<EarlyChanges>,
    delayed: Mutex<DelayedDecisions>,
    /// The end of the node's lease, in microseconds of the uptime.
    lease_until: AtomicI64,
    /// When the task that judges has last made progress, in microseconds of the uptime.
    progress_at: AtomicI64,
    /// How long a standby leaves its decisions to the owner.
    standby_delay: SignedDuration,
    /// Alerts whose decisions were refused, with the judged revisions. They are armed again.
    refused: Mutex<Vec<(AlertId, Revision)>>,
    /// Alerts with decisions that were left to the owners of their shards, each with the revision of the last one.
    left_to_owners: Mutex<HashMap<AlertId, (Shard, Revision)>>,
    /// The shards of alerts that have changed here since the last hint.
    changed: Mutex<ShardSet>,
    /// Wakes the task that sends hints.
    pub(crate) has_changed: Notify,
}

/// A message with market data that is being judged.
#[derive(Debug)]
pub(crate) struct JudgedMessage {
    /// The run of the node that has sent it.
    pub(crate) origin: Uuid,
    /// Its number among those of its origin.
    pub(crate) sequence: u64,
    /// See [`ReceivedBatch::position`](crate::cluster::message::ReceivedBatch::position).
    pub(crate) position: i64,
    /// The judged stocks.
    pub(crate) symbols: HashSet<Symbol>,
    /// The shards of these stocks.
    pub(crate) shards: ShardSet,
    /// Whether this node has judged it before, and judges these shards again after it has taken them over.
    pub(crate) is_repeated: bool,
}

impl JudgedMessage {
    /// Returns the progress of shards that have judged it.
    pub(super) fn progress_of(&self, shards: &[(Shard, Epoch)]) -> Vec<ShardProgress> {
        let progress = shards.iter().map(|&(shard, _)| ShardProgress {
            shard,
            origin: self.origin,
            sequence: self.sequence,
        });
        progress.collect()
    }
}

/// The decisions of an evaluation: those to commit now, without those that are kept, refused or left to the owners.
#[derive(Debug, Default)]
pub(super) struct DividedDecisions {
    pub(super) now: Vec<Decision>,
    /// The shards of the decisions, and of the states that are written now.
    pub(super) fence: HashMap<Shard, Epoch>,
    /// The shards of the alerts of the decisions.
    pub(super) alert_shards: HashMap<AlertId, Shard>,
    /// The shards of the message that this node has judged as their owner.
    pub(super) judged: Vec<(Shard, Epoch)>,
}

/// The roles of a node for all shards, by their numbers.
pub(super) type Roles = [ShardRole; Shard::COUNT];

impl ShardedEvaluation {
    pub(crate) fn new(node: NodeId, standby_delay: SignedDuration) -> Self {
        Self {
            node,
            held: HeldShards::default(),
            positions: Mutex::default(),
            early_changes: Mutex::default(),
            delayed: Mutex::default(),
            lease_until: AtomicI64::new(i64::MIN),
            progress_at: AtomicI64::new(i64::MIN),
            standby_delay,
            refused: Mutex::default(),
            left_to_owners: Mutex::default(),
            changed: Mutex::default(),
            has_changed: Notify::new(),
        }
    }

    /// Extends the lease until an uptime.
    pub(crate) fn extend_lease(&self, until: SignedDuration) {
        self.lease_until.store(micros(until), Ordering::Release);
    }

    /// Lets decisions that were kept because the lease had ended be committed as those of a standby.
    pub(crate) fn release_kept(&self, uptime: SignedDuration) {
        self.delayed().release_kept(uptime + self.standby_delay);
    }

    /// Whether the node's lease lasts, so that no other node can have taken its shards.
    pub(crate) fn has_lease(&self, uptime: SignedDuration) -> bool {
        micros(uptime) < self.lease_until.load(Ordering::Acquire)
    }

    /// Records that the task that judges makes progress.
    pub(crate) fn note_progress(&self, uptime: SignedDuration) {
        self.progress_at.store(micros(uptime), Ordering::Release);
    }

    /// Whether the task that judges has made progress since an uptime.
    pub(crate) fn has_progress_since(&self, uptime: SignedDuration) -> bool {
        self.progress_at.load(Ordering::Acquire) >= micros(uptime)
    }

    pub(crate) fn positions(&self) -> MutexGuard<'_, ChangePositions> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn early_changes(&self) -> MutexGuard<'_, EarlyChanges> {
        self.early_changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn delayed(&self) -> MutexGuard<'_, DelayedDecisions> {
        self.delayed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that an alert on a stock was changed here, for the next hint.
    pub(crate) fn note_own_change(&self, symbol: Symbol) {
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        changed.insert(Shard::of(symbol));
        self.has_changed.notify_one();
    }

    /// Records that alerts were changed here whose stocks are not known.
    pub(crate) fn note_own_changes_anywhere(&self) {
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        *changed = Shard::all().collect();
        self.has_changed.notify_one();
    }

    /// Takes the shards for the next hint.
    pub(crate) fn take_changed(&self) -> ShardSet {
        std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn refuse(&self, decision: &Decision) {
        self.add_refused([(decision.alert, decision.revision)]);
    }

    /// Adds alerts that have to be armed again, with the judged revisions.
    pub(super) fn add_refused(&self, alerts: impl IntoIterator<Item = (AlertId, Revision)>) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.extend(alerts);
    }

    /// Takes the alerts that have to be armed again.
    pub(super) fn take_refused(&self) -> Vec<(AlertId, Revision)> {
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the alerts of shards with decisions that were left to their owners, each with the revision of the last one.
    pub(super) fn left_in(&self, shards: &ShardSet) -> HashMap<AlertId, Revision> {
        let left = self.left_to_owners();
        let left = left.iter().filter(|(_, (shard, _))| shards.contains(*shard));
        left.map(|(id, (_, revision))| (*id, *revision)).collect()
    }

    /// Records that a decision about a revision of an alert was left to the owner of its shard.
    pub(super) fn leave(&self, (alert, revision): (AlertId, Revision), shard: Shard) {
        self.left_to_owners().insert(alert, (shard, revision));
    }

    /// Forgets which decisions about alerts of shards were left to their owners.
    pub(super) fn forget_left_in(&self, shards: &ShardSet) {
        self.left_to_owners().retain(|_, (shard, _)| !shards.contains(*shard));
    }

    /// Forgets that a decision about an alert was left to its owner: the alert has changed since.
    pub(super) fn forget_left(&self, alert: AlertId) {
        self.left_to_owners().remove(&alert);
    }

    fn left_to_owners(&self) -> MutexGuard<'_, HashMap<AlertId, (Shard, Revision)>> {
        // A panic elsewhere leaves the map consistent: each change is one insertion or removal.
        self.left_to_owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the decisions to commit now. Keeps or leaves to the owner those of a standby, and refuses those that a message may not cause.
    /// The decisions after the first `earlier` were caused by `message`. The roles are [those with a lease](Self::roles_with_lease).
    pub(super) fn divide(
        &self,
        engine: &Engine,
        decisions: Vec<Decision>,
        earlier: usize,
        message: Option<&JudgedMessage>,
        (uptime, judged_at): (SignedDuration, Timestamp),
        roles: &Roles,
    ) -> DividedDecisions {
        let mut divided = DividedDecisions::default();
        let mut later = Vec::new();
        for (index, decision) in decisions.into_iter().enumerate() {
            let symbol = engine.symbol(decision.stock);
            let shard = Shard::of(symbol);
            let message = message.filter(|_| index >= earlier);
            // Alerts of other shards have seen the later prices already. They are armed again with their stored states.
            let is_refused = message.is_some_and(|message| {
                let is_foreign = message.is_repeated && !message.shards.contains(shard);
                is_foreign || self.is_refused(&decision, shard, message)
            });
            match roles[usize::from(shard.0)] {
                ShardRole::Owner(_) if is_refused => self.refuse(&decision),
                ShardRole::Owner(epoch) => {
                    divided.fence.insert(shard, epoch);
                    divided.alert_shards.insert(decision.alert, shard);
                    divided.now.push(decision);
                }
                // A firing of another stock does not come from the message, and a standby may know an earlier price of it.
                ShardRole::Standby
                    if message.is_some_and(|message| message.symbols.contains(&symbol))
                        && is_plain_firing(&decision)
                        && !is_refused =>
                {
                    later.push((shard, decision));
                }
                ShardRole::Standby | ShardRole::Loading(_) => self.leave((decision.alert, decision.revision), shard),
                ShardRole::Elsewhere => {}
            }
        }
        let due = if self.has_lease(uptime) {
            uptime + self.standby_delay
        } else {
            SignedDuration::MAX
        };
        self.delayed().add(DelayedEvaluation {
            due,
            judged_at,
            decisions: later,
        });
        if let Some(message) = message {
            divided.judged = owned_of(roles, &message.shards);
        }
        divided
    }

    /// Leaves of observations only those of owned shards. Returns these shards. A clock mark is of all owned shards.
    pub(super) fn keep_owned(observed: &mut EvaluationInputs, roles: &Roles) -> HashMap<Shard, Epoch> {
        let mut fence = HashMap::new();
        let mut is_owned = |symbol: &Symbol| {
            let shard = Shard::of(*symbol);
            let ShardRole::Owner(epoch) = roles[usize::from(shard.0)] else {
                return false;
            };
            fence.insert(shard, epoch);
            true
        };
        observed.symbols.retain(&mut is_owned);
        observed.extended.retain(&mut is_owned);
        if observed.clock.is_some() {
            fence.extend(owned_of(roles, &Shard::all().collect()));
        }
        if fence.is_empty() {
            observed.clock = None;
        }
        fence
    }

    /// Returns the roles of this node. Without a lease, it stands by for the shards that it owns.
    pub(super) fn roles_with_lease(&self, uptime: SignedDuration) -> Roles {
        if !self.has_lease(uptime) {
            self.held.stand_by_for_owned();
        }
        self.held.roles()
    }

    /// Returns those of some owned shards whose alerts were read after a position. It is not known which of them have changed in between, so a
    /// message from before must not be judged.
    pub(crate) fn loaded_after(&self, position: i64, shards: &ShardSet) -> ShardSet {
        let positions = self.positions();
        let is_after = |shard: &Shard| {
            matches!(self.held.role(*shard), ShardRole::Owner(_)) && positions.was_loaded_after(*shard, position)
        };
        shards.iter().filter(is_after).collect()
    }

    /// Whether a message may not change an alert, because the alert may have been activated after the message was received.
    fn is_refused(&self, decision: &Decision, shard: Shard, message: &JudgedMessage) -> bool {
        if !is_firing(decision) && !is_state(decision) {
            return false;
        }
        let positions = self.positions();
        positions.has_changed_after(decision.alert, message.position)
            || positions.was_loaded_after(shard, message.position)
    }
}

fn is_firing(decision: &Decision) -> bool {
    matches!(decision.action, AlertAction::Fire { .. } | AlertAction::FireRule { .. })
}

/// Whether a decision only changes the state of an alert.
fn is_state(decision: &Decision) -> bool {
    matches!(
        decision.action,
        AlertAction::SetRsiSide { .. } | AlertAction::SetLifecycle { .. }
    )
}

/// Whether a decision is a firing of an alert without a life cycle.
fn is_plain_firing(decision: &Decision) -> bool {
    matches!(decision.action, AlertAction::Fire { .. })
}

fn owned_of(roles: &Roles, shards: &ShardSet) -> Vec<(Shard, Epoch)> {
    let owned = shards.iter().filter_map(|shard| match roles[usize::from(shard.0)] {
        ShardRole::Owner(epoch) => Some((shard, epoch)),
        ShardRole::Standby | ShardRole::Loading(_) | ShardRole::Elsewhere => None,
    });
    owned.collect()
}

fn micros(time: SignedDuration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
