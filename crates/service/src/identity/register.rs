//! Coming to an account: registering, and confirming the address.
//!
//! Whoever registers has not shown yet that the address is theirs. So an address that somebody else has registered first,
//! with a password of their own, is not lost: each registration has a link of its own, which brings the password that
//! *it* was made with. And who shows by another link that the address is theirs takes the account over without any
//! password that was set before ([`take_over`]).

use alerts::Plan;
use jiff::Timestamp;
use notify::letter::Letter;
use serde_json::Value;
use store::model::{Account, AccountId, NewCode, NewMessage, Profile};
use store::{Abort, BoxFuture, Unit, Work};

use super::letters::{Mailing, Purpose, bad_link, may_be_mailed, redeem, send};
use super::{read, secret};
use crate::access::accounts::DEFAULT_TIME_ZONE;
use crate::body::Members;
use crate::{Service, ServiceError};

impl Service {
    /// Registers: `{email, password, full_name?}`. What comes of it is mailed to the address, and nowhere else to be seen.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for what cannot be an address or a password, [`ServiceError::Forbidden`] where only the
    /// operator makes accounts, [`ServiceError::Unavailable`] if too many register at once.
    pub async fn register(&self, body: &Value) -> Result<(), ServiceError> {
        if self.0.settings.identity.is_registration_closed {
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
        let ports = &self.0.ports;
        let hash = self.hash_password(password).await?;
        let now = ports.clock.now();
        let account = Account {
            id: AccountId(ports.chance.uuid()),
            email: email.clone(),
            password_hash: Some(hash.clone()),
            full_name,
            plan: Plan::Basic,
            is_operator: false,
            is_verified: false,
            time_zone: DEFAULT_TIME_ZONE.to_owned(),
            created_at: now,
            profile: Profile::default(),
        };
        let known = Letter::AlreadyRegistered {
            link: self.0.link("sign-in", &[]),
        };
        let work = Register {
            mailing: self.mailing(Purpose::Confirm, &email, Some(hash), now)?,
            known: self.0.mail(&email, None, &known)?,
            account,
            now,
        };
        Ok(ports.store.write(work).await?)
    }

    /// Confirms the address that somebody registered with: `{token}`.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for a link that is not good.
    pub async fn confirm_address(&self, body: &Value) -> Result<(), ServiceError> {
        let token = read::token(body)?;
        if !secret::is_well_formed(&token) {
            return Err(bad_link());
        }
        let work = Confirm {
            hash: Purpose::Confirm.hash("", &token),
            now: self.0.ports.clock.now(),
        };
        let account = self.0.ports.store.write(work).await?;
        self.0.reception.forget(account);
        Ok(())
    }
}

struct Register {
    account: Account,
    mailing: Mailing,
    known: NewMessage,
    now: Timestamp,
}

impl Work for Register {
    type Done = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
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
            // A link that nobody has stands for the letter, so that letters are counted. It keeps no password.
            let counted = NewCode {
                payload: None,
                ..self.mailing.code.clone()
            };
            unit.insert_code(&counted).await?;
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

impl Work for Confirm {
    type Done = AccountId;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<AccountId, Abort<ServiceError>>> {
        Box::pin(async move {
            let redeemed = redeem(unit, self.hash, self.now).await?;
            let mut account = redeemed.account;
            if !account.is_verified {
                account.is_verified = true;
                if account.password_hash != redeemed.payload {
                    // Somebody else has registered with this address, too. What they have set ends here.
                    account.password_hash = redeemed.payload;
                    unit.end_sessions(account.id, None, self.now).await?;
                }
                unit.update_account(&account).await?;
                unit.withdraw_codes(Purpose::Confirm.name(), account.id, self.now)
                    .await?;
            }
            Ok(account.id)
        })
    }
}

/// Somebody has shown that an address is theirs that was registered and never confirmed: whatever was set or begun before
/// that, whoever it was, ends.
pub(super) async fn take_over(
    unit: &mut Unit,
    account: &mut Account,
    now: Timestamp,
) -> Result<(), Abort<ServiceError>> {
    if account.is_verified {
        return Ok(());
    }
    account.is_verified = true;
    account.password_hash = None;
    unit.end_sessions(account.id, None, now).await?;
    unit.withdraw_codes(Purpose::Confirm.name(), account.id, now).await?;
    unit.update_account(account).await?;
    Ok(())
}
