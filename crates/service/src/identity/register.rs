//! Coming to an account: registering, and confirming the address.
//!
//! Whoever registers has not shown yet that the address is theirs. If nobody else registers with it, the link that is mailed
//! shows that, and what was registered with is in force. If more than one has registered, all of their links are in one
//! mailbox, and whoever reads it cannot know which of them is their own. So then none of the passwords counts: the links say
//! whose the address is and nothing more, and its owner takes the account over without anything that was set or made
//! before ([`take_over`]), as they do by any other link.

use alerts::Plan;
use jiff::Timestamp;
use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{Account, AccountId, NewMessage, Profile};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::account::address;
use super::letters::{Mailing, Purpose, bad_link, may_be_mailed, may_register, redeem, send};
use super::{read, secret};
use crate::ServiceError;
use crate::access::accounts::DEFAULT_TIME_ZONE;
use crate::body::Members;
use crate::identity::Identity;

impl Identity {
    /// Whether mail leaves this service. Otherwise its outbox keeps the mail for the operator to read.
    #[must_use]
    pub fn sends_mail(&self) -> bool {
        self.settings.messages.email.smtp.is_some()
    }

    /// Registers: `{email, password, full_name?}`. What comes of it is mailed to the address, and nowhere else to be seen.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for what cannot be an address or a password, [`ServiceError::Forbidden`] where only the
    /// operator makes accounts, [`ServiceError::TooMany`] if too many have registered today,
    /// [`ServiceError::Unavailable`] if too many register at once.
    pub async fn register(&self, body: &Value) -> Result<(), ServiceError> {
        if self.settings.identity.is_registration_closed {
            return Err(ServiceError::Forbidden {
                reason: "registration_closed",
                required: None,
                message: "nobody can register here; ask the operator of this service for an account".to_owned(),
            });
        }
        let mut members = Members::of(body)?;
        let email = read::email(&mut members);
        let password = read::new_password(&mut members, "password");
        let full_name = read::full_name(&mut members);
        members.finish()?;
        let ports = &self.ports;
        let hash = self.authenticator.hash_password(password).await?;
        let now = ports.clock.now();
        let account = Account {
            id: AccountId(ports.chance.uuid()),
            email: email.clone(),
            password_hash: Some(hash),
            full_name,
            plan: Plan::Basic,
            is_operator: false,
            is_verified: false,
            time_zone: DEFAULT_TIME_ZONE.to_owned(),
            created_at: now,
            profile: Profile::default(),
        };
        let known = AccountEmail::AlreadyRegistered {
            link: self.writer.link("sign-in", &[]),
        };
        let work = Register {
            mailing: self.mailing(Purpose::Confirm, &email, now)?,
            known: self.writer.mail(&email, None, &known)?,
            account,
            now,
        };
        Ok(ports.store.write(work).await?)
    }

    /// Confirms the address that somebody registered with: `{token}`. Returns whether a password is in force: if more than one
    /// has registered with the address, none is, and its owner signs in by a link or has one mailed to choose one.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for a link that is not good.
    pub async fn confirm_address(&self, body: &Value) -> Result<bool, ServiceError> {
        let token = read::token(body)?;
        if !secret::is_well_formed(&token) {
            return Err(bad_link());
        }
        let work = Confirm {
            hash: Purpose::Confirm.hash("", &token),
            now: self.ports.clock.now(),
        };
        let account = self.ports.store.write(work).await?;
        self.reception.forget(account.id);
        Ok(account.password_hash.is_some())
    }
}

struct Register {
    account: Account,
    mailing: Mailing,
    known: NewMessage,
    now: Timestamp,
}

impl Transaction for Register {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            may_register(unit, self.now).await?;
            if unit.insert_account(&self.account).await? {
                return send(unit, &self.mailing, &self.account).await;
            }
            let email = &self.account.email;
            let Some(found) = unit.account_by_email(email).await? else {
                // It went away in this moment.
                let message = "this could not be done at the moment; try again";
                return Err(Abort::Refused(ServiceError::Unavailable(message.to_owned())));
            };
            if !may_be_mailed(unit, Purpose::Confirm, email, self.now).await? {
                return Ok(());
            }
            if !found.is_verified {
                return send(unit, &self.mailing, &found).await;
            }
            // A link that nobody has stands for the letter, so that letters are counted.
            unit.insert_code(&self.mailing.code).await?;
            let message = NewMessage {
                account: Some(found.id),
                ..self.known.clone()
            };
            Ok(unit.queue_message(&message).await?)
        })
    }
}

struct Confirm {
    hash: [u8; 32],
    now: Timestamp,
}

impl Transaction for Confirm {
    type Output = Account;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Account, Abort<ServiceError>>> {
        Box::pin(async move {
            let redeemed = redeem(unit, self.hash, self.now).await?;
            let mut account = redeemed.account;
            // Links are forgotten some time after their end; that the account was made with this one says that there was
            // none before it.
            let is_first = redeemed.made_at == account.created_at;
            let purpose = Purpose::Confirm.name();
            let links = unit.count_codes_of_account(purpose, account.id, Timestamp::MIN).await?;
            if is_first && links == 1 {
                account.is_verified = true;
                unit.update_account(&account).await?;
            } else {
                take_over(unit, &mut account, self.now).await?;
            }
            Ok(account)
        })
    }
}

/// Somebody has shown that an address is theirs that was registered and never confirmed: whatever was set, made or begun
/// before that, whoever it was, ends. It must not be left to a stranger to read the account, to be told what its alerts say,
/// to be called by its owner's name, or to give it an address of their own.
pub(super) async fn take_over(
    unit: &mut UnitOfWork,
    account: &mut Account,
    now: Timestamp,
) -> Result<(), Abort<ServiceError>> {
    if account.is_verified {
        return Ok(());
    }
    account.is_verified = true;
    account.password_hash = None;
    account.full_name = None;
    account.profile.phone = None;
    unit.update_account(account).await?;
    unit.end_sessions(account.id, None, now).await?;
    unit.end_grants(account.id, now).await?;
    unit.delete_api_keys(account.id).await?;
    unit.delete_webhooks(account.id, now).await?;
    for purpose in [Purpose::Confirm.name(), address::PURPOSE] {
        unit.revoke_codes(purpose, account.id, now).await?;
    }
    Ok(())
}
