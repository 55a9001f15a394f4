//! Unsubscribe links for mail about alerts.
//!
//! A link must work without signing in, for as long as the mail exists (RFC 8058). So it needs no row in the database:
//! it contains the address with a message authentication code. It can only unsubscribe and resubscribe. Account
//! messages are still sent.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foundation::vault::Vault;
use foundation::{Ports, ServiceError};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// Number of bytes of the authentication code in a token.
const MAC_BYTES: usize = 16;

/// Returns the token for an address.
pub(super) fn token(vault: &Vault, address: &str) -> String {
    let address = address.to_lowercase();
    let mut bytes = mac(vault, &address).to_vec();
    bytes.extend_from_slice(address.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the address of a valid token.
fn address(vault: &Vault, token: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (claimed, address) = bytes.split_at_checked(MAC_BYTES)?;
    let address = str::from_utf8(address).ok()?;
    let is_ours: bool = mac(vault, address).ct_eq(claimed).into();
    is_ours.then(|| address.to_owned())
}

fn mac(vault: &Vault, address: &str) -> [u8; MAC_BYTES] {
    let mut code = [0; MAC_BYTES];
    // HMAC takes keys of any length.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&vault.derive("unsubscribe links")) {
        mac.update(address.as_bytes());
        code.copy_from_slice(&mac.finalize().into_bytes()[..MAC_BYTES]);
    }
    code
}

/// Subscription state of an address for mail about alerts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmailSubscription {
    /// Email address.
    pub address: String,
    /// Whether it gets mail about alerts.
    pub is_subscribed: bool,
}

/// Unsubscribe links.
#[derive(Clone)]
pub struct EmailSubscriptions {
    pub(crate) ports: Ports,
}

impl EmailSubscriptions {
    /// Returns the subscription state of the address in a link.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid token.
    pub async fn read(&self, token: &str) -> Result<EmailSubscription, ServiceError> {
        let address = address(&self.ports.vault, token).ok_or_else(|| {
            ServiceError::field("token", "is not a valid token; open the complete link from the email")
        })?;
        let found = self.ports.store.unsubscribed(std::slice::from_ref(&address)).await?;
        Ok(EmailSubscription {
            is_subscribed: found.is_empty(),
            address,
        })
    }

    /// Unsubscribes or resubscribes the address in a link.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid token.
    pub async fn set(&self, token: &str, is_subscribed: bool) -> Result<EmailSubscription, ServiceError> {
        let state = self.read(token).await?;
        if state.is_subscribed != is_subscribed {
            let since = (!is_subscribed).then(|| self.ports.clock.now());
            let address = state.address.clone();
            let changed = self.ports.store.commit(address, move |address, unit| {
                Box::pin(unit.set_unsubscribed(address, since))
            });
            changed.await?;
        }
        Ok(EmailSubscription { is_subscribed, ..state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_identifies_normalized_address() {
        let vault = Vault::new(b"key");
        let token = token(&vault, "Ann@Example.com");
        assert_eq!(address(&vault, &token).as_deref(), Some("ann@example.com"));
        assert_eq!(token, super::token(&vault, "ann@example.com"));
        assert_eq!(address(&Vault::new(b"other"), &token), None);
    }

    #[test]
    fn changed_token_is_invalid() {
        let vault = Vault::new(b"key");
        let bytes = URL_SAFE_NO_PAD.decode(token(&vault, "ann@example.com")).unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert_eq!(address(&vault, &URL_SAFE_NO_PAD.encode(changed)), None, "byte {place}");
        }
        for text in [
            "",
            "x",
            "AAAA",
            "?",
            &URL_SAFE_NO_PAD.encode([0; MAC_BYTES]),
            &URL_SAFE_NO_PAD.encode(&bytes[..MAC_BYTES]),
        ] {
            assert_eq!(address(&vault, text), None, "{text}");
        }
    }
}
