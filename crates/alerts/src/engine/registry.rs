//! The armed alerts and their triggers.
//!
//! A slot is an alert's index in several parallel arrays. Firing must be cheap even if a million alerts fire at once, so it only
//! reads the alert's identity and clears one bit. [`Registry::reclaim`] releases the slot and the id's entry later.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use jiff::Timestamp;
use market::Price;

use super::decision::{AlertAction, Decision};
use super::event::StockIndex;
use super::group::GroupKey;
use super::level_index::Slot;
use super::level_key::{change_level, rsi_key};
use crate::alert::{AlertId, Revision};
use crate::condition::{Condition, RsiDirection, Side};

/// The data needed to evaluate one alert. It is kept for each armed alert, so its size is most of the memory that an alert takes.
#[derive(Clone, Debug)]
pub(super) struct ArmedAlert {
    pub(super) condition: Condition,
    pub(super) initial_price: Option<Price>,
    pub(super) armed_at: Timestamp,
    pub(super) stock: StockIndex,
    pub(super) rsi_side: Option<Side>,
    pub(super) placement: Placement,
}

const _: () = assert!(size_of::<ArmedAlert>() <= 56);

/// The kind of trigger of an armed alert.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Placement {
    /// In a group of its stock, under the key that [`ArmedAlert::level`] returns.
    Level,
    /// An instant that the engine schedules, or none while no instant is known.
    Moment,
    /// A watcher of the stock's insider trades.
    Insiders,
    /// A watcher of the stock's mentions.
    Buzz,
    /// No trigger: a percent change without an initial price.
    Nowhere,
}

impl ArmedAlert {
    /// Whether the alert waits for one side of an RSI after the other.
    pub(super) const fn waits_for_rsi_side(&self) -> bool {
        matches!(
            self.condition,
            Condition::Rsi {
                direction: RsiDirection::Both,
                ..
            }
        )
    }

    /// Returns the group of the alert and its level there; `None` if it waits for no level. Both follow from the other data, so they
    /// are not kept.
    pub(super) fn level(&self) -> Option<(GroupKey, i64)> {
        match self.condition {
            Condition::Price { side, threshold } => Some((GroupKey::Price(side), side.key(threshold.micros()))),
            Condition::PriceChange { side, percent } => {
                let level = change_level(self.initial_price?, side, percent.micros());
                Some((GroupKey::Change(side), side.key(level)))
            }
            Condition::NewExtreme { side } => Some((GroupKey::Extreme(side), 0)),
            Condition::MaCrossover { side } => Some((GroupKey::Cross(side), 0)),
            Condition::MaTouch { side, period } => Some((GroupKey::Touch { side, period }, 0)),
            Condition::Rsi { direction, threshold } => {
                let side = match direction {
                    RsiDirection::Above => Some(Side::Above),
                    RsiDirection::Below => Some(Side::Below),
                    RsiDirection::Both => self.rsi_side,
                };
                Some(rsi_key(side, threshold.micros()))
            }
            Condition::VolumeChange { baseline, percent } => Some((GroupKey::Volume(baseline), percent.micros())),
            Condition::PeRatio {
                side,
                earnings,
                threshold,
            } => Some((GroupKey::Pe { earnings, side }, side.key(threshold.micros()))),
            Condition::SocialBuzz(_)
            | Condition::InsiderTransactions(_)
            | Condition::Reminder { .. }
            | Condition::DailyReminder(_)
            | Condition::EarningsAnnouncement { .. }
            | Condition::DividendExDate { .. }
            | Condition::DividendPayment { .. }
            | Condition::Expression(_) => None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Registry {
    /// The slots of armed and retired alerts by the ids in `identities`, which are not repeated here.
    slots: HashTable<Slot>,
    hasher: DefaultHashBuilder,
    identities: Vec<(AlertId, Revision)>,
    alerts: Vec<ArmedAlert>,
    /// One bit per slot: whether its alert is armed.
    live: Vec<u64>,
    /// The scheduled instants of alerts that wait for one.
    moments: HashMap<Slot, Timestamp>,
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
        let is_of = |&slot: &Slot| self.identity(slot).0 == id;
        let slot = self.slots.find(self.hasher.hash_one(id), is_of).copied();
        slot.filter(|&slot| self.is_live(slot))
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
        let slot = match self.free.pop() {
            Some(slot) => {
                self.alerts[slot.0 as usize] = alert;
                self.identities[slot.0 as usize] = (id, revision);
                slot
            }
            None => {
                let slot = Slot(u32::try_from(self.alerts.len()).expect("fewer than 2^32 alerts"));
                self.alerts.push(alert);
                self.identities.push((id, revision));
                if self.live.len() * 64 < self.alerts.len() {
                    self.live.push(0);
                }
                slot
            }
        };
        self.live[slot.0 as usize / 64] |= 1 << (slot.0 % 64);
        self.armed += 1;
        let identity = |slot: &Slot| self.identities[slot.0 as usize].0;
        let hash = |slot: &Slot| self.hasher.hash_one(identity(slot));
        match self
            .slots
            .entry(self.hasher.hash_one(id), |other| identity(other) == id, hash)
        {
            // The slot of an earlier revision that was retired.
            Entry::Occupied(mut earlier) => *earlier.get_mut() = slot,
            Entry::Vacant(vacant) => {
                vacant.insert(slot);
            }
        }
        slot
    }

    /// Returns the scheduled instant of an alert.
    pub(super) fn moment(&self, slot: Slot) -> Option<Timestamp> {
        self.moments.get(&slot).copied()
    }

    /// Records the scheduled instant of an alert.
    pub(super) fn set_moment(&mut self, slot: Slot, at: Option<Timestamp>) {
        self.alert_mut(slot).placement = Placement::Moment;
        match at {
            Some(at) => self.moments.insert(slot, at),
            None => self.moments.remove(&slot),
        };
    }

    /// Removes a slot from those that are found by an id, unless the alert has another slot by now.
    fn forget(&mut self, slot: Slot) {
        self.moments.remove(&slot);
        let hash = self.hasher.hash_one(self.identities[slot.0 as usize].0);
        if let Ok(found) = self.slots.find_entry(hash, |&other| other == slot) {
            found.remove();
        }
    }

    /// Sets the side of an RSI alert for both directions.
    pub(super) fn set_rsi_side(&mut self, slot: Slot, side: Side, at: Timestamp) -> Decision {
        let armed = self.alert_mut(slot);
        armed.rsi_side = Some(side);
        let stock = armed.stock;
        let (alert, revision) = self.identity(slot);
        Decision {
            alert,
            revision,
            stock,
            at,
            action: AlertAction::SetRsiSide { side },
        }
    }

    /// Removes an alert at once. Its slot must not be used afterwards.
    pub(super) fn remove(&mut self, slot: Slot) {
        self.live[slot.0 as usize / 64] &= !(1 << (slot.0 % 64));
        self.forget(slot);
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

    /// Disarms some alerts. [`Registry::reclaim`] removes them later. Replaces `identities` by theirs.
    pub(super) fn retire_all(&mut self, slots: &[Slot], identities: &mut Vec<(AlertId, Revision)>) {
        identities.clear();
        identities.extend(slots.iter().map(|slot| self.identities[slot.0 as usize]));
        for slot in slots {
            self.live[slot.0 as usize / 64] &= !(1 << (slot.0 % 64));
        }
        self.retired.extend_from_slice(slots);
        self.armed -= slots.len();
    }

    /// Releases the slots of retired alerts.
    pub(super) fn reclaim(&mut self) {
        for at in 0..self.retired.len() {
            self.forget(self.retired[at]);
        }
        self.free.append(&mut self.retired);
    }
}
