//! The names of insiders in a reason.

use std::fmt;

/// The size of the names in a reason, in bytes.
const MAX_BYTES: usize = 94;
/// The length of " and 4294967295 more" in bytes.
const MORE_BYTES: usize = 20;
/// The maximum length of one name in bytes. One name and the number of others always fit.
const MAX_NAME_BYTES: usize = MAX_BYTES - MORE_BYTES;

/// The names of insiders as text: `Ann Lee, Bob Roe and 2 more`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InsiderNames {
    bytes: [u8; MAX_BYTES],
    len: u8,
}

impl InsiderNames {
    /// Joins the names that fit, and adds the number of the others.
    #[must_use]
    pub fn of(names: &[&str]) -> Self {
        let shown: Vec<String> = names.iter().map(|name| shortened(name)).collect();
        let mut text = String::new();
        for (place, name) in shown.iter().enumerate() {
            let is_last = place + 1 == shown.len();
            let separator = match place {
                0 => "",
                _ if is_last => " and ",
                _ => ", ",
            };
            let reserved = if is_last { 0 } else { MORE_BYTES };
            if text.len() + separator.len() + name.len() + reserved > MAX_BYTES {
                let more = shown.len() - place;
                text.push_str(&format!(" and {more} more"));
                break;
            }
            text.push_str(separator);
            text.push_str(name);
        }
        Self::new(&text)
    }

    fn new(text: &str) -> Self {
        let text = cut(text, MAX_BYTES);
        let mut bytes = [0; MAX_BYTES];
        let (kept, _) = bytes.split_at_mut(text.len());
        kept.copy_from_slice(text.as_bytes());
        Self {
            bytes,
            len: u8::try_from(text.len()).unwrap_or(u8::MAX),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Debug for InsiderNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// Returns a name on one line.
fn shortened(name: &str) -> String {
    let words = name.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    cut(&words.join(" "), MAX_NAME_BYTES).to_owned()
}

/// Returns the beginning of a text, at most `bytes` long.
fn cut(text: &str, bytes: usize) -> &str {
    let end = text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .take_while(|&end| end <= bytes);
    text.get(..end.last().unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(names: &[&str]) -> String {
        InsiderNames::of(names).as_str().to_owned()
    }

    #[test]
    fn names_are_listed_up_to_the_size_limit() {
        assert_eq!(text(&[]), "");
        assert_eq!(text(&["Ann  Lee\n"]), "Ann Lee");
        assert_eq!(text(&["Ann Lee", "Bob Roe"]), "Ann Lee and Bob Roe");
        assert_eq!(text(&["Ann Lee", "Bob Roe", "Cy Poe"]), "Ann Lee, Bob Roe and Cy Poe");
        let long = "Maximilian Konstantin von Hohenstein";
        assert_eq!(text(&[long, long, long, long]), format!("{long}, {long} and 2 more"));
        assert_eq!(text(&[long, long]), format!("{long} and {long}"));
    }

    #[test]
    fn long_name_is_truncated_at_a_character_boundary() {
        let name = "é".repeat(100);
        assert_eq!(text(&[&name]), "é".repeat(37));
        assert_eq!(text(&[&name, "Bob"]), format!("{} and Bob", "é".repeat(37)));
        assert_eq!(text(&[&name, &name]), format!("{} and 1 more", "é".repeat(37)));
    }
}
