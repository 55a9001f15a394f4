//! Password reset.

use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{CodeState, NewMessage};

use super::account::address;
use super::email_links::{LinkPurpose, invalid_link, redeem_link};
use super::register::take_over_unverified;
use super::requests::{ConfirmPasswordResetRequest, PasswordResetRequest};
use crate::identity::AccountAccess;
use foundation::ServiceError;
use foundation::request::Request;
use foundation::secret;

impl AccountAccess {
    /// Sends a link to reset the password: `{email}`. The result does not reveal whether an account exists.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid address.
    pub async fn request_reset(&self, body: &Value) -> Result<(), ServiceError> {
        let email = PasswordResetRequest::read(body)?.email.0;
        self.send_link(LinkPurpose::Reset, email).await
    }

    /// Sets a new password: `{email, token, new_password}`. Ends all sessions and OAuth grants.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for an invalid link, [`ServiceError::Invalid`] for an invalid password.
    pub async fn confirm_reset(&self, body: &Value) -> Result<(), ServiceError> {
        let request = ConfirmPasswordResetRequest::read(body)?;
        let (email, token) = (request.email.0, &request.token.0);
        let ports = &self.ports;
        let (hash, now) = (LinkPurpose::Reset.hash(&email, token), ports.clock.now());
        // Checked before hashing, so that made-up links cost no hash.
        if !secret::is_well_formed(token) || ports.store.code_state(hash, now).await? != Some(CodeState::Valid) {
            return Err(invalid_link());
        }
        let inputs = (
            hash,
            self.authenticator.hash_password(request.new_password.0).await?,
            self.writer.mail(&email, None, &self.password_changed_email())?,
            now,
        );
        let transaction = ports.transaction(inputs, |&(hash, ref password_hash, ref message, now), unit| {
            Box::pin(async move {
                let mut account = redeem_link(unit, hash, now).await?.account;
                take_over_unverified(unit, &mut account, now).await?;
                account.password_hash = Some(password_hash.clone());
                unit.update_account(&account).await?;
                unit.end_sessions(account.id, None, now).await?;
                // An intruder may have connected an app; ending all grants removes it.
                unit.end_grants(account.id, now).await?;
                // Links sent before, and pending address changes, become invalid.
                for purpose in [
                    LinkPurpose::Reset.name(),
                    LinkPurpose::SignIn.name(),
                    address::LINK_PURPOSE,
                ] {
                    unit.revoke_codes(purpose, account.id, now).await?;
                }
                let message = NewMessage {
                    account: Some(account.id),
                    ..message.clone()
                };
                unit.queue_message(&message).await?;
                Ok(account.id)
            })
        });
        let account = transaction.await?;
        self.credential_cache.invalidate(account);
        Ok(())
    }

    /// Returns the email that tells the owner about the password change.
    pub(super) fn password_changed_email(&self) -> AccountEmail {
        AccountEmail::PasswordChanged {
            link: self.writer.link("sign-in", &[]),
        }
    }
}
