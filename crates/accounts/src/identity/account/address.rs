//! Change of an account's email address. It takes effect when the link sent to the new address is followed. The old
//! address gets a notice.

use foundation::account::lock_active_account;
use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use serde_json::Value;
use store::Abort;
use store::model::NewCode;

use crate::identity::account::AccountSettings;
use crate::identity::email_links::invalid_link;
use crate::identity::requests::{ChangeEmailRequest, ConfirmEmailRequest};
use foundation::request::Request;
use foundation::secret;
use foundation::{Actor, ServiceError};

/// Purpose of the links.
pub(crate) const LINK_PURPOSE: &str = "change_address";
/// Lifetime of a link.
const LINK_LIFETIME: SignedDuration = SignedDuration::from_hours(24);
/// Maximum number of links per account within the lifetime.
const MAX_LINKS_PER_ACCOUNT: u64 = 5;
/// Maximum number of links per email address within the lifetime, over all accounts.
const MAX_LINKS_PER_ADDRESS: u64 = 5;

impl AccountSettings {
    /// Sends a link to a new address: `{email}`. Nothing changes until it is followed. The result does not reveal
    /// whether the new address has an account. Returns the address.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid address or the account's current one, [`ServiceError::RateLimited`].
    pub async fn request_address_change(&self, actor: &Actor, body: &Value) -> Result<String, ServiceError> {
        let email = ChangeEmailRequest::read(body)?.email.0;
        let ports = &self.ports;
        let (now, secret) = (ports.clock.now(), secret::new(&ports.random));
        let letter = AccountEmail::ConfirmNewAddress {
            link: self.writer.link("confirm-address", &[("token", &secret)]),
        };
        let inputs = (
            actor.account,
            NewCode {
                purpose: LINK_PURPOSE,
                account: Some(actor.account),
                subject: email.clone(),
                payload: None,
                hash: secret::hash(LINK_PURPOSE, "", &secret),
                created_at: now,
                expires_at: now.saturating_add(LINK_LIFETIME).unwrap_or(Timestamp::MAX),
            },
            self.writer.mail(&email, Some(actor.account), &letter)?,
            now,
        );
        let transaction = ports.transaction(inputs, |&(account, ref code, ref message, now), unit| {
            Box::pin(async move {
                let account = lock_active_account(unit, account).await?;
                let email = &code.subject;
                if account.email == *email {
                    let fault = "is already this account's address; use another one";
                    return Err(Abort::Refused(ServiceError::field("email", fault)));
                }
                let since = now.saturating_sub(LINK_LIFETIME).unwrap_or(Timestamp::MIN);
                if unit.count_codes_of_account(LINK_PURPOSE, account.id, since).await? >= MAX_LINKS_PER_ACCOUNT {
                    return Err(Abort::Refused(ServiceError::RateLimited {
                        message: format!(
                            "at most {MAX_LINKS_PER_ACCOUNT} links are sent per day; use one of them, or try again \
                         tomorrow"
                        ),
                        retry_after_s: LINK_LIFETIME.as_secs().unsigned_abs(),
                    }));
                }
                // The result must not depend on what follows.
                let is_free = unit.account_by_email(email).await?.is_none();
                let mailed = unit.count_codes(LINK_PURPOSE, email, since).await?;
                unit.revoke_codes(LINK_PURPOSE, account.id, now).await?;
                unit.insert_code(code).await?;
                if is_free && mailed < MAX_LINKS_PER_ADDRESS {
                    unit.queue_message(message).await?;
                } else {
                    unit.revoke_code(code.hash, now).await?;
                }
                Ok(())
            })
        });
        transaction.await?;
        Ok(email)
    }

    /// Confirms a new address: `{token}`, from the link sent to it. Returns the address.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for an invalid link, or if the address has an account by now.
    pub async fn confirm_address_change(&self, body: &Value) -> Result<String, ServiceError> {
        let token = ConfirmEmailRequest::read(body)?.token.0;
        if !secret::is_well_formed(&token) {
            return Err(invalid_link());
        }
        let inputs = (
            self.writer.clone(),
            secret::hash(LINK_PURPOSE, "", &token),
            self.ports.clock.now(),
        );
        let transaction = self.ports.transaction(inputs, |&(ref writer, hash, now), unit| {
            Box::pin(async move {
                let bad = || Abort::Refused(invalid_link());
                let used = unit.use_code(hash, now).await?.ok_or_else(bad)?;
                let account = used.account.ok_or_else(bad)?;
                let mut account = unit.lock_account(account).await?.ok_or_else(bad)?;
                // The address may have been registered in the meantime.
                if unit.account_by_email(&used.subject).await?.is_some() {
                    return Err(bad());
                }
                let letter = AccountEmail::AddressChanged {
                    new_address: used.subject.clone(),
                };
                let notice = writer.mail(&account.email, Some(account.id), &letter);
                unit.queue_message(&notice?).await?;
                account.email = used.subject;
                account.is_verified = true;
                unit.update_account(&account).await?;
                unit.revoke_codes(LINK_PURPOSE, account.id, now).await?;
                Ok((account.id, account.email))
            })
        });
        let (account, email) = transaction.await?;
        self.credential_cache.invalidate(account);
        Ok(email)
    }
}
