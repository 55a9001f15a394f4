//! Random secrets for links, cookies and refresh tokens. Only their hashes are stored.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::Random;

/// Number of random bytes of a secret.
const SECRET_BYTES: usize = 32;
/// Number of characters of a secret: the bytes in base64url.
const SECRET_CHARACTERS: usize = 43;

/// Generates a secret.
pub fn new(random: &Random) -> String {
    URL_SAFE_NO_PAD.encode(random.bytes::<SECRET_BYTES>())
}

/// Returns whether a text has the form of a secret. Other texts need no lookup.
pub fn is_well_formed(text: &str) -> bool {
    text.len() == SECRET_CHARACTERS
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Hashes a secret together with its purpose and subject by SHA-256, so that it is valid for nothing else. Secrets have
/// 256 random bits, so a plain hash is sufficient.
pub fn hash(purpose: &str, subject: &str, secret: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [purpose, subject] {
        hash.update(part.as_bytes());
        // The parts never contain this byte, so the concatenation is unambiguous.
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
    fn secrets_are_well_formed_and_unique() {
        let random = Random::new(Box::new(ChaCha20Rng::seed_from_u64(1)));
        let (one, other) = (new(&random), new(&random));
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
    fn hash_depends_on_purpose_and_subject() {
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
