//! Creates messages from email and text message content.

use std::sync::Arc;

use foundation::links::link;
use foundation::vault::{SecretLocation, Vault};
use foundation::{Ports, Random, ServiceError};
use jiff::Timestamp;
use notify::templates::AccountEmail;
use store::model::{AccountId, MessageChannel, MessageId, NewMessage};

/// Returns the sealing location of a message's content.
pub const fn content_location(message: MessageId) -> SecretLocation {
    SecretLocation {
        table: "messages",
        column: "content",
        row: message.0,
    }
}

/// Creates messages, and links to pages of this service.
#[derive(Clone)]
pub struct MessageWriter {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<crate::DeliveryConfig>,
}

impl MessageWriter {
    /// Returns the URL of a page of this service: `https://alerts.example.com/confirm?token=...`.
    pub fn link(&self, page: &str, query: &[(&str, &str)]) -> String {
        link(&self.settings.public_url, page, query)
    }

    /// Creates an email, ready to be queued.
    pub fn mail(
        &self,
        to: &str,
        account: Option<AccountId>,
        content: &AccountEmail,
    ) -> Result<NewMessage, ServiceError> {
        self.message((MessageChannel::Email, to), account, content)
    }

    /// Creates a text message, ready to be queued.
    pub fn text_message(
        &self,
        to: &str,
        account: Option<AccountId>,
        content: &AccountEmail,
    ) -> Result<NewMessage, ServiceError> {
        self.message((MessageChannel::Sms, to), account, content)
    }

    fn message(
        &self,
        to: (MessageChannel, &str),
        account: Option<AccountId>,
        content: &AccountEmail,
    ) -> Result<NewMessage, ServiceError> {
        let ports = &self.ports;
        let id = MessageId(ports.random.uuid());
        seal_message(
            &ports.vault,
            &ports.random,
            (id, ports.clock.now()),
            to,
            account,
            content,
        )
        .map_err(ServiceError::internal)
    }
}

/// Creates an email, for callers without a [`MessageWriter`].
pub fn account_email(
    vault: &Vault,
    random: &Random,
    now: Timestamp,
    to: &str,
    account: Option<AccountId>,
    content: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    let id = MessageId(random.uuid());
    seal_message(vault, random, (id, now), (MessageChannel::Email, to), account, content)
}

/// Creates a message with a given id, and seals its content.
pub(super) fn seal_message(
    vault: &Vault,
    random: &Random,
    (id, now): (MessageId, Timestamp),
    (channel, to): (MessageChannel, &str),
    account: Option<AccountId>,
    content: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    let text = serde_json::to_string(content)?;
    Ok(NewMessage {
        id,
        channel,
        kind: content.kind(),
        // Normalized, so that limits count all messages to the same recipient.
        recipient: to.to_lowercase(),
        account,
        content: vault.seal(random, content_location(id), &text),
        created_at: now,
    })
}
