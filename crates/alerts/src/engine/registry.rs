//! The armed alerts and their triggers.
//!
//! A slot is an alert's index in several parallel arrays. Firing must be cheap even if a million alerts fire at once, so it only
//! reads the alert's identity and clears one bit. [`Registry::reclaim`] releases the slot and the id's entry later.

use hashbrown::HashMap;
use jiff::Timestamp;
use market::Price;

use super::decision::{AlertAction, Decision};
use super::event::StockIndex;
use super::group::GroupKey;
use super::level_index::Slot;
use crate::alert::{AlertId, Revision};
use crate::condition::{Condition, Side};

/// The data needed to evaluate one alert.
#[derive(Clone, Debug)]
pub(super) struct ArmedAlert {
    pub(super) condition: Condition,
    pub(super) initial_price: Option<Price>,
    pub(super) rsi_side: Option<Side>,
    pub(super) armed_at: Timestamp,
    pub(super) stock: StockIndex,
    pub(super) placement: Placement,
}

/// The trigger of an armed alert.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Placement {
    /// In a group of its stock, under a key.
    Level(GroupKey, i64),
    /// A scheduled instant; `None` while no instant is known.
    Moment(Option<Timestamp>),
    /// A watcher of the stock's insider trades.
    Insiders,
    /// A watcher of the stock's mentions.
    Buzz,
    /// No trigger: a percent change without an initial price.
    Nowhere,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Registry {
    slots: HashMap<AlertId, Slot>,
    identities: Vec<(AlertId, Revision)>,
    alerts: Vec<ArmedAlert>,
    /// One bit per slot: whether its alert is armed.
    live: Vec<u64>,
    retired: Vec<Slot>,
    free: Vec<Slot>,
    armed: usize,
}

impl Registry {
    /// Returns the number of armed alerts.
    pub(super) fn armed(&self) -> usize {
        self.armed
    }

    /// Returns the slot of an armed alert.
    pub(super) fn find(&self, id: AlertId) -> Option<Slot> {
        self.slots.get(&id).copied().filter(|&slot| self.is_live(slot))
    }

    pub(super) fn is_live(&self, slot: Slot) -> bool {
        self.live[slot.0 as usize / 64] >> (slot.0 % 64) & 1 == 1
    }

    /// Returns the slots of all armed alerts.
    pub(super) fn live(&self) -> impl Iterator<Item = Slot> {
        (0..self.alerts.len())
            .filter_map(|at| u32::try_from(at).ok().map(Slot))
            .filter(|&slot| self.is_live(slot))
    }

    pub(super) fn alert(&self, slot: Slot) -> &ArmedAlert {
        &self.alerts[slot.0 as usize]
    }

    pub(super) fn alert_mut(&mut self, slot: Slot) -> &mut ArmedAlert {
        &mut self.alerts[slot.0 as usize]
    }

    pub(super) fn identity(&self, slot: Slot) -> (AlertId, Revision) {
        self.identities[slot.0 as usize]
    }

    pub(super) fn bump_revision(&mut self, slot: Slot) {
        let revision = &mut self.identities[slot.0 as usize].1;
        *revision = revision.next();
    }

    /// Adds an alert that is not armed yet.
    ///
    /// # Panics
    /// Panics beyond 2³² alerts.
    pub(super) fn add(&mut self, id: AlertId, revision: Revision, alert: ArmedAlert) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = Slot(u32::try_from(self.alerts.len()).expect("fewer than 2^32 alerts"));
            self.alerts.push(alert.clone());
            self.identities.push((id, revision));
            if self.live.len() * 64 < self.alerts.len() {
                self.live.push(0);
            }
            slot
        });
        self.alerts[slot.0 as usize] = alert;
        self.identities[slot.0 as usize] = (id, revision);
        self.live[slot.0 as usize / 64] |= 1 << (slot.0 % 64);
        self.slots.insert(id, slot);
        self.armed += 1;
        slot
    }

    /// Sets the side of an RSI alert for both directions.
    pub(super) fn set_rsi_side(&mut self, slot: Slot, side: Side, at: Timestamp) -> Decision {
        self.alert_mut(slot).rsi_side = Some(side);
        let (alert, revision) = self.identity(slot);
        Decision {
            alert,
            revision,
            at,
            action: AlertAction::SetRsiSide { side },
        }
    }

    /// Removes an alert at once. Its slot must not be used afterwards.
    pub(super) fn remove(&mut self, slot: Slot) {
        let (id, _) = self.identities[slot.0 as usize];
        self.live[slot.0 as usize / 64] &= !(1 << (slot.0 % 64));
        self.slots.remove(&id);
        self.free.push(slot);
        self.armed -= 1;
    }

    /// Disarms an alert. [`Registry::reclaim`] removes it later.
    pub(super) fn retire(&mut self, slot: Slot) -> (AlertId, Revision) {
        self.live[slot.0 as usize / 64] &= !(1 << (slot.0 % 64));
        self.retired.push(slot);
        self.armed -= 1;
        self.identities[slot.0 as usize]
    }

    /// Releases the slots of retired alerts.
    pub(super) fn reclaim(&mut self) {
        for slot in self.retired.drain(..) {
            let id = self.identities[slot.0 as usize].0;
            // The alert may have been armed again in another slot.
            if self.slots.get(&id) == Some(&slot) {
                self.slots.remove(&id);
            }
            self.free.push(slot);
        }
    }
}
