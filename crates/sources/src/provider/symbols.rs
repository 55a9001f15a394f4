//! How providers write tickers.
//!
//! A class of shares is written with a full stop (`BRK.B`) by exchanges' data feeds, with a hyphen (`BRK-B`) by the SEC and
//! others. Here the form with the full stop is the canonical one; but who asks for `BRK-B` is answered about `BRK-B`
//! (`Asked`), because that is what the alert is called.

use market::Symbol;

/// How a provider separates the class from the company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `BRK.B`
    Dot,
    /// `BRK-B`
    Dash,
}

impl Style {
    /// The symbol as the provider writes it.
    pub(super) fn write(self, symbol: Symbol) -> String {
        match self {
            Self::Dot => symbol.as_str().replace('-', "."),
            Self::Dash => symbol.as_str().replace('.', "-"),
        }
    }

    /// The canonical symbol of what the provider writes; `None` for what is no symbol here, such as a warrant with a
    /// plus sign.
    pub(super) fn read(self, text: &str) -> Option<Symbol> {
        let text = text.trim();
        if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
            // Lower case tells preferred shares from others at some providers: ABCp is not ABCP.
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
    fn a_class_is_written_as_the_provider_does() {
        for (text, dot, dash) in [
            ("BRK.B", "BRK.B", "BRK-B"),
            ("BRK-B", "BRK.B", "BRK-B"),
            ("BF.B", "BF.B", "BF-B"),
            ("AAPL", "AAPL", "AAPL"),
        ] {
            assert_eq!(Style::Dot.write(symbol(text)), dot);
            assert_eq!(Style::Dash.write(symbol(text)), dash);
        }
    }

    #[test]
    fn what_is_read_is_canonical() {
        assert_eq!(Style::Dash.read("BRK-B"), Some(symbol("BRK.B")));
        assert_eq!(Style::Dot.read("BF.B"), Some(symbol("BF.B")));
        assert_eq!(Style::Dot.read(" AAPL "), Some(symbol("AAPL")));
    }

    #[test]
    fn what_is_no_symbol_here_is_none() {
        for text in ["", "BACpL", "ABC+", "ABCDEFGHIJK", "A B"] {
            assert_eq!(Style::Dot.read(text), None, "{text}");
        }
    }
}
