//! Creates messages from email and text message content.

use std::sync::Arc;

use jiff::Timestamp;
use notify::templates::AccountEmail;
use store::model::{AccountId, MessageChannel, MessageId, NewMessage};

use foundation::links::link;
use foundation::vault::{SecretLocation, Vault};
use foundation::{Ports, Random, ServiceError};

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
        letter: &AccountEmail,
    ) -> Result<NewMessage, ServiceError> {
        self.message(MessageChannel::Email, to, account, letter)
    }

    /// Creates a text message, ready to be queued.
    pub fn text_message(
        &self,
        to: &str,
        account: Option<AccountId>,
        letter: &AccountEmail,
    ) -> Result<NewMessage, ServiceError> {
        self.message(MessageChannel::Sms, to, account, letter)
    }

    fn message(
        &self,
        channel: MessageChannel,
        to: &str,
        account: Option<AccountId>,
        letter: &AccountEmail,
    ) -> Result<NewMessage, ServiceError> {
        let ports = &self.ports;
        sealed(
            &ports.vault,
            &ports.random,
            ports.clock.now(),
            (channel, to),
            account,
            letter,
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
    letter: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    sealed(vault, random, now, (MessageChannel::Email, to), account, letter)
}

/// Creates an email to an account's address with a given id.
pub(super) fn account_email_with_id(
    vault: &Vault,
    random: &Random,
    (id, now): (MessageId, Timestamp),
    to: &str,
    account: AccountId,
    letter: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    let to = (MessageChannel::Email, to);
    sealed_with_id(vault, random, (id, now), to, Some(account), letter)
}

fn sealed(
    vault: &Vault,
    random: &Random,
    now: Timestamp,
    to: (MessageChannel, &str),
    account: Option<AccountId>,
    letter: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    let id = MessageId(random.uuid());
    sealed_with_id(vault, random, (id, now), to, account, letter)
}

fn sealed_with_id(
    vault: &Vault,
    random: &Random,
    (id, now): (MessageId, Timestamp),
    (channel, to): (MessageChannel, &str),
    account: Option<AccountId>,
    letter: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    let text = serde_json::to_string(letter)?;
    Ok(NewMessage {
        id,
        channel,
        kind: letter.kind(),
        // Normalized, so that limits count all messages to the same recipient.
        recipient: to.to_lowercase(),
        account,
        content: vault.seal(random, content_location(id), &text),
        created_at: now,
    })
}
