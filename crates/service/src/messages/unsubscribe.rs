//! Links that end mail about alerts.
//!
//! Such a link has to work for whoever has the mail, without signing in and for as long as mail is kept (RFC 8058), so there is
//! nothing about it in the database: it has the address in it, authenticated. It can do no more than that, and undo it. Letters
//! about the account itself still come.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use subtle::ConstantTimeEq as _;

use crate::ServiceError;
use crate::identity::account::AccountSettings;
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

/// The address that a token stands for.
fn address(vault: &Vault, token: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (claimed, address) = bytes.split_at_checked(CODE)?;
    let address = str::from_utf8(address).ok()?;
    let is_ours: bool = code(vault, address).ct_eq(claimed).into();
    is_ours.then(|| address.to_owned())
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

/// An address, and whether it is sent mail about alerts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MailingState {
    /// The address.
    pub address: String,
    /// Whether mail about alerts goes there.
    pub is_subscribed: bool,
}

impl AccountSettings {
    /// Whether mail about alerts goes to the address that a link is about.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a token that is none of ours.
    pub async fn mailing_state(&self, token: &str) -> Result<MailingState, ServiceError> {
        let address = address(&self.ports.vault, token).ok_or_else(|| {
            ServiceError::field(
                "token",
                "is none of this service; open the whole link as the mail has it",
            )
        })?;
        let found = self.ports.store.unsubscribed(std::slice::from_ref(&address)).await?;
        Ok(MailingState {
            is_subscribed: found.is_empty(),
            address,
        })
    }

    /// Ends mail about alerts to the address that a link is about, or begins it again.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a token that is none of ours.
    pub async fn set_mailing(&self, token: &str, is_subscribed: bool) -> Result<MailingState, ServiceError> {
        let state = self.mailing_state(token).await?;
        if state.is_subscribed != is_subscribed {
            let since = (!is_subscribed).then(|| self.ports.clock.now());
            let address = state.address.clone();
            self.ports.store.write(SetMailing { address, since }).await?;
        }
        Ok(MailingState { is_subscribed, ..state })
    }
}

struct SetMailing {
    address: String,
    since: Option<Timestamp>,
}

impl Transaction for SetMailing {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            unit.set_unsubscribed(&self.address, self.since).await?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stands_for_its_address_alone_however_it_was_written() {
        let vault = Vault::new(b"key");
        let token = token(&vault, "Ann@Example.com");
        assert_eq!(address(&vault, &token).as_deref(), Some("ann@example.com"));
        assert_eq!(token, super::token(&vault, "ann@example.com"));
        assert_eq!(address(&Vault::new(b"other"), &token), None);
    }

    #[test]
    fn a_token_that_was_changed_anywhere_is_none() {
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
            &URL_SAFE_NO_PAD.encode([0; CODE]),
            &URL_SAFE_NO_PAD.encode(&bytes[..CODE]),
        ] {
            assert_eq!(address(&vault, text), None, "{text}");
        }
    }
}
