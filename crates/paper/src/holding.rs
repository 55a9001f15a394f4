//! A position of shares, valued at each close.

use market::{Decimal, Price};
use serde::{Deserialize, Serialize};

use crate::corporate_actions::CorporateAction;
use crate::serde_market;
use crate::shares::{Shares, SharesError};

/// Shares and their last known value.
///
/// On a day without a close the last price remains, and a split on such a day leaves it per old share. Therefore the
/// price is kept together with the number of shares it applies to, and the split does not change the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Holding {
    /// The shares that are held.
    shares: Shares,
    /// The last known price: a close, or the entry price.
    #[serde(with = "serde_market::price")]
    mark: Price,
    /// The number of shares at that price.
    marked: Shares,
}

impl Holding {
    /// Buys shares for `dollars`.
    pub(crate) fn bought(dollars: Decimal, price: Price) -> Result<Self, SharesError> {
        let shares = Shares::for_dollars(dollars, price)?;
        Ok(Self {
            shares,
            mark: price,
            marked: shares,
        })
    }

    /// The last known value of the shares.
    pub(crate) fn value(&self) -> f64 {
        self.marked.value_f64(self.mark)
    }

    /// Applies an action and returns the amount it pays.
    pub(crate) fn apply(&mut self, action: CorporateAction) -> f64 {
        match action {
            CorporateAction::Split(ratio) => {
                self.shares = self.shares.after_split(ratio);
                0.0
            }
            CorporateAction::Dividend(amount) => self.shares.times_f64(amount),
        }
    }

    /// Values the shares at a price.
    pub(crate) fn mark_to(&mut self, price: Price) {
        self.mark = price;
        self.marked = self.shares;
    }
}
