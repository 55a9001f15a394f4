//! The rules of one stock, in the order in which its price and volume leave their quiet bands.

use std::collections::BTreeSet;

use crate::engine::group::Band;
use crate::engine::level_index::Slot;

/// The rules of one stock by the edges of their quiet bands.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct RuleIndex {
    by_lo: BTreeSet<(i64, Slot)>,
    by_hi: BTreeSet<(i64, Slot)>,
    by_volume: BTreeSet<(i64, Slot)>,
    /// The rules that are judged in extended hours, too.
    extended: BTreeSet<Slot>,
    /// Whether every rule is judged next, because something changed besides the price and the volume.
    all_due: bool,
}

impl RuleIndex {
    /// Adds a rule with its band.
    pub(super) fn insert(&mut self, slot: Slot, band: Band) {
        self.by_lo.insert((band.lo, slot));
        self.by_hi.insert((band.hi, slot));
        self.by_volume.insert((band.volume_hi, slot));
    }

    /// Removes a rule that was added with this band.
    pub(super) fn remove(&mut self, slot: Slot, band: Band) {
        self.by_lo.remove(&(band.lo, slot));
        self.by_hi.remove(&(band.hi, slot));
        self.by_volume.remove(&(band.volume_hi, slot));
    }

    /// Moves a rule to another band.
    pub(super) fn replace(&mut self, slot: Slot, from: Band, to: Band) {
        if from != to {
            self.remove(slot, from);
            self.insert(slot, to);
        }
    }

    /// Lets a rule be judged in extended hours, too.
    pub(super) fn insert_extended(&mut self, slot: Slot) {
        self.extended.insert(slot);
    }

    /// Removes a rule from those that are judged in extended hours.
    pub(super) fn remove_extended(&mut self, slot: Slot) {
        self.extended.remove(&slot);
    }

    /// Returns the rules that are judged in extended hours, too.
    pub(super) fn extended(&self) -> impl Iterator<Item = Slot> {
        self.extended.iter().copied()
    }

    /// Returns whether a rule is judged in extended hours.
    pub(in crate::engine) fn has_extended(&self) -> bool {
        !self.extended.is_empty()
    }

    /// Returns whether there is no rule.
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.by_lo.is_empty()
    }

    /// Returns the memory of the index in bytes, without the inner nodes of its trees.
    pub(in crate::engine) fn bytes(&self) -> usize {
        let entries = self.by_lo.len() + self.by_hi.len() + self.by_volume.len();
        entries * size_of::<(i64, Slot)>()
    }

    /// Lets every rule be judged next.
    pub(in crate::engine) fn mark_all_due(&mut self) {
        self.all_due = true;
    }

    /// Returns all rules.
    pub(super) fn slots(&self) -> BTreeSet<Slot> {
        self.by_lo.iter().map(|&(_, slot)| slot).collect()
    }

    /// Returns all rules, which are going to be judged.
    pub(super) fn take_all(&mut self) -> BTreeSet<Slot> {
        self.all_due = false;
        self.slots()
    }

    /// Returns the rules that are going to be judged because of a price and a volume: those whose band does not contain them.
    pub(super) fn take_left_by(&mut self, price: i64, volume: i64) -> BTreeSet<Slot> {
        if self.all_due {
            return self.take_all();
        }
        let below = self.by_lo.range((price, Slot(0))..);
        let above = self.by_hi.range(..=(price, Slot(u32::MAX)));
        let volume = self.by_volume.range(..=(volume, Slot(u32::MAX)));
        below.chain(above).chain(volume).map(|&(_, slot)| slot).collect()
    }

    /// Narrows the band of the stock to those of all rules.
    pub(in crate::engine) fn tighten(&self, band: &mut Band) {
        if self.all_due && !self.is_empty() {
            *band = Band::EMPTY;
        }
        if let (Some(&(lo, _)), Some(&(hi, _)), Some(&(volume_hi, _))) =
            (self.by_lo.last(), self.by_hi.first(), self.by_volume.first())
        {
            band.lo = band.lo.max(lo);
            band.hi = band.hi.min(hi);
            band.volume_hi = band.volume_hi.min(volume_hi);
        }
    }
}
