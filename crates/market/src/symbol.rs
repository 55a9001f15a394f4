//! Ticker symbols.

use std::fmt;
use std::str::FromStr;

/// The maximum length of a ticker, in characters.
pub const MAX_SYMBOL_LENGTH: usize = 10;

/// A ticker of 1–10 characters from `A–Z 0–9 . -`. Parsing ignores case; the stored text is upper case.
///
/// ```
/// use market::Symbol;
/// let symbol: Symbol = "brk.b".parse().unwrap();
/// assert_eq!(symbol.as_str(), "BRK.B");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol {
    /// Zero-padded, so that the derived order is the order of the texts.
    text: [u8; MAX_SYMBOL_LENGTH],
}

/// The reason why a text is not a ticker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    /// It contains nothing but white space.
    #[error("a symbol must not be empty; give a ticker such as AAPL")]
    Empty,
    /// It has more than [`MAX_SYMBOL_LENGTH`] characters.
    #[error("a symbol has at most {MAX_SYMBOL_LENGTH} characters; give a ticker such as BRK.B")]
    TooLong,
    /// It contains a character outside `A–Z 0–9 . -`.
    #[error("a symbol consists of A-Z, 0-9, '.' and '-', but not {0:?}")]
    BadCharacter(char),
}

impl Symbol {
    /// The ticker in upper case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let len = self
            .text
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(MAX_SYMBOL_LENGTH);
        // Only ASCII is ever written into `text`.
        std::str::from_utf8(&self.text[..len]).unwrap_or_default()
    }
}

impl FromStr for Symbol {
    type Err = SymbolError;

    fn from_str(text: &str) -> Result<Self, SymbolError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(SymbolError::Empty);
        }
        let mut bytes = [0; MAX_SYMBOL_LENGTH];
        for (place, character) in trimmed.chars().enumerate() {
            let upper = character.to_ascii_uppercase();
            if !matches!(upper, 'A'..='Z' | '0'..='9' | '.' | '-') {
                return Err(SymbolError::BadCharacter(character));
            }
            let slot = bytes.get_mut(place).ok_or(SymbolError::TooLong)?;
            *slot = u8::try_from(upper).map_err(|_| SymbolError::BadCharacter(character))?;
        }
        Ok(Self { text: bytes })
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Symbol({})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_is_stored_in_upper_case() {
        assert_eq!("brk.b".parse::<Symbol>().unwrap().as_str(), "BRK.B");
        assert_eq!(" aapl ".parse::<Symbol>().unwrap().as_str(), "AAPL");
    }

    #[test]
    fn accepts_at_most_ten_characters() {
        assert_eq!("ABCDEFGHIJ".parse::<Symbol>().unwrap().as_str(), "ABCDEFGHIJ");
        assert_eq!("ABCDEFGHIJK".parse::<Symbol>(), Err(SymbolError::TooLong));
    }

    #[test]
    fn rejects_empty_text_and_invalid_characters() {
        assert_eq!("  ".parse::<Symbol>(), Err(SymbolError::Empty));
        assert_eq!("AA PL".parse::<Symbol>(), Err(SymbolError::BadCharacter(' ')));
        assert_eq!("ÄPL".parse::<Symbol>(), Err(SymbolError::BadCharacter('Ä')));
    }

    #[test]
    fn symbols_sort_like_their_text() {
        let mut symbols: Vec<Symbol> = ["BRK.B", "A", "BRK-A", "AA"].map(|s| s.parse().unwrap()).to_vec();
        symbols.sort();
        let texts: Vec<_> = symbols.iter().map(Symbol::as_str).collect();
        assert_eq!(texts, ["A", "AA", "BRK-A", "BRK.B"]);
    }
}
