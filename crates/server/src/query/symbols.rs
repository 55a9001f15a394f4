//! Symbol list parameters.

use market::Symbol;

use super::{Query, SYMBOL_ERROR};

/// Maximum number of symbols per request.
const MAX_SYMBOLS_PER_REQUEST: usize = 100;

impl Query {
    /// Reads 1 to 100 comma-separated symbols. If none is given, records an error and returns an empty list.
    pub fn symbols(&mut self, name: &str) -> Vec<Symbol> {
        let symbols = self.list(name, MAX_SYMBOLS_PER_REQUEST, SYMBOL_ERROR, |text| text.parse().ok());
        if symbols.is_none() {
            self.missing(name, "is required; send comma-separated symbols, such as AAPL,MSFT");
        }
        symbols.unwrap_or_default()
    }
}
