//! What somebody shows who drives schedules from outside.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The operator's secret, as a hash: nobody finds it in the memory of this program by its characters.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// Of that text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Whether it is the text that is shown. How long that takes says nothing about how near it was.
    #[must_use]
    pub fn is(&self, shown: &str) -> bool {
        let shown: [u8; 32] = Sha256::digest(shown.as_bytes()).into();
        self.0.ct_eq(&shown).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_itself_and_nothing_near_it() {
        let secret = Secret::new("correct horse battery");
        assert!(secret.is("correct horse battery"));
        for shown in [
            "",
            "correct horse batter",
            "correct horse battery ",
            "Correct horse battery",
        ] {
            assert!(!secret.is(shown), "{shown}");
        }
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
