//! Change of the password by its owner.

use foundation::account::lock_account;
use std::net::IpAddr;

use serde_json::Value;
use store::Abort;

use super::address;
use crate::identity::account::AccountSettings;
use crate::identity::email_links::LinkPurpose;
use crate::identity::requests::ChangePasswordRequest;
use crate::identity::sessions::session_of;
use foundation::account::load_account;
use foundation::request::Request;
use foundation::{Actor, ServiceError};

impl AccountSettings {
    /// Changes the password of the signed-in actor: `{current_password, new_password}`. Ends all other sessions and all
    /// OAuth grants, and sends a notice by email. An account without a password needs no current one.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid new password or a wrong current one, [`ServiceError::RateLimited`]
    /// after too many wrong ones.
    pub async fn change_password(&self, actor: &Actor, address: IpAddr, body: &Value) -> Result<(), ServiceError> {
        let session = session_of(actor)?;
        let account = load_account(&self.ports.store, actor).await?;
        let request = ChangePasswordRequest::read_and(body, |body| {
            if account.password_hash.is_some() {
                body.require("current_password");
            }
        })?;
        let ports = &self.ports;
        let now = ports.clock.now();
        if account.password_hash.is_some() {
            self.throttle.attempt(&account.email, address, now)?;
            let checked = self
                .authenticator
                .verify_password(
                    request.current_password.map(|current| current.0).unwrap_or_default(),
                    account.password_hash.clone(),
                )
                .await;
            if checked.is_err() {
                self.throttle.cancel_attempt(&account.email, address);
            }
            if !checked? {
                let fault = "is not this account's password; if you have forgotten it, request a reset link (POST /auth/request-reset)";
                return Err(ServiceError::field("current_password", fault));
            }
            self.throttle.record_success(&account.email, address, now);
        }
        let inputs = (
            account.id,
            session,
            account.password_hash,
            self.authenticator.hash_password(request.new_password.0).await?,
            self.writer.mail(
                &account.email,
                Some(account.id),
                &self.identity.password_changed_email(),
            )?,
            now,
        );
        let transaction = ports.transaction(
            inputs,
            |&(account, session, ref verified_hash, ref password_hash, ref message, now), unit| {
                Box::pin(async move {
                    let mut account = lock_account(unit, account).await?;
                    if account.password_hash != *verified_hash {
                        let message = "the password was changed by another request at the same time; sign in again";
                        return Err(Abort::Refused(ServiceError::Conflict(message.to_owned())));
                    }
                    account.password_hash = Some(password_hash.clone());
                    unit.update_account(&account).await?;
                    unit.end_sessions(account.id, Some(session), now).await?;
                    // An intruder may have connected an app; ending all grants removes it.
                    unit.end_grants(account.id, now).await?;
                    // Links sent before become invalid, and so do address changes requested from sessions that end here.
                    for purpose in [
                        LinkPurpose::Reset.name(),
                        LinkPurpose::SignIn.name(),
                        address::LINK_PURPOSE,
                    ] {
                        unit.revoke_codes(purpose, account.id, now).await?;
                    }
                    Ok(unit.queue_message(message).await?)
                })
            },
        );
        transaction.await?;
        self.credential_cache.invalidate(account.id);
        Ok(())
    }
}
