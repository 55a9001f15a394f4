//! Shares that are held from close to close.

use market::{Decimal, Price};
use serde::{Deserialize, Serialize};

use crate::events::Event;
use crate::shares::{Shares, SharesError};
use crate::wire;

/// Some shares, and what they were last seen to be worth.
///
/// A day without a close leaves the last one standing, and a split on such a day leaves it in old shares. So the price
/// is kept together with the shares it is for, and the value is not touched by the split.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Holding {
    /// The shares that are held.
    shares: Shares,
    /// The last price seen: a close, or what was paid.
    #[serde(with = "wire::price")]
    mark: Price,
    /// The shares that were held at that price.
    marked: Shares,
}

impl Holding {
    /// As many shares as `dollars` buy.
    pub(crate) fn bought(dollars: Decimal, price: Price) -> Result<Self, SharesError> {
        let shares = Shares::worth(dollars, price)?;
        Ok(Self {
            shares,
            mark: price,
            marked: shares,
        })
    }

    /// What the shares were last seen to be worth.
    pub(crate) fn value(&self) -> f64 {
        self.marked.value_f64(self.mark)
    }

    /// Takes in an event; the answer is what it pays.
    pub(crate) fn take(&mut self, event: Event) -> f64 {
        match event {
            Event::Split(ratio) => {
                self.shares = self.shares.after_split(ratio);
                0.0
            }
            Event::Dividend(amount) => self.shares.times_f64(amount),
        }
    }

    /// Sees a price.
    pub(crate) fn see(&mut self, price: Price) {
        self.mark = price;
        self.marked = self.shares;
    }
}
