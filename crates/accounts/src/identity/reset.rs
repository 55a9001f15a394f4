//! Password reset.

use jiff::Timestamp;
use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{AccountId, CodeState, NewMessage};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

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
        let work = ResetPassword {
            hash,
            password_hash: self.authenticator.hash_password(request.new_password.0).await?,
            message: self.writer.mail(&email, None, &self.password_changed_email())?,
            now,
        };
        let account = ports.store.write(work).await?;
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

struct ResetPassword {
    hash: [u8; 32],
    password_hash: String,
    message: NewMessage,
    now: Timestamp,
}

impl Transaction for ResetPassword {
    type Output = AccountId;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<AccountId, Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = redeem_link(unit, self.hash, self.now).await?.account;
            take_over_unverified(unit, &mut account, self.now).await?;
            account.password_hash = Some(self.password_hash.clone());
            unit.update_account(&account).await?;
            unit.end_sessions(account.id, None, self.now).await?;
            // An intruder may have connected an app; ending all grants removes it.
            unit.end_grants(account.id, self.now).await?;
            // Links sent before, and pending address changes, become invalid.
            for purpose in [
                LinkPurpose::Reset.name(),
                LinkPurpose::SignIn.name(),
                address::LINK_PURPOSE,
            ] {
                unit.revoke_codes(purpose, account.id, self.now).await?;
            }
            let message = NewMessage {
                account: Some(account.id),
                ..self.message.clone()
            };
            unit.queue_message(&message).await?;
            Ok(account.id)
        })
    }
}
