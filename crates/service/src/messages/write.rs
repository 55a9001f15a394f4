//! Letters become messages.

use std::sync::Arc;

use jiff::Timestamp;
use notify::templates::AccountEmail;
use store::model::{AccountId, MessageChannel, MessageId, NewMessage};

use crate::links::link;
use crate::vault::{Place, Vault};
use crate::{Chance, Ports, ServiceError};

/// Where the content of a message lies.
pub(crate) const fn place(message: MessageId) -> Place {
    Place {
        table: "messages",
        column: "content",
        row: message.0,
    }
}

/// Makes messages and links to pages of this service.
#[derive(Clone)]
pub(crate) struct MessageWriter {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<crate::Settings>,
}

impl MessageWriter {
    /// Returns the address of a page of this service: `https://alerts.example.com/confirm?token=...`.
    pub(crate) fn link(&self, page: &str, query: &[(&str, &str)]) -> String {
        link(&self.settings.public_url, page, query)
    }

    /// A letter to an address, ready to be queued.
    pub(crate) fn mail(
        &self,
        to: &str,
        account: Option<AccountId>,
        letter: &AccountEmail,
    ) -> Result<NewMessage, ServiceError> {
        self.message(MessageChannel::Email, to, account, letter)
    }

    /// A letter to a telephone number, ready to be queued.
    pub(crate) fn text_message(
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
            &ports.chance,
            ports.clock.now(),
            (channel, to),
            account,
            letter,
        )
        .map_err(ServiceError::internal)
    }
}

/// A letter to an address, for those who have no more than this at hand.
pub(crate) fn letter(
    vault: &Vault,
    chance: &Chance,
    now: Timestamp,
    to: &str,
    account: Option<AccountId>,
    letter: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    sealed(vault, chance, now, (MessageChannel::Email, to), account, letter)
}

/// A letter to the address of an account, under an id that is given.
pub(super) fn letter_of_id(
    vault: &Vault,
    chance: &Chance,
    (id, now): (MessageId, Timestamp),
    to: &str,
    account: AccountId,
    letter: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    let to = (MessageChannel::Email, to);
    sealed_as(vault, chance, (id, now), to, Some(account), letter)
}

fn sealed(
    vault: &Vault,
    chance: &Chance,
    now: Timestamp,
    to: (MessageChannel, &str),
    account: Option<AccountId>,
    letter: &AccountEmail,
) -> Result<NewMessage, serde_json::Error> {
    let id = MessageId(chance.uuid());
    sealed_as(vault, chance, (id, now), to, account, letter)
}

fn sealed_as(
    vault: &Vault,
    chance: &Chance,
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
        // In one form, so that limits count what goes to the same place.
        recipient: to.to_lowercase(),
        account,
        content: vault.seal(chance, place(id), &text),
        created_at: now,
    })
}
