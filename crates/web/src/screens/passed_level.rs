//! A price level that the price has passed already.

use alerts::condition::Side;
use market::{Price, Symbol};

use crate::figures;
use crate::texts;

/// A price level that the price has passed, so that an alert on it would fire at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassedLevel {
    symbol: Symbol,
    price: Price,
    side: Side,
}

impl PassedLevel {
    /// Returns the level of an alert that fires on one side of it; `None` if the price is on the other side, or unknown.
    #[must_use]
    pub fn of(symbol: Symbol, side: Side, level: Price, price: Option<Price>) -> Option<Self> {
        let price = price?;
        let is_passed = side.pick(price >= level, price <= level);
        is_passed.then_some(Self { symbol, price, side })
    }

    /// Returns the warning.
    #[must_use]
    pub fn text(&self) -> String {
        let price = figures::usd(self.price.decimal());
        let symbol = self.symbol.to_string();
        texts::text_with("level-passed", [("symbol", symbol.into()), ("price", price.into())])
    }

    /// Returns the side on which the alert waits for its level: the other one.
    #[must_use]
    pub const fn flipped(&self) -> Side {
        self.side.pick(Side::Below, Side::Above)
    }
}

/// Returns the id of the text of a button that turns an alert to a side.
#[must_use]
pub(crate) const fn flip_text(side: Side) -> &'static str {
    side.pick("flip-above", "flip-below")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(side: Side, price: &str) -> Option<String> {
        let (symbol, level) = ("AAPL".parse().unwrap(), "180".parse().unwrap());
        PassedLevel::of(symbol, side, level, price.parse().ok()).map(|passed| passed.text())
    }

    #[test]
    fn level_is_passed_from_itself_on() {
        assert!(passed(Side::Above, "180").unwrap().contains("AAPL is at 180.00"));
        assert_eq!(passed(Side::Above, "179.99"), None);
        assert!(passed(Side::Below, "180").is_some());
        assert_eq!(passed(Side::Below, "180.01"), None);
    }

    #[test]
    fn level_of_a_stock_without_a_price_is_not_passed() {
        assert_eq!(passed(Side::Above, ""), None);
    }
}
