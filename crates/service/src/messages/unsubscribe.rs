//! Links that end mail about alerts.
//!
//! Such a link has to work for whoever has the mail, without signing in and for as long as mail is kept (RFC 8058), so there is
//! nothing about it in the database: it has the address in it, authenticated. It can do no more than that.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::vault::Vault;

/// So many bytes of the authentication code are in a token.
const CODE: usize = 16;

/// The token that stands for an address in links.
pub(super) fn token(vault: &Vault, address: &str) -> String {
    let address = address.to_lowercase();
    let mut bytes = code(vault, &address).to_vec();
    bytes.extend_from_slice(address.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn code(vault: &Vault, address: &str) -> [u8; CODE] {
    let mut code = [0; CODE];
    // HMAC takes keys of any length.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&vault.derive("unsubscribe links")) {
        mac.update(address.as_bytes());
        code.copy_from_slice(&mac.finalize().into_bytes()[..CODE]);
    }
    code
}
