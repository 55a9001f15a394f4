//! Unsubscribe links for mail about alerts.
//!
//! A link must work without signing in, for as long as the mail exists (RFC 8058). So it needs no row in the database:
//! it contains the address with a message authentication code. It can only unsubscribe and resubscribe. Account
//! messages are still sent.

use foundation::vault::Vault;
use foundation::{Ports, ServiceError};

use super::signed_token;

/// The purpose of the tokens.
const PURPOSE: &str = "unsubscribe links";

/// Returns the token for an address.
pub(super) fn token(vault: &Vault, address: &str) -> String {
    signed_token::sign(vault, PURPOSE, address.to_lowercase().as_bytes())
}

/// Returns the address of a valid token.
fn address(vault: &Vault, token: &str) -> Option<String> {
    String::from_utf8(signed_token::verify(vault, PURPOSE, token)?).ok()
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
}
