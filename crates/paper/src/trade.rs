//! A paper trade.
//!
//! A trade is what was done (its entry and its exit) and what the company did meanwhile (its [`Settlement`]: shares
//! after splits, dividends). What it earned follows from both and is kept nowhere, so that it cannot contradict them:
//! an event that is settled after the exit comes to the same.

use jiff::Timestamp;
use market::{Decimal, MICROS_PER_UNIT, Price, Symbol};
use uuid::Uuid;

use crate::direction::Direction;
use crate::events::{Event, Events};
use crate::shares::{Shares, SharesError};

/// What is put on each trade: 1,000 US dollars.
pub const NOTIONAL: Decimal = Decimal::from_micros(1_000 * MICROS_PER_UNIT);

/// A trade's beginning or end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// When.
    pub at: Timestamp,
    /// At what price, in the shares of that day in New York.
    pub price: Price,
}

/// What the company's splits and dividends made of a trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settlement {
    /// The shares that are held, or were at the exit.
    pub shares: Shares,
    /// Dividends so far: above zero what a long was paid, below what a short was charged.
    pub dividends: Decimal,
    /// Events of up to this instant are in.
    pub through: Timestamp,
}

/// One paper trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trade {
    /// Its id.
    pub id: Uuid,
    /// The stock.
    pub symbol: Symbol,
    /// Which way it bets.
    pub direction: Direction,
    /// What was put on it, in US dollars.
    pub notional: Decimal,
    /// How it began, as it was paid; [`Trade::entry_price`] is in the shares of after its splits.
    pub entry: Fill,
    /// How it ended; `None` while it is open.
    pub exit: Option<Fill>,
    /// What splits and dividends made of it.
    pub settlement: Settlement,
}

/// The trade is closed already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the trade was closed already; reopen its item for a new one")]
pub struct Closed;

impl Trade {
    /// Opens a trade of [`NOTIONAL`].
    #[must_use]
    pub fn open(id: Uuid, symbol: Symbol, direction: Direction, entry: Fill) -> Self {
        Self::of(NOTIONAL, id, symbol, direction, entry)
            .unwrap_or_else(|_| unreachable!("a thousand dollars buy some shares"))
    }

    /// Opens a trade of any notional.
    ///
    /// # Errors
    /// [`SharesError::NotPositive`] for a notional of zero or less.
    pub fn of(
        notional: Decimal,
        id: Uuid,
        symbol: Symbol,
        direction: Direction,
        entry: Fill,
    ) -> Result<Self, SharesError> {
        let shares = Shares::worth(notional, entry.price)?;
        Ok(Self {
            id,
            symbol,
            direction,
            notional,
            entry,
            exit: None,
            settlement: Settlement {
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
        self.settlement.shares.rounded()
    }

    /// The entry price in the shares of after splits, to a millionth.
    #[must_use]
    pub fn entry_price(&self) -> Price {
        self.settlement.shares.price_at_worth(self.notional)
    }

    /// What was earned if the shares are sold (or bought back) at `price`, dividends included, to a millionth of a
    /// dollar.
    #[must_use]
    pub fn profit_at(&self, price: Price) -> Decimal {
        let gain = self.settlement.shares.value(price).micros() - self.notional.micros();
        let dividends = self.settlement.dividends.micros();
        Decimal::from_micros((self.direction.sign() * gain).saturating_add(dividends))
    }

    /// What a closed trade earned; `None` while it is open.
    #[must_use]
    pub fn realised_profit(&self) -> Option<Decimal> {
        self.exit.map(|exit| self.profit_at(exit.price))
    }

    /// Closes the trade. Without a price it ends at its entry price: no other was ever known. (A split of before `at`
    /// must be settled first in that case.) A clock that went back does not end a trade before it began.
    ///
    /// # Errors
    /// [`Closed`] if it was closed already.
    pub fn close(&mut self, at: Timestamp, price: Option<Price>) -> Result<(), Closed> {
        if self.exit.is_some() {
            return Err(Closed);
        }
        self.exit = Some(Fill {
            at: at.max(self.entry.at),
            price: price.unwrap_or_else(|| self.entry_price()),
        });
        Ok(())
    }

    /// Takes in the stock's splits and dividends of up to `now`: those since the last time, and of before the exit.
    /// Doing it again changes nothing, nor does it matter whether the trade was closed before or after.
    pub fn settle(&mut self, events: &Events, now: Timestamp) {
        let through = self.exit.map_or(now, |exit| exit.at.min(now));
        for event in events.between(self.symbol, self.settlement.through, through) {
            let Settlement { shares, dividends, .. } = &mut self.settlement;
            match event {
                Event::Split(ratio) => *shares = shares.after_split(ratio),
                Event::Dividend(amount) => {
                    let paid = self.direction.sign() * shares.times(amount).micros();
                    *dividends = Decimal::from_micros(dividends.micros().saturating_add(paid));
                }
            }
        }
        self.settlement.through = self.settlement.through.max(through);
    }

    /// The trade as it was before any split or dividend, to be settled anew when one became known late.
    #[must_use]
    pub fn unsettled(self) -> Self {
        let shares = Shares::worth(self.notional, self.entry.price).unwrap_or(self.settlement.shares);
        Self {
            settlement: Settlement {
                shares,
                dividends: Decimal::ZERO,
                through: self.entry.at,
            },
            ..self
        }
    }
}
