//! Proof Key for Code Exchange (RFC 7636) with S256. Exchanging a code requires the verifier that only the requesting
//! client knows. An intercepted request or code is not sufficient.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The only supported method.
pub(super) const METHOD: &str = "S256";

/// Returns whether a text has the form of a code challenge.
pub(super) fn is_challenge(text: &str) -> bool {
    URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == 32)
}

/// Returns whether a text has the form of a code verifier: 43 to 128 unreserved characters.
pub(super) fn is_verifier(text: &str) -> bool {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    (43..=128).contains(&text.len()) && text.bytes().all(is_unreserved)
}

/// Returns whether a verifier matches a challenge.
pub(super) fn verifies(verifier: &str, challenge: &str) -> bool {
    // The challenge is not secret: it came through a browser.
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)) == challenge
}

#[cfg(test)]
mod tests {
    use super::*;

    // Test vector of RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn verifier_matches_its_challenge() {
        assert!(verifies(VERIFIER, CHALLENGE));
        assert!(!verifies(CHALLENGE, CHALLENGE), "plain is no method");
        assert!(!verifies(&VERIFIER[1..], CHALLENGE));
    }

    #[test]
    fn verifier_has_43_to_128_unreserved_characters() {
        assert!(is_verifier(VERIFIER) && is_verifier(&"~".repeat(128)));
        for text in [&"a".repeat(42), &"a".repeat(129), &format!("{}+", &VERIFIER[1..])] {
            assert!(!is_verifier(text), "{text}");
        }
    }

    #[test]
    fn challenge_is_32_bytes_in_base64url() {
        assert!(is_challenge(CHALLENGE));
        for text in ["", "abc", &CHALLENGE[1..], &format!("{CHALLENGE}="), &"+".repeat(43)] {
            assert!(!is_challenge(text), "{text}");
        }
    }
}
