//! Secrets that people are given to show later: links, cookies, refresh tokens. Only what they hash to is kept.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::Chance;

/// The random bytes of a secret.
const BYTES: usize = 32;
/// The characters of a secret: those bytes in base64url.
const CHARACTERS: usize = 43;

/// A new secret.
pub(crate) fn new(chance: &Chance) -> String {
    URL_SAFE_NO_PAD.encode(chance.bytes::<BYTES>())
}

/// Whether a text could be a secret: if not, it need not be looked for.
pub(crate) fn is_well_formed(text: &str) -> bool {
    text.len() == CHARACTERS
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// What is kept of a secret: SHA-256 of what it is for, what it is about, and itself. So it is good for nothing else. It
/// has 256 random bits, so a plain hash gives nothing away.
pub(crate) fn hash(purpose: &str, subject: &str, secret: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [purpose, subject] {
        hash.update(part.as_bytes());
        // None of them has this byte, so no two of them read alike.
        hash.update([0]);
    }
    hash.update(secret.as_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn a_secret_is_well_formed_and_no_two_are_alike() {
        let chance = Chance::new(Box::new(ChaCha20Rng::seed_from_u64(1)));
        let (one, other) = (new(&chance), new(&chance));
        assert_ne!(one, other);
        assert!(is_well_formed(&one) && is_well_formed(&other));
        for text in [
            "",
            &one[1..],
            &format!("{one}A"),
            &format!("{}=", &one[1..]),
            &format!("{}é", &one[2..]),
        ] {
            assert!(!is_well_formed(text), "{text}");
        }
    }

    #[test]
    fn a_secret_is_good_for_its_purpose_and_its_subject_only() {
        let kept = hash("magic_link", "ann@example.com", "s");
        assert_eq!(kept, hash("magic_link", "ann@example.com", "s"));
        for (purpose, subject, secret) in [
            ("reset_password", "ann@example.com", "s"),
            ("magic_link", "bob@example.com", "s"),
            ("magic_link", "ann@example.com", "t"),
            ("magic_link", "", "ann@example.com\0s"),
        ] {
            assert_ne!(kept, hash(purpose, subject, secret), "{purpose} {subject} {secret}");
        }
    }
}
