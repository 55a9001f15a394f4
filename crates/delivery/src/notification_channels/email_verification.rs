//! Verification of an email address by a link that is sent to it.

use foundation::request::{PlainText, Request};
use foundation::{ServiceError, request, secret};
use jiff::{SignedDuration, Timestamp};
use notify::templates::AccountEmail;
use serde_json::Value;
use store::model::{AccountId, NewCode, NewMessage, NotificationChannelId, NotificationChannelType};
use store::{Abort, UnitOfWork};
use uuid::Uuid;

use super::{NotificationChannelConfig, NotificationChannels};

/// Purpose of the links.
const LINK_PURPOSE: &str = "confirm_channel";
/// Lifetime of a link.
const LINK_LIFETIME: SignedDuration = SignedDuration::from_hours(24);
/// Maximum number of links per account within the lifetime.
const MAX_LINKS_PER_ACCOUNT: u64 = 20;
/// Maximum number of links per email address within the lifetime, over all accounts.
const MAX_LINKS_PER_ADDRESS: u64 = 5;

request! {
    /// The link's token.
    ConfirmChannelRequest as "ConfirmChannel" {
        /// Token from the link in the email.
        token: PlainText,
    }
}

/// A link that verifies an address, with the email that brings it there.
pub(super) struct VerificationLink {
    code: NewCode,
    message: NewMessage,
}

impl VerificationLink {
    /// Stores the link and queues its email.
    ///
    /// # Errors
    /// [`ServiceError::RateLimited`] if too many links were sent within a day.
    pub(super) async fn send(&self, unit: &mut UnitOfWork, account: AccountId) -> Result<(), Abort<ServiceError>> {
        let since = self
            .code
            .created_at
            .saturating_sub(LINK_LIFETIME)
            .unwrap_or(Timestamp::MIN);
        let of_account = unit.count_codes_of_account(LINK_PURPOSE, account, since).await?;
        let of_address = unit.count_codes(LINK_PURPOSE, &self.code.subject, since).await?;
        if of_account >= MAX_LINKS_PER_ACCOUNT || of_address >= MAX_LINKS_PER_ADDRESS {
            return Err(Abort::Refused(ServiceError::RateLimited {
                message: format!(
                    "at most {MAX_LINKS_PER_ADDRESS} links per address and {MAX_LINKS_PER_ACCOUNT} per account are sent within a \
                     day; use one of them, or try again tomorrow"
                ),
                retry_after_s: LINK_LIFETIME.as_secs().unsigned_abs(),
            }));
        }
        unit.insert_code(&self.code).await?;
        unit.queue_message(&self.message).await?;
        Ok(())
    }
}

impl NotificationChannels {
    /// Creates a link that verifies the address of a channel.
    pub(super) fn verification_link(
        &self,
        account: AccountId,
        channel: NotificationChannelId,
        address: &str,
        now: Timestamp,
    ) -> Result<VerificationLink, ServiceError> {
        let token = secret::new(&self.ports.random);
        let content = AccountEmail::ConfirmChannel {
            link: self.writer.link("confirm-channel", &[("token", &token)]),
        };
        Ok(VerificationLink {
            code: NewCode {
                purpose: LINK_PURPOSE,
                account: Some(account),
                subject: address.to_owned(),
                payload: Some(channel.0.to_string()),
                hash: secret::hash(LINK_PURPOSE, "", &token),
                created_at: now,
                expires_at: now.saturating_add(LINK_LIFETIME).unwrap_or(Timestamp::MAX),
            },
            message: self.writer.mail(address, Some(account), &content)?,
        })
    }

    /// Verifies the address of a channel: `{token}`, from the link sent to it. Returns the address.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] for a link that is invalid, used or expired, or if the channel has another address by now.
    pub async fn confirm_email(&self, body: &Value) -> Result<String, ServiceError> {
        let token = ConfirmChannelRequest::read(body)?.token.0;
        if !secret::is_well_formed(&token) {
            return Err(invalid_link());
        }
        let ports = &self.ports;
        let inputs = (self.clone(), secret::hash(LINK_PURPOSE, "", &token), ports.clock.now());
        let transaction = ports.transaction(inputs, |&(ref channels, hash, now), unit| {
            Box::pin(async move {
                let bad = || Abort::Refused(invalid_link());
                let used = unit.use_code(hash, now).await?.ok_or_else(bad)?;
                let account = used.account.ok_or_else(bad)?;
                let id = used.payload.and_then(|id| Uuid::try_parse(&id).ok()).ok_or_else(bad)?;
                let channel = unit
                    .lock_notification_channel(account, NotificationChannelId(id))
                    .await?;
                let mut channel = channel.ok_or_else(bad)?;
                let config = channels.open(&channel)?;
                let is_current =
                    matches!(config, Some(NotificationChannelConfig::Email(address)) if address == used.subject);
                if channel.channel_type != NotificationChannelType::Email || !is_current {
                    return Err(bad());
                }
                channel.verified_at = Some(channel.verified_at.unwrap_or(now));
                channel.last_error = None;
                unit.update_notification_channel(&channel).await?;
                Ok(used.subject)
            })
        });
        transaction.await
    }
}

fn invalid_link() -> ServiceError {
    ServiceError::Malformed("the link is unknown, already used or expired; request a new one".to_owned())
}
