//! Keys that do not print.

use std::fmt;

use http::HeaderValue;

/// A provider's key. It does not print, and an error never has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key consists of visible ASCII characters without spaces; copy it again from the provider's page")]
pub struct KeyError;

impl Key {
    /// A key of visible ASCII characters: it is sent in a header.
    ///
    /// # Errors
    /// [`KeyError`] for any other text.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let is_fit = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_fit.then(|| Self(text.to_owned())).ok_or(KeyError)
    }

    /// The key. Whoever asks for it must not print it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// The value of a header: `prefix` and the key. Libraries do not print it either.
    pub(super) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_prints_as_stars_and_so_does_its_header() {
        let key = Key::new("pk-open-sesame").unwrap();
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "******** Some(********)");
        assert!(!format!("{:?}", key.header("Bearer ").unwrap()).contains("sesame"));
        assert_eq!(key.header("Bearer ").unwrap().as_bytes(), b"Bearer pk-open-sesame");
    }

    #[test]
    fn what_no_header_takes_is_no_key() {
        for wrong in ["", "two words", "line\n", "schlüssel"] {
            assert_eq!(Key::new(wrong), Err(KeyError), "{wrong:?}");
        }
    }
}
