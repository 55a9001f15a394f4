//! Spelling of tickers by provider.
//!
//! Exchange data feeds write a share class with a dot (`BRK.B`); the SEC and others write it with a hyphen (`BRK-B`). The canonical
//! form is the one with the dot. A request for `BRK-B` is still answered as `BRK-B` (`RequestedSymbols`), because the alert uses
//! that spelling.

use market::Symbol;

/// The separator between ticker and share class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TickerStyle {
    /// `BRK.B`
    Dot,
    /// `BRK-B`
    Dash,
}

impl TickerStyle {
    /// Returns the symbol in the provider's spelling.
    pub(super) fn write(self, symbol: Symbol) -> String {
        match self {
            Self::Dot => symbol.as_str().replace('-', "."),
            Self::Dash => symbol.as_str().replace('.', "-"),
        }
    }

    /// Parses the provider's spelling into the canonical symbol. Returns `None` for unsupported spellings, such as a warrant with a
    /// plus sign.
    pub(super) fn read(self, text: &str) -> Option<Symbol> {
        let text = text.trim();
        if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
            // Some providers mark preferred shares with a lower-case letter: ABCp is not ABCP.
            return None;
        }
        match self {
            Self::Dot => text.parse().ok(),
            Self::Dash => text.replace('-', ".").parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(text: &str) -> Symbol {
        text.parse().unwrap()
    }

    #[test]
    fn writes_share_classes_in_the_providers_style() {
        for (text, dot, dash) in [
            ("BRK.B", "BRK.B", "BRK-B"),
            ("BRK-B", "BRK.B", "BRK-B"),
            ("BF.B", "BF.B", "BF-B"),
            ("AAPL", "AAPL", "AAPL"),
        ] {
            assert_eq!(TickerStyle::Dot.write(symbol(text)), dot);
            assert_eq!(TickerStyle::Dash.write(symbol(text)), dash);
        }
    }

    #[test]
    fn reads_canonical_symbols() {
        assert_eq!(TickerStyle::Dash.read("BRK-B"), Some(symbol("BRK.B")));
        assert_eq!(TickerStyle::Dot.read("BF.B"), Some(symbol("BF.B")));
        assert_eq!(TickerStyle::Dot.read(" AAPL "), Some(symbol("AAPL")));
    }

    #[test]
    fn rejects_unsupported_spellings() {
        for text in ["", "BACpL", "ABC+", "ABCDEFGHIJK", "A B"] {
            assert_eq!(TickerStyle::Dot.read(text), None, "{text}");
        }
    }
}
