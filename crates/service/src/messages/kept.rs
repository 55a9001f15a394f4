//! The outbox, for an operator to read.

use jiff::Timestamp;
use store::model::{Page, PageRequest, StoredOutboxMessage};

use super::carrier::{Words, kept_place};
use crate::access::accounts::normal_email;
use crate::messages::Outbox;
use crate::vault::VaultError;
use crate::{Actor, Scope, ServiceError};

pub use store::model::{MessageChannel, MessageId};

/// Which messages of the outbox.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutboxFilter {
    /// Those that would have gone that way.
    pub channel: Option<MessageChannel>,
    /// Those to that address or number.
    pub to: Option<String>,
}

/// A message that was kept instead of sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutboxMessage {
    /// Which one.
    pub id: MessageId,
    /// How it would have gone.
    pub channel: MessageChannel,
    /// Where to.
    pub to: String,
    /// What it is about; text messages have none.
    pub subject: Option<String>,
    /// What it says.
    pub text: String,
    /// The same as HTML; text messages have none.
    pub html: Option<String>,
    /// When it was kept.
    pub created_at: Timestamp,
}

impl Outbox {
    /// What was kept instead of sent, newest first.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] for others than operators, [`ServiceError::Internal`] if the database fails.
    pub async fn outbox(
        &self,
        actor: &Actor,
        filter: OutboxFilter,
        page: PageRequest,
    ) -> Result<Page<OutboxMessage>, ServiceError> {
        actor.require(Scope::OutboxRead)?;
        let to = filter.to.map(|to| normal_email(&to));
        let kept = self
            .ports
            .store
            .outbox_messages(filter.channel, to.as_deref(), page)
            .await?;
        let items = kept.items.into_iter().map(|message| self.opened(message));
        Ok(Page {
            items: items.collect::<Result<_, _>>()?,
            total: kept.total,
        })
    }

    fn opened(&self, kept: StoredOutboxMessage) -> Result<OutboxMessage, ServiceError> {
        let words = match self.ports.vault.open(kept_place(kept.id), &kept.content) {
            Ok(text) => serde_json::from_str(&text).map_err(ServiceError::internal)?,
            // Kept before the key was changed: what it said cannot be known, but that it was there can.
            Err(VaultError::OtherKey) => Words::default(),
            Err(error) => return Err(ServiceError::internal(error)),
        };
        Ok(OutboxMessage {
            id: kept.id,
            channel: kept.channel,
            to: kept.recipient,
            subject: words.subject,
            text: words.text,
            html: words.html,
            created_at: kept.created_at,
        })
    }
}
