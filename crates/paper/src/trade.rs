//! A paper trade.
//!
//! A trade consists of its entry, its exit and its [`Adjustments`] (shares after splits, dividends). Its profit
//! follows from these and is not stored, so it cannot contradict them. Applying an action after the exit gives the
//! same result.

use jiff::Timestamp;
use market::{Decimal, MICROS_PER_UNIT, Price, Symbol};
use uuid::Uuid;

use crate::corporate_actions::{CorporateAction, CorporateActions};
use crate::direction::Direction;
use crate::shares::{Shares, SharesError};

/// The notional of each trade: 1,000 US dollars.
pub const TRADE_NOTIONAL: Decimal = Decimal::from_micros(1_000 * MICROS_PER_UNIT);

/// The entry or exit of a trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// The instant.
    pub at: Timestamp,
    /// The price, per share of that day in New York.
    pub price: Price,
}

/// The effects of splits and dividends on a trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adjustments {
    /// The shares held now or at the exit.
    pub shares: Shares,
    /// The dividends so far: positive if paid to a long, negative if charged to a short.
    pub dividends: Decimal,
    /// All actions up to this instant are applied.
    pub through: Timestamp,
}

/// One paper trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trade {
    /// Its id.
    pub id: Uuid,
    /// The stock.
    pub symbol: Symbol,
    /// The direction.
    pub direction: Direction,
    /// The invested amount in US dollars.
    pub notional: Decimal,
    /// The entry at the price paid; [`Trade::entry_price`] is per share after its splits.
    pub entry: Fill,
    /// The exit; `None` while the trade is open.
    pub exit: Option<Fill>,
    /// The effects of splits and dividends.
    pub adjustments: Adjustments,
}

/// The trade is already closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the trade is already closed; activate its item again for a new one")]
pub struct AlreadyClosedError;

impl Trade {
    /// Opens a trade of [`TRADE_NOTIONAL`].
    #[must_use]
    pub fn open(id: Uuid, symbol: Symbol, direction: Direction, entry: Fill) -> Self {
        Self::with_notional(TRADE_NOTIONAL, id, symbol, direction, entry)
            .unwrap_or_else(|_| unreachable!("a thousand dollars buy some shares"))
    }

    /// Opens a trade with any notional.
    ///
    /// # Errors
    /// [`SharesError::NotPositive`] for a notional of zero or less.
    pub fn with_notional(
        notional: Decimal,
        id: Uuid,
        symbol: Symbol,
        direction: Direction,
        entry: Fill,
    ) -> Result<Self, SharesError> {
        let shares = Shares::for_dollars(notional, entry.price)?;
        Ok(Self {
            id,
            symbol,
            direction,
            notional,
            entry,
            exit: None,
            adjustments: Adjustments {
                shares,
                dividends: Decimal::ZERO,
                through: entry.at,
            },
        })
    }

    /// Whether it is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.exit.is_none()
    }

    /// The number of shares to a millionth, after splits.
    #[must_use]
    pub fn quantity(&self) -> Decimal {
        self.adjustments.shares.rounded()
    }

    /// The entry price per share after splits, to a millionth.
    #[must_use]
    pub fn entry_price(&self) -> Price {
        self.adjustments.shares.price_for_value(self.notional)
    }

    /// The profit if the shares are sold (or bought back) at `price`, including dividends, to a millionth of a
    /// dollar.
    #[must_use]
    pub fn profit_at(&self, price: Price) -> Decimal {
        let gain = self.adjustments.shares.value(price).micros() - self.notional.micros();
        let dividends = self.adjustments.dividends.micros();
        Decimal::from_micros((self.direction.sign() * gain).saturating_add(dividends))
    }

    /// The profit of a closed trade; `None` while it is open.
    #[must_use]
    pub fn realised_profit(&self) -> Option<Decimal> {
        self.exit.map(|exit| self.profit_at(exit.price))
    }

    /// Closes the trade. Without a price it ends at its entry price, because no other was ever known. (In that case
    /// splits before `at` must be applied first.) If the clock went back, the exit is at the entry's instant at the
    /// earliest.
    ///
    /// # Errors
    /// [`AlreadyClosedError`] if the trade is already closed.
    pub fn close(&mut self, at: Timestamp, price: Option<Price>) -> Result<(), AlreadyClosedError> {
        if self.exit.is_some() {
            return Err(AlreadyClosedError);
        }
        self.exit = Some(Fill {
            at: at.max(self.entry.at),
            price: price.unwrap_or_else(|| self.entry_price()),
        });
        Ok(())
    }

    /// Applies the stock's splits and dividends up to `now` that are not applied yet and precede the exit. Repeated
    /// calls change nothing, and the order of closing and applying does not matter.
    pub fn apply_actions(&mut self, actions: &CorporateActions, now: Timestamp) {
        let through = self.exit.map_or(now, |exit| exit.at.min(now));
        for action in actions.between(self.symbol, self.adjustments.through, through) {
            let Adjustments { shares, dividends, .. } = &mut self.adjustments;
            match action {
                CorporateAction::Split(ratio) => *shares = shares.after_split(ratio),
                CorporateAction::Dividend(amount) => {
                    let paid = self.direction.sign() * shares.times(amount).micros();
                    *dividends = Decimal::from_micros(dividends.micros().saturating_add(paid));
                }
            }
        }
        self.adjustments.through = self.adjustments.through.max(through);
    }
}
