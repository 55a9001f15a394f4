//! Splits of stocks: the first session counts in old shares, the second one in new shares.

use std::collections::BTreeMap;

use super::{AlertModel, Cents, Model};

/// A split on the day of the second session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Split {
    TwoForOne,
    OneForTwo,
}

impl Split {
    /// The number of new shares for an old one.
    pub(crate) const fn ratio(self) -> f64 {
        match self {
            Self::TwoForOne => 2.0,
            Self::OneForTwo => 0.5,
        }
    }

    /// Converts a price of an old share to the price of a new one. The thresholds of simulations with two sessions are even, so that
    /// nothing is rounded.
    pub(crate) const fn price(self, old: Cents) -> Cents {
        match self {
            Self::TwoForOne => old / 2,
            Self::OneForTwo => old * 2,
        }
    }
}

/// The splits that may have been recorded.
#[derive(Clone, Default, Debug)]
pub(super) struct Splits {
    /// By stock: the split, and whether it certainly was recorded.
    recorded: BTreeMap<usize, (Split, bool)>,
    /// Whether their day has come.
    are_due: bool,
}

impl Splits {
    /// The split that may be applied to the alerts on a stock.
    fn due(&self, stock: usize) -> Option<Split> {
        let recorded = self.recorded.get(&stock).filter(|_| self.are_due);
        recorded.map(|(split, _)| *split)
    }

    /// Whether a split is applied before the next quote of the stock is judged.
    pub(super) fn is_certainly_due(&self, stock: usize) -> bool {
        self.are_due && self.recorded.get(&stock).is_some_and(|(_, is_certain)| *is_certain)
    }
}

impl Model {
    /// The second session has begun. No process has run since the first one, and the last prices are old.
    pub(crate) fn night_passes(&mut self) {
        self.splits.are_due = true;
        for prices in self.prices.values_mut() {
            *prices = [None].into();
        }
        for alert in self.alerts.values_mut() {
            alert.night_passes();
            alert.split = self.splits.due(alert.stock);
        }
    }

    /// Whether the second session has begun.
    pub(crate) const fn is_second_session(&self) -> bool {
        self.splits.are_due
    }

    /// A split is delivered.
    pub(crate) fn split_begins(&mut self, stock: usize, split: Split) {
        self.splits.recorded.entry(stock).or_insert((split, false));
        let due = self.splits.due(stock);
        for alert in self.alerts.values_mut().filter(|alert| alert.stock == stock) {
            alert.split = due;
        }
    }

    /// A split has been acknowledged: it is recorded, and applied if its day has come.
    pub(crate) fn split_ends(&mut self, stock: usize) {
        if let Some((_, is_certain)) = self.splits.recorded.get_mut(&stock) {
            *is_certain = true;
        }
        self.require_splits(stock);
    }

    /// Every alert on the stock counts in new shares, if a split is certainly due.
    pub(super) fn require_splits(&mut self, stock: usize) {
        if self.splits.is_certainly_due(stock) {
            self.update_all(stock, AlertModel::require_new_shares);
        }
    }

    /// Whether a split was delivered before.
    pub(crate) fn may_know_split(&self, stock: usize) -> bool {
        self.splits.recorded.contains_key(&stock)
    }

    /// Whether a split is due that may not have been applied to all alerts.
    pub(crate) fn waits_for_split(&self) -> bool {
        let waits = |alert: &AlertModel| self.splits.is_certainly_due(alert.stock) && alert.may_be_in_old_shares();
        self.alerts.values().any(waits)
    }
}
