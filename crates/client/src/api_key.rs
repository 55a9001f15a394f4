//! The API key.

use std::fmt;

/// An API key. It is not shown in debug output and error messages.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientKey(String);

impl ClientKey {
    /// Creates a key from a text, without the blanks around it; `None` if it is empty or cannot be sent in a header.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_sendable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_sendable.then(|| Self(text.to_owned()))
    }

    /// Returns the secret text.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKey(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_trimmed_and_hidden() {
        let key = ClientKey::new(" sk_abc\n").unwrap();
        assert_eq!(key.secret(), "sk_abc");
        assert_eq!(format!("{key:?}"), "ClientKey(***)");
        assert!(ClientKey::new(" ").is_none() && ClientKey::new("a\nb").is_none());
    }
}
