//! A new password for whoever has forgotten theirs.

use jiff::Timestamp;
use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{AccountId, CodeState, NewMessage};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::account::address;
use super::letters::{Purpose, bad_link, redeem};
use super::register::take_over;
use super::{read, secret};
use crate::ServiceError;
use crate::body::Members;
use crate::identity::Identity;

impl Identity {
    /// Has a link mailed to choose a new password with: `{email}`. Whether the address has an account cannot be told from
    /// outside.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for what cannot be an address.
    pub async fn request_reset(&self, body: &Value) -> Result<(), ServiceError> {
        let mut members = Members::of(body)?;
        let email = read::email(&mut members);
        members.finish()?;
        self.mail_link(Purpose::Reset, email).await
    }

    /// Sets a new password: `{email, token, new_password}`. All sessions end, and what apps were allowed.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for a link that is not good, [`ServiceError::Invalid`] for a password that will not do.
    pub async fn confirm_reset(&self, body: &Value) -> Result<(), ServiceError> {
        let mut members = Members::of(body)?;
        let email = read::email(&mut members);
        let token = members.required("token").unwrap_or_default();
        let password = read::new_password(&mut members, "new_password");
        members.finish()?;
        let ports = &self.ports;
        let (hash, now) = (Purpose::Reset.hash(&email, token), ports.clock.now());
        // Looked up first, so that whoever makes up links does not keep us hashing.
        if !secret::is_well_formed(token) || ports.store.code_state(hash, now).await? != Some(CodeState::Valid) {
            return Err(bad_link());
        }
        let work = Reset {
            hash,
            password_hash: self.authenticator.hash_password(password).await?,
            message: self.writer.mail(&email, None, &self.password_changed())?,
            now,
        };
        let account = ports.store.write(work).await?;
        self.reception.forget(account);
        Ok(())
    }

    /// Tells the owner of an account that its password was changed.
    pub(super) fn password_changed(&self) -> AccountEmail {
        AccountEmail::PasswordChanged {
            link: self.writer.link("sign-in", &[]),
        }
    }
}

struct Reset {
    hash: [u8; 32],
    password_hash: String,
    message: NewMessage,
    now: Timestamp,
}

impl Transaction for Reset {
    type Output = AccountId;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<AccountId, Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = redeem(unit, self.hash, self.now).await?.account;
            take_over(unit, &mut account, self.now).await?;
            account.password_hash = Some(self.password_hash.clone());
            unit.update_account(&account).await?;
            unit.end_sessions(account.id, None, self.now).await?;
            // Whoever was in the account may have let an app in that stays.
            unit.end_grants(account.id, self.now).await?;
            // Whoever was mailed another link before gets in with none of them, nor with another address that was asked for.
            for purpose in [Purpose::Reset.name(), Purpose::SignIn.name(), address::PURPOSE] {
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
