//! The symbols of a request, by the provider's spelling.

use std::collections::BTreeMap;

use market::Symbol;

use super::ticker_style::TickerStyle;

/// The symbols of a request. Records are returned under the spellings that were requested.
#[derive(Debug, Clone)]
pub(super) struct RequestedSymbols {
    style: TickerStyle,
    /// The requested symbols by the provider's spelling; several if both BRK.B and BRK-B were requested.
    names: BTreeMap<String, Vec<Symbol>>,
}

impl RequestedSymbols {
    /// Creates the set of symbols, spelled in `style`.
    pub(super) fn new(symbols: &[Symbol], style: TickerStyle) -> Self {
        let mut names: BTreeMap<String, Vec<Symbol>> = BTreeMap::new();
        for &symbol in symbols {
            let known = names.entry(style.write(symbol)).or_default();
            if !known.contains(&symbol) {
                known.push(symbol);
            }
        }
        Self { style, names }
    }

    /// Splits the set into chunks of at most `max` spellings.
    pub(super) fn chunks(&self, max: usize) -> Vec<Self> {
        let names: Vec<_> = self.names.iter().collect();
        let chunk = |names: &[(&String, &Vec<Symbol>)]| Self {
            style: self.style,
            names: names
                .iter()
                .map(|(name, symbols)| ((*name).clone(), (*symbols).clone()))
                .collect(),
        };
        names.chunks(max.max(1)).map(chunk).collect()
    }

    /// Returns the provider's spellings, separated by commas.
    pub(super) fn comma_separated(&self) -> String {
        self.names.keys().map(String::as_str).collect::<Vec<_>>().join(",")
    }

    /// Returns the requested symbols that the provider's `name` stands for.
    pub(super) fn symbols_for(&self, name: &str) -> &[Symbol] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the requested symbols whose spelling `knows` returns false for.
    pub(super) fn missing(&self, knows: impl Fn(&str) -> bool) -> Vec<Symbol> {
        let missing = self.names.iter().filter(|(name, _)| !knows(name));
        missing.flat_map(|(_, symbols)| symbols.iter().copied()).collect()
    }

    /// Removes the provider's `name` and returns the symbols it stood for.
    pub(super) fn remove(&mut self, name: &str) -> Vec<Symbol> {
        self.names.remove(name).unwrap_or_default()
    }

    /// Returns the number of distinct spellings.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the first spelling, or the empty string if there is none.
    pub(super) fn first_name(&self) -> &str {
        self.names.keys().next().map_or("", String::as_str)
    }

    /// Returns one chunk without symbols, for requests about the whole market.
    pub(super) fn empty_chunk() -> Vec<Self> {
        vec![Self::new(&[], TickerStyle::Dot)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(texts: &[&str]) -> Vec<Symbol> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn response_uses_each_requested_spelling() {
        let requested = RequestedSymbols::new(&symbols(&["BRK.B", "AAPL", "BRK-B", "AAPL"]), TickerStyle::Dash);
        assert_eq!(requested.comma_separated(), "AAPL,BRK-B");
        assert_eq!(requested.symbols_for("BRK-B"), symbols(&["BRK.B", "BRK-B"]));
        assert_eq!(requested.symbols_for("AAPL"), symbols(&["AAPL"]));
        assert_eq!(requested.symbols_for("MSFT"), symbols(&[]));
    }

    #[test]
    fn chunks_respect_the_limit_and_cover_all_symbols() {
        let requested = RequestedSymbols::new(&symbols(&["A", "B", "C", "D", "E"]), TickerStyle::Dot);
        let lists: Vec<_> = requested
            .chunks(2)
            .iter()
            .map(RequestedSymbols::comma_separated)
            .collect();
        assert_eq!(lists, ["A,B", "C,D", "E"]);
        assert!(RequestedSymbols::new(&[], TickerStyle::Dot).chunks(2).is_empty());
    }

    #[test]
    fn unknown_symbols_are_missing() {
        let requested = RequestedSymbols::new(&symbols(&["A", "B", "C"]), TickerStyle::Dot);
        assert_eq!(requested.missing(|name| name == "B"), symbols(&["A", "C"]));
    }
}
