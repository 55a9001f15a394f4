//! Tokens with a message authentication code, for links that work without signing in and need no row in the database.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foundation::vault::Vault;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// Number of bytes of the authentication code.
const MAC_BYTES: usize = 16;

/// Returns the token of a payload. A token of one purpose is invalid for any other.
pub(super) fn sign(vault: &Vault, purpose: &str, payload: &[u8]) -> String {
    let mut token = mac(vault, purpose, payload).to_vec();
    token.extend_from_slice(payload);
    URL_SAFE_NO_PAD.encode(token)
}

/// Returns the payload of a token of this service; `None` for any other text.
pub(super) fn verify(vault: &Vault, purpose: &str, token: &str) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (claimed, payload) = bytes.split_at_checked(MAC_BYTES)?;
    let is_ours: bool = mac(vault, purpose, payload).ct_eq(claimed).into();
    is_ours.then(|| payload.to_vec())
}

fn mac(vault: &Vault, purpose: &str, payload: &[u8]) -> [u8; MAC_BYTES] {
    let mut code = [0; MAC_BYTES];
    // HMAC takes keys of any length.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&vault.derive(purpose)) {
        mac.update(payload);
        code.copy_from_slice(&mac.finalize().into_bytes()[..MAC_BYTES]);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_is_returned_for_the_same_key_and_purpose_only() {
        let vault = Vault::new(b"key");
        let token = sign(&vault, "one", b"payload");
        assert_eq!(verify(&vault, "one", &token).as_deref(), Some(&b"payload"[..]));
        assert_eq!(verify(&vault, "another", &token), None);
        assert_eq!(verify(&Vault::new(b"other"), "one", &token), None);
    }

    #[test]
    fn changed_token_is_invalid() {
        let vault = Vault::new(b"key");
        let bytes = URL_SAFE_NO_PAD.decode(sign(&vault, "one", b"payload")).unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            let token = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(verify(&vault, "one", &token), None, "byte {place}");
        }
        let short = URL_SAFE_NO_PAD.encode([0; MAC_BYTES]);
        for text in [
            "",
            "x",
            "AAAA",
            "?",
            &short,
            &URL_SAFE_NO_PAD.encode(&bytes[..MAC_BYTES]),
        ] {
            assert_eq!(verify(&vault, "one", text), None, "{text}");
        }
    }
}
