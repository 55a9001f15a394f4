//! Registration and confirmation of the email address.
//!
//! Registration does not prove that the address belongs to the person. If it is registered once, following the emailed
//! link proves it, and the registered password becomes valid. If it is registered more than once, all links are in one
//! mailbox and its owner cannot tell which registration is their own. Then no password is valid: following any link
//! only verifies the address, and its owner takes over the account without anything set before
//! ([`take_over_unverified`]). Any other email link does the same.

use alerts::Plan;
use jiff::Timestamp;
use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{Account, AccountId, NewMessage, Profile};
use store::{Abort, UnitOfWork};

use super::account::address;
use super::email_links::{LinkPurpose, check_registration_limit, invalid_link, may_send_link, queue_link, redeem_link};
use super::requests::{LinkTokenRequest, RegisterRequest};
use crate::identity::AccountAccess;
use foundation::ServiceError;
use foundation::account::DEFAULT_TIME_ZONE;
use foundation::request::Request;
use foundation::secret;

impl AccountAccess {
    /// Returns whether this service sends mail. Otherwise the outbox stores it for the operator.
    #[must_use]
    pub fn sends_mail(&self) -> bool {
        self.delivery_settings.messages.email.smtp.is_some()
    }

    /// Returns whether everyone may register.
    #[must_use]
    pub fn is_registration_open(&self) -> bool {
        !self.settings.is_registration_closed
    }

    /// Registers an account: `{email, password, full_name?}`. The result is sent to the address and is not visible
    /// otherwise.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid address or password, [`ServiceError::Forbidden`] if registration is
    /// closed, [`ServiceError::RateLimited`] after too many registrations today, [`ServiceError::Overloaded`] if too
    /// many passwords wait to be hashed.
    pub async fn register(&self, body: &Value) -> Result<(), ServiceError> {
        if self.settings.is_registration_closed {
            return Err(ServiceError::Forbidden {
                reason: "registration_closed",
                required: None,
                message: "registration is closed; ask the operator of this service for an account".to_owned(),
            });
        }
        let request = RegisterRequest::read(body)?;
        let email = request.email.0;
        let ports = &self.ports;
        let hash = self.authenticator.hash_password(request.password.0).await?;
        let now = ports.clock.now();
        let account = Account {
            id: AccountId(ports.random.uuid()),
            email: email.clone(),
            password_hash: Some(hash),
            full_name: request.full_name.map(|name| name.0),
            plan: Plan::Basic,
            is_operator: false,
            is_verified: false,
            time_zone: DEFAULT_TIME_ZONE.to_owned(),
            created_at: now,
            profile: Profile::default(),
        };
        let already_registered = AccountEmail::AlreadyRegistered {
            link: self.writer.link("sign-in", &[]),
        };
        let inputs = (
            account,
            self.email_link(LinkPurpose::Confirm, &email, now)?,
            self.writer.mail(&email, None, &already_registered)?,
            now,
        );
        let transaction = ports.transaction(inputs, |&(ref account, ref link, ref already_registered, now), unit| {
            Box::pin(async move {
                check_registration_limit(unit, now).await?;
                if unit.insert_account(account).await? {
                    return queue_link(unit, link, account).await;
                }
                let email = &account.email;
                let Some(found) = unit.account_by_email(email).await? else {
                    // The account was deleted in the meantime.
                    let message = "the registration conflicted with another request; try again";
                    return Err(Abort::Refused(ServiceError::Unavailable(message.to_owned())));
                };
                if !may_send_link(unit, LinkPurpose::Confirm, email, now).await? {
                    return Ok(());
                }
                if !found.is_verified {
                    return queue_link(unit, link, &found).await;
                }
                // Stores a link that is never sent, so that this email counts as well.
                unit.insert_code(&link.code).await?;
                let message = NewMessage {
                    account: Some(found.id),
                    ..already_registered.clone()
                };
                Ok(unit.queue_message(&message).await?)
            })
        });
        transaction.await
    }

    /// Confirms the address of a registration: `{token}`. Returns whether the account has a password. After more than
    /// one registration with the address it has none; its owner signs in by link, or requests a password reset.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for an invalid link.
    pub async fn confirm_address(&self, body: &Value) -> Result<bool, ServiceError> {
        let token = LinkTokenRequest::read(body)?.token.0;
        if !secret::is_well_formed(&token) {
            return Err(invalid_link());
        }
        let inputs = (LinkPurpose::Confirm.hash("", &token), self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(hash, now), unit| {
            Box::pin(async move {
                let redeemed = redeem_link(unit, hash, now).await?;
                let mut account = redeemed.account;
                // Links are deleted some time after their expiry. An account with the creation time of this link had no
                // link before it.
                let is_first = redeemed.created_at == account.created_at;
                let purpose = LinkPurpose::Confirm.name();
                let links = unit.count_codes_of_account(purpose, account.id, Timestamp::MIN).await?;
                if is_first && links == 1 {
                    account.is_verified = true;
                    unit.update_account(&account).await?;
                } else {
                    take_over_unverified(unit, &mut account, now).await?;
                }
                Ok(account)
            })
        });
        let account = transaction.await?;
        self.credential_cache.invalidate(account.id);
        Ok(account.password_hash.is_some())
    }
}

/// Takes over an unverified account for the person who has proven to own its address. Removes everything that was set
/// or created before: another person who registered the address must not keep access to the account, receive its
/// alerts, or choose the owner's name or phone number.
pub(super) async fn take_over_unverified(
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
    for purpose in [LinkPurpose::Confirm.name(), address::LINK_PURPOSE] {
        unit.revoke_codes(purpose, account.id, now).await?;
    }
    Ok(())
}
