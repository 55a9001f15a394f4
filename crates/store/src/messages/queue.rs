//! Messages are queued in the transaction that gives reason to them.

use crate::model::NewMessage;
use crate::model::message::lane;
use crate::unit::write;
use crate::{StoreError, Unit};

impl Unit {
    /// Queues a message. It is due at once.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn queue_message(&mut self, message: &NewMessage) -> Result<(), StoreError> {
        write!(
            self,
            "INSERT INTO messages
             (id, channel, kind, lane, recipient, account_id, content, status, tries, due_at, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', 0, $8, $8)",
            message.id.0,
            message.channel.name(),
            message.kind,
            lane(message.recipient.as_bytes()),
            &message.recipient,
            message.account.map(|account| account.0),
            message.content.as_slice(),
            message.created_at.as_microsecond(),
        );
        self.has_messages = true;
        Ok(())
    }
}
