//! The state from which the simulated market continues.

use std::collections::BTreeMap;

use market::{Bar, Symbol};
use sources::simulated::{SavedMarket, SavedStock};
use store::model::LatestQuote;

/// Returns the state from which the simulated market continues; `None` if there are no quotes.
#[must_use]
pub fn saved_market(quotes: &[LatestQuote]) -> Option<SavedMarket> {
    let at = quotes.iter().map(|quote| quote.at).max()?;
    let stocks: BTreeMap<Symbol, SavedStock> = quotes
        .iter()
        .map(|quote| {
            let today = Bar {
                date: quote.session,
                open: quote.open,
                high: quote.high,
                low: quote.low,
                close: quote.last,
                volume: quote.volume.unwrap_or_default(),
            };
            let stock = SavedStock {
                price: quote.last,
                today: Some(today),
            };
            (quote.symbol, stock)
        })
        .collect();
    Some(SavedMarket { at, stocks })
}
