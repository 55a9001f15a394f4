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

    /// Returns whether there is no rule.
    pub(super) fn is_empty(&self) -> bool {
        self.by_lo.is_empty()
    }

    /// Returns all rules.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.by_lo.iter().map(|&(_, slot)| slot)
    }

    /// Returns the rules whose band does not contain a price and a volume, in the order of their slots.
    pub(super) fn left_by(&self, price: i64, volume: i64) -> BTreeSet<Slot> {
        let below = self.by_lo.range((price, Slot(0))..);
        let above = self.by_hi.range(..=(price, Slot(u32::MAX)));
        let volume = self.by_volume.range(..=(volume, Slot(u32::MAX)));
        below.chain(above).chain(volume).map(|&(_, slot)| slot).collect()
    }

    /// Narrows the band of the stock to those of all rules.
    pub(super) fn tighten(&self, band: &mut Band) {
        if let (Some(&(lo, _)), Some(&(hi, _)), Some(&(volume_hi, _))) =
            (self.by_lo.last(), self.by_hi.first(), self.by_volume.first())
        {
            band.lo = band.lo.max(lo);
            band.hi = band.hi.min(hi);
            band.volume_hi = band.volume_hi.min(volume_hi);
        }
    }
}
