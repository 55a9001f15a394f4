//! Messages are queued in the transaction that gives reason to them.

use jiff::Timestamp;

use super::TABLE;
use crate::model::message::lane;
use crate::model::{AccountId, NewMessage};
use crate::unit::write;
use crate::{StoreError, Unit};

impl Unit {
    /// Queues a message. It is due at once.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn queue_message(&mut self, message: &NewMessage) -> Result<(), StoreError> {
        if self.queue_message_once(message).await? {
            Ok(())
        } else {
            Err(TABLE.corrupt("two messages have the same id"))
        }
    }

    /// Queues a message unless there is one of its id. It is due at once. Returns whether it was queued.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn queue_message_once(&mut self, message: &NewMessage) -> Result<bool, StoreError> {
        let rows = write!(
            self,
            "INSERT INTO messages
             (id, channel, kind, lane, recipient, account_id, content, status, tries, due_at, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', 0, $8, $8) ON CONFLICT (id) DO NOTHING",
            message.id.0,
            message.channel.name(),
            message.kind,
            lane(message.recipient.as_bytes()),
            &message.recipient,
            message.account.map(|account| account.0),
            message.content.as_slice(),
            message.created_at.as_microsecond(),
        );
        self.has_messages |= rows > 0;
        Ok(rows > 0)
    }

    /// Makes messages to an account due now that were put off to the end of its quiet hours: the hours have changed, and the
    /// next claim applies the new ones.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn release_quiet_messages(&mut self, account: AccountId, now: Timestamp) -> Result<(), StoreError> {
        let rows = write!(
            self,
            "UPDATE messages SET due_at = $2
             WHERE account_id = $1 AND status = 'pending' AND lease IS NULL AND outcome = 'quiet_hours' AND due_at > $2",
            account.0,
            now.as_microsecond(),
        );
        self.has_messages |= rows > 0;
        Ok(())
    }
}
