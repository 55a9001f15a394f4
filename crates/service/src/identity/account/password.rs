//! Another password for an account, by somebody who knows the one it has.

use std::net::IpAddr;

use jiff::Timestamp;
use serde_json::Value;
use store::model::{NewMessage, SessionId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{address, present};
use crate::body::Members;
use crate::identity::account::{AccountSettings, account_of};
use crate::identity::letters::Purpose;
use crate::identity::read;
use crate::identity::sessions::session_of;
use crate::{AccountId, Actor, ServiceError};

impl AccountSettings {
    /// Changes the password of the actor, who has signed in: `{current_password, new_password}`. All other sessions end, and
    /// what apps were allowed, and the address is told. An account that has no password yet needs no current one.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a password that will not do, or a current one that is wrong;
    /// [`ServiceError::TooMany`] for too many that are wrong.
    pub async fn change_password(&self, actor: &Actor, address: IpAddr, body: &Value) -> Result<(), ServiceError> {
        let session = session_of(actor)?;
        let mut members = Members::of(body)?;
        let current = members.text("current_password").map(str::to_owned);
        let new = read::new_password(&mut members, "new_password");
        let account = account_of(&self.ports.store, actor).await?;
        if account.password_hash.is_some() && current.is_none() {
            members.missing("current_password");
        }
        members.finish()?;
        let ports = &self.ports;
        let now = ports.clock.now();
        if account.password_hash.is_some() {
            self.throttle.attempt(&account.email, address, now)?;
            let checked = self
                .authenticator
                .is_password(current.unwrap_or_default(), account.password_hash.clone())
                .await;
            if checked.is_err() {
                self.throttle.was_not_judged(&account.email, address);
            }
            if !checked? {
                let fault = "is not this account's password; if you have forgotten it, have a link mailed \
                             (POST /auth/request-reset)";
                return Err(ServiceError::field("current_password", fault));
            }
            self.throttle.was_right(&account.email, address, now);
        }
        let work = Change {
            account: account.id,
            session,
            known: account.password_hash,
            password_hash: self.authenticator.hash_password(new).await?,
            message: self
                .writer
                .mail(&account.email, Some(account.id), &self.identity.password_changed())?,
            now,
        };
        ports.store.write(work).await?;
        self.reception.forget(account.id);
        Ok(())
    }
}

struct Change {
    account: AccountId,
    session: SessionId,
    /// What the current password was compared with.
    known: Option<String>,
    password_hash: String,
    message: NewMessage,
    now: Timestamp,
}

impl Transaction for Change {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = present(unit, self.account).await?;
            if account.password_hash != self.known {
                let message = "the password was changed by somebody else at the same moment; sign in again";
                return Err(Abort::Refused(ServiceError::Conflict(message.to_owned())));
            }
            account.password_hash = Some(self.password_hash.clone());
            unit.update_account(&account).await?;
            unit.end_sessions(self.account, Some(self.session), self.now).await?;
            // Whoever was in the account may have let an app in that stays.
            unit.end_grants(self.account, self.now).await?;
            // Whoever was mailed a link before gets in with none of them; nor does whoever has asked, from a session that
            // ends here, for the account to have another address.
            for purpose in [Purpose::Reset.name(), Purpose::SignIn.name(), address::PURPOSE] {
                unit.revoke_codes(purpose, self.account, self.now).await?;
            }
            Ok(unit.queue_message(&self.message).await?)
        })
    }
}
