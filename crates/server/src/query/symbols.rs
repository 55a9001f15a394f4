//! Lists of stocks in queries.

use market::Symbol;

use super::{Query, SYMBOL_FAULT};

/// How many stocks one may ask for at once.
const MAX_SYMBOLS: usize = 100;

impl Query {
    /// 1 to 100 symbols with commas between them. Without any that is a fault, and the list is empty.
    pub fn symbols(&mut self, name: &str) -> Vec<Symbol> {
        let symbols = self.list(name, MAX_SYMBOLS, SYMBOL_FAULT, |text| text.parse().ok());
        if symbols.is_none() {
            self.missing(
                name,
                "is required; give symbols with commas between them, such as AAPL,MSFT",
            );
        }
        symbols.unwrap_or_default()
    }
}
