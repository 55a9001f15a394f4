//! Another address for an account: it counts once somebody who reads mail there says so. The old one is told.

use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{AccountId, NewCode, NewMessage};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{awake, present};
use crate::body::Members;
use crate::identity::account::AccountSettings;
use crate::identity::letters::bad_link;
use crate::identity::{read, secret};
use crate::{Actor, ServiceError};

/// What the links are for.
pub(crate) const PURPOSE: &str = "change_address";
/// How long a link is good for.
const LIFE: SignedDuration = SignedDuration::from_hours(24);
/// So many links an account asks for in that time.
const MOST_OF_ACCOUNT: u64 = 5;
/// So many links are mailed to an address in that time, whoever asks for them.
const MOST_TO_ADDRESS: u64 = 5;

impl AccountSettings {
    /// Has a link mailed to a new address: `{email}`. Until it is followed everything stays as it is. Whether the new address
    /// has an account already cannot be told from outside. Returns the address.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for what is no address, or is the account's own; [`ServiceError::TooMany`].
    pub async fn request_address_change(&self, actor: &Actor, body: &Value) -> Result<String, ServiceError> {
        let mut members = Members::of(body)?;
        let email = read::email(&mut members);
        members.finish()?;
        let ports = &self.ports;
        let (now, secret) = (ports.clock.now(), secret::new(&ports.chance));
        let letter = AccountEmail::ConfirmNewAddress {
            link: self.writer.link("confirm-address", &[("token", &secret)]),
        };
        let work = Ask {
            account: actor.account,
            code: NewCode {
                purpose: PURPOSE,
                account: Some(actor.account),
                subject: email.clone(),
                payload: None,
                hash: secret::hash(PURPOSE, "", &secret),
                created_at: now,
                expires_at: now.saturating_add(LIFE).unwrap_or(Timestamp::MAX),
            },
            message: self.writer.mail(&email, Some(actor.account), &letter)?,
            now,
        };
        ports.store.write(work).await?;
        Ok(email)
    }

    /// Puts a new address into force: `{token}`, from the link that was mailed to it. Returns the address.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for a link that is not good, or whose address has another account by now.
    pub async fn confirm_address_change(&self, body: &Value) -> Result<String, ServiceError> {
        let token = read::token(body)?;
        if !secret::is_well_formed(&token) {
            return Err(bad_link());
        }
        let work = Confirm {
            account_settings: self.clone(),
            hash: secret::hash(PURPOSE, "", &token),
            now: self.ports.clock.now(),
        };
        let (account, email) = self.ports.store.write(work).await?;
        self.reception.forget(account);
        Ok(email)
    }
}

struct Ask {
    account: AccountId,
    code: NewCode,
    message: NewMessage,
    now: Timestamp,
}

impl Transaction for Ask {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            let account = awake(unit, self.account).await?;
            let email = &self.code.subject;
            if account.email == *email {
                let fault = "is this account's address already; give another one";
                return Err(Abort::Refused(ServiceError::field("email", fault)));
            }
            let since = self.now.saturating_sub(LIFE).unwrap_or(Timestamp::MIN);
            if unit.count_codes_of_account(PURPOSE, self.account, since).await? >= MOST_OF_ACCOUNT {
                return Err(Abort::Refused(ServiceError::TooMany {
                    message: format!(
                        "at most {MOST_OF_ACCOUNT} links are mailed a day; use one of those, or come again tomorrow"
                    ),
                    retry_after_s: LIFE.as_secs().unsigned_abs(),
                }));
            }
            // Nothing of what follows can be told from outside.
            let is_free = unit.account_by_email(email).await?.is_none();
            let mailed = unit.count_codes(PURPOSE, email, since).await?;
            unit.revoke_codes(PURPOSE, self.account, self.now).await?;
            unit.insert_code(&self.code).await?;
            if is_free && mailed < MOST_TO_ADDRESS {
                unit.queue_message(&self.message).await?;
            } else {
                unit.revoke_code(self.code.hash, self.now).await?;
            }
            Ok(())
        })
    }
}

struct Confirm {
    account_settings: AccountSettings,
    hash: [u8; 32],
    now: Timestamp,
}

impl Transaction for Confirm {
    type Output = (AccountId, String);
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Self::Output, Abort<ServiceError>>> {
        Box::pin(async move {
            let bad = || Abort::Refused(bad_link());
            let used = unit.use_code(self.hash, self.now).await?.ok_or_else(bad)?;
            let mut account = present(unit, used.account.ok_or_else(bad)?).await.map_err(|_| bad())?;
            // Somebody may have registered with it meanwhile.
            if unit.account_by_email(&used.subject).await?.is_some() {
                return Err(bad());
            }
            let letter = AccountEmail::AddressChanged {
                new_address: used.subject.clone(),
            };
            let told = self
                .account_settings
                .writer
                .mail(&account.email, Some(account.id), &letter);
            unit.queue_message(&told.map_err(Abort::Refused)?).await?;
            account.email = used.subject;
            account.is_verified = true;
            unit.update_account(&account).await?;
            unit.revoke_codes(PURPOSE, account.id, self.now).await?;
            Ok((account.id, account.email))
        })
    }
}
