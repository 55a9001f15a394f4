//! Letters become messages.

use notify::letter::Letter;
use store::model::{AccountId, MessageChannel, MessageId, NewMessage};

use crate::ServiceError;
use crate::start::Inner;
use crate::vault::Place;

/// Where the content of a message lies.
pub(crate) const fn place(message: MessageId) -> Place {
    Place {
        table: "messages",
        column: "content",
        row: message.0,
    }
}

impl Inner {
    /// A letter to an address, ready to be queued.
    pub(crate) fn mail(
        &self,
        to: &str,
        account: Option<AccountId>,
        letter: &Letter,
    ) -> Result<NewMessage, ServiceError> {
        self.message(MessageChannel::Email, to, account, letter)
    }

    /// A letter to a telephone number, ready to be queued.
    #[allow(dead_code, reason = "numbers are verified next")]
    pub(crate) fn text_message(
        &self,
        to: &str,
        account: Option<AccountId>,
        letter: &Letter,
    ) -> Result<NewMessage, ServiceError> {
        self.message(MessageChannel::Sms, to, account, letter)
    }

    fn message(
        &self,
        channel: MessageChannel,
        to: &str,
        account: Option<AccountId>,
        letter: &Letter,
    ) -> Result<NewMessage, ServiceError> {
        let id = MessageId(self.ports.chance.uuid());
        let text = serde_json::to_string(letter).map_err(ServiceError::internal)?;
        Ok(NewMessage {
            id,
            channel,
            kind: letter.kind(),
            // In one form, so that limits count what goes to the same place.
            recipient: to.to_lowercase(),
            account,
            content: self.ports.vault.seal(&self.ports.chance, place(id), &text),
            created_at: self.ports.clock.now(),
        })
    }
}
