//! API keys that are never printed.

use std::fmt;

use http::HeaderValue;

/// A provider's API key. Its `Debug` output is masked, and error messages never contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderKey(String);

/// An invalid API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an API key consists of visible ASCII characters without spaces; copy it again from the provider's website")]
pub struct ProviderKeyError;

impl ProviderKey {
    /// Creates a key. It must consist of visible ASCII characters, since it is sent in a header.
    ///
    /// # Errors
    /// [`ProviderKeyError`] if the text is empty or contains other characters.
    pub fn new(text: &str) -> Result<Self, ProviderKeyError> {
        let is_fit = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_fit.then(|| Self(text.to_owned())).ok_or(ProviderKeyError)
    }

    /// Returns the key as text. Callers must not print it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns a header value of `prefix` and the key, marked as sensitive so that HTTP libraries do not print it.
    pub(super) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for ProviderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_and_header_are_masked_in_debug_output() {
        let key = ProviderKey::new("pk-open-sesame").unwrap();
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "******** Some(********)");
        assert!(!format!("{:?}", key.header("Bearer ").unwrap()).contains("sesame"));
        assert_eq!(key.header("Bearer ").unwrap().as_bytes(), b"Bearer pk-open-sesame");
    }

    #[test]
    fn rejects_keys_that_do_not_fit_into_a_header() {
        for wrong in ["", "two words", "line\n", "schlüssel"] {
            assert_eq!(ProviderKey::new(wrong), Err(ProviderKeyError), "{wrong:?}");
        }
    }
}
