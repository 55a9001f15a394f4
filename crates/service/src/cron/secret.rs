//! Secret of an external scheduler.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// SHA-256 of the operator's secret, so that the secret itself is not in memory.
#[derive(Clone)]
pub struct CronSecret([u8; 32]);

impl CronSecret {
    /// Hashes the secret.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Compares in constant time.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        let presented: [u8; 32] = Sha256::digest(presented.as_bytes()).into();
        self.0.ct_eq(&presented).into()
    }
}

impl fmt::Debug for CronSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CronSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_matches_only_itself() {
        let secret = CronSecret::new("correct horse battery");
        assert!(secret.matches("correct horse battery"));
        for presented in [
            "",
            "correct horse batter",
            "correct horse battery ",
            "Correct horse battery",
        ] {
            assert!(!secret.matches(presented), "{presented}");
        }
        assert_eq!(format!("{secret:?}"), "CronSecret");
    }
}
