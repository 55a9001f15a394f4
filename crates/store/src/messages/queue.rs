//! Queues messages in the transaction that causes them.

use jiff::Timestamp;

use super::TABLE;
use crate::model::message::endpoint;
use crate::model::{AccountId, MessageChannel, NewMessage};
use crate::unit_of_work::write_rows;
use crate::{StoreError, UnitOfWork};

impl UnitOfWork {
    /// Queues a message. It is due at once.
    pub async fn queue_message(&mut self, message: &NewMessage) -> Result<(), StoreError> {
        if self.queue_message_once(message).await? {
            Ok(())
        } else {
            Err(TABLE.corrupt("two messages have the same id"))
        }
    }

    /// Queues a message unless one with its id exists. It is due at once. Returns whether it was queued.
    pub async fn queue_message_once(&mut self, message: &NewMessage) -> Result<bool, StoreError> {
        let rows = write_rows!(
            self,
            "INSERT INTO messages
             (id, channel, kind, lane, recipient, account_id, content, status, tries, due_at, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', 0, $8, $8) ON CONFLICT (id) DO NOTHING",
            message.id.0,
            message.channel.name(),
            message.kind,
            endpoint(message.recipient.as_bytes()),
            &message.recipient,
            message.account.map(|account| account.0),
            message.content.as_slice(),
            message.created_at.as_microsecond(),
        );
        if rows > 0 {
            self.wake(message.channel.into());
        }
        Ok(rows > 0)
    }

    /// Makes an account's messages due now that were postponed to the end of its quiet hours. To be called after the
    /// quiet hours change; the next claim applies the new ones.
    pub async fn release_quiet_messages(&mut self, account: AccountId, now: Timestamp) -> Result<(), StoreError> {
        let rows = write_rows!(
            self,
            "UPDATE messages SET due_at = $2
             WHERE account_id = $1 AND status = 'pending' AND lease IS NULL AND outcome = 'quiet_hours' AND due_at > $2",
            account.0,
            now.as_microsecond(),
        );
        if rows > 0 {
            for &channel in MessageChannel::ALL {
                self.wake(channel.into());
            }
        }
        Ok(())
    }
}
