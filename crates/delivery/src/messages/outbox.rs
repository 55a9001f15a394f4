//! Reading of the outbox by operators.

use jiff::Timestamp;
use store::model::{ListRequest, Page, StoredOutboxMessage};

use super::transport::{RenderedMessage, outbox_location};
use crate::messages::OperatorOutbox;
use foundation::account::normalize_email;
use foundation::vault::VaultError;
use foundation::{Actor, Scope, ServiceError};

pub use store::model::{MessageChannel, MessageId};

/// Filter for outbox messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutboxFilter {
    /// Channel.
    pub channel: Option<MessageChannel>,
    /// Address or number of the recipient.
    pub to: Option<String>,
}

/// A message that was stored instead of sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutboxMessage {
    /// Id.
    pub id: MessageId,
    /// Channel.
    pub channel: MessageChannel,
    /// Recipient.
    pub to: String,
    /// Subject; `None` for text messages.
    pub subject: Option<String>,
    /// Text.
    pub text: String,
    /// HTML version; `None` for text messages.
    pub html: Option<String>,
    /// Time of storage.
    pub created_at: Timestamp,
}

impl OperatorOutbox {
    /// Returns stored messages, newest first.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] if the actor is not an operator; [`ServiceError::Invalid`] if the outbox has no message `after`.
    pub async fn outbox(
        &self,
        actor: &Actor,
        filter: OutboxFilter,
        request: impl Into<ListRequest<MessageId>>,
    ) -> Result<Page<OutboxMessage>, ServiceError> {
        actor.require(Scope::OutboxRead)?;
        let to = filter.to.map(|to| normalize_email(&to));
        let stored = self
            .ports
            .store
            .outbox_messages(filter.channel, to.as_deref(), request)
            .await?;
        let items = stored.items.into_iter().map(|message| self.open(message));
        Ok(Page {
            items: items.collect::<Result<_, _>>()?,
            total: stored.total,
        })
    }

    fn open(&self, stored: StoredOutboxMessage) -> Result<OutboxMessage, ServiceError> {
        let rendered = match self.ports.vault.open(outbox_location(stored.id), &stored.content) {
            Ok(text) => serde_json::from_str(&text).map_err(ServiceError::internal)?,
            // Stored before the key changed: the content is lost, the rest is not.
            Err(VaultError::UnknownKey) => RenderedMessage::default(),
            Err(error) => return Err(ServiceError::internal(error)),
        };
        Ok(OutboxMessage {
            id: stored.id,
            channel: stored.channel,
            to: stored.recipient,
            subject: rendered.subject,
            text: rendered.text,
            html: rendered.html,
            created_at: stored.created_at,
        })
    }
}
