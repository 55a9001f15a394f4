//! Which alerts are armed, and what each of them waits for.
//!
//! A slot is an alert's place in a few parallel arrays. Firing must be cheap even when a million alerts fire at
//! once, so it only reads the alert's identity and clears one bit; the slot and the id's entry are given back later,
//! by [`Registry::reclaim`].

use hashbrown::HashMap;
use jiff::Timestamp;
use market::Price;

use super::decision::{Decision, Verdict};
use super::event::StockIx;
use super::group::GroupKey;
use super::level_index::Slot;
use crate::alert::{AlertId, Revision};
use crate::condition::{Condition, Side};

/// What is needed to judge one alert.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) condition: Condition,
    pub(super) initial_price: Option<Price>,
    pub(super) rsi_side: Option<Side>,
    pub(super) armed_at: Timestamp,
    pub(super) stock: StockIx,
    pub(super) placement: Placement,
}

/// Where an alert waits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Placement {
    /// In a group of its stock, under a key.
    Level(GroupKey, i64),
    /// For an instant; `None` while none is known.
    Moment(Option<Timestamp>),
    /// Among its stock's watchers of insiders.
    Insiders,
    /// Among its stock's watchers of mentions.
    Buzz,
    /// Nowhere: a percent change without a price to count from.
    Nowhere,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Registry {
    slots: HashMap<AlertId, Slot>,
    identities: Vec<(AlertId, Revision)>,
    watches: Vec<Watch>,
    /// One bit a slot: whether its alert is judged.
    live: Vec<u64>,
    retired: Vec<Slot>,
    free: Vec<Slot>,
    armed: usize,
}

impl Registry {
    /// How many alerts are judged.
    pub(super) fn armed(&self) -> usize {
        self.armed
    }

    /// The slot of an alert that is judged.
    pub(super) fn find(&self, id: AlertId) -> Option<Slot> {
        self.slots.get(&id).copied().filter(|&slot| self.is_live(slot))
    }

    pub(super) fn is_live(&self, slot: Slot) -> bool {
        self.live[slot.0 as usize / 64] >> (slot.0 % 64) & 1 == 1
    }

    /// The slots of all alerts that are judged.
    pub(super) fn live(&self) -> impl Iterator<Item = Slot> {
        (0..self.watches.len())
            .filter_map(|at| u32::try_from(at).ok().map(Slot))
            .filter(|&slot| self.is_live(slot))
    }

    pub(super) fn watch(&self, slot: Slot) -> &Watch {
        &self.watches[slot.0 as usize]
    }

    pub(super) fn watch_mut(&mut self, slot: Slot) -> &mut Watch {
        &mut self.watches[slot.0 as usize]
    }

    pub(super) fn identity(&self, slot: Slot) -> (AlertId, Revision) {
        self.identities[slot.0 as usize]
    }

    pub(super) fn bump_revision(&mut self, slot: Slot) {
        let revision = &mut self.identities[slot.0 as usize].1;
        *revision = revision.next();
    }

    /// Gives an alert that is not judged yet a slot.
    ///
    /// # Panics
    /// Beyond four billion alerts.
    pub(super) fn add(&mut self, id: AlertId, revision: Revision, watch: Watch) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = Slot(u32::try_from(self.watches.len()).expect("fewer than 2^32 alerts"));
            self.watches.push(watch.clone());
            self.identities.push((id, revision));
            if self.live.len() * 64 < self.watches.len() {
                self.live.push(0);
            }
            slot
        });
        self.watches[slot.0 as usize] = watch;
        self.identities[slot.0 as usize] = (id, revision);
        self.live[slot.0 as usize / 64] |= 1 << (slot.0 % 64);
        self.slots.insert(id, slot);
        self.armed += 1;
        slot
    }

    /// An RSI alert for "the other side" now knows its side.
    pub(super) fn decide(&mut self, slot: Slot, side: Side, at: Timestamp) -> Decision {
        self.watch_mut(slot).rsi_side = Some(side);
        let (alert, revision) = self.identity(slot);
        Decision {
            alert,
            revision,
            at,
            verdict: Verdict::Decide { side },
        }
    }

    /// Forgets an alert at once. Whoever still holds its slot must not use it any more.
    pub(super) fn remove(&mut self, slot: Slot) {
        let (id, _) = self.identities[slot.0 as usize];
        self.live[slot.0 as usize / 64] &= !(1 << (slot.0 % 64));
        self.slots.remove(&id);
        self.free.push(slot);
        self.armed -= 1;
    }

    /// Stops judging an alert, and forgets it when there is time ([`Registry::reclaim`]).
    pub(super) fn retire(&mut self, slot: Slot) -> (AlertId, Revision) {
        self.live[slot.0 as usize / 64] &= !(1 << (slot.0 % 64));
        self.retired.push(slot);
        self.armed -= 1;
        self.identities[slot.0 as usize]
    }

    /// Gives the slots of retired alerts back.
    pub(super) fn reclaim(&mut self) {
        for slot in self.retired.drain(..) {
            let id = self.identities[slot.0 as usize].0;
            // The alert may have been armed anew in the meantime, in another slot.
            if self.slots.get(&id) == Some(&slot) {
                self.slots.remove(&id);
            }
            self.free.push(slot);
        }
    }
}
