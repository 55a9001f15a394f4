//! Queues messages in the transaction that causes them.

use jiff::Timestamp;

use super::TABLE;
use super::folding::RESENT;
use crate::model::message::endpoint;
use crate::model::{AccountId, FIRING_KIND, MessageChannel, MessageId, NewMessage, NotificationChannel};
use crate::routes::channel_endpoint;
use crate::unit_of_work::{fetch, write_rows};
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

    /// Queues a copy of an account's message about a firing, so that it is sent again, with the recipient, the limits and the attempts of
    /// a new message. Nothing is queued if the copy exists already, or if another message about the firing waits on this channel, for
    /// instance for the end of quiet hours. Returns `false` if there is no message that can be sent again.
    pub async fn resend_message(
        &mut self,
        account: AccountId,
        id: MessageId,
        copy: MessageId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let queued = write_rows!(
            self,
            "INSERT INTO messages
             (id, channel, kind, lane, account_id, alert_seq, event_seq, notification_channel_seq, is_fallback, status, tries, due_at,
              created_at, outcome)
             SELECT $3, channel, kind, lane, account_id, alert_seq, event_seq, notification_channel_seq, is_fallback, 'pending', 0, $4, $4, $6
             FROM messages
             WHERE id = $2 AND account_id = $1 AND kind = $5 AND event_seq IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM messages AS waiting WHERE waiting.event_seq = messages.event_seq
                 AND waiting.account_id = $1 AND waiting.channel = messages.channel AND waiting.status IN ('pending', 'folded')
                 AND waiting.notification_channel_seq IS NOT DISTINCT FROM messages.notification_channel_seq)
             ON CONFLICT (id) DO NOTHING",
            account.0,
            id.0,
            copy.0,
            now.as_microsecond(),
            FIRING_KIND,
            RESENT,
        );
        if queued > 0 {
            for &channel in MessageChannel::ALL {
                self.wake(channel.into());
            }
            return Ok(true);
        }
        let sql = "SELECT COUNT(*) FROM messages AS asked JOIN messages AS copy
                       ON copy.event_seq = asked.event_seq AND copy.account_id = $2 AND copy.channel = asked.channel
                       AND copy.notification_channel_seq IS NOT DISTINCT FROM asked.notification_channel_seq
                   WHERE asked.id = $1 AND asked.account_id = $2 AND asked.kind = $4
                       AND (copy.id = $3 OR copy.status IN ('pending', 'folded'))";
        let (copies,) = fetch!(self, fetch_one(i64,), sql, id.0, account.0, copy.0, FIRING_KIND);
        Ok(copies > 0)
    }

    /// Makes the messages due now that a channel's digest or budget holds back. To be called after these change; the next claim applies
    /// the new ones.
    pub async fn release_held_messages(
        &mut self,
        channel: &NotificationChannel,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql =
            "UPDATE messages SET due_at = $4 WHERE channel = $1 AND lane = $2 AND status = 'pending' AND due_at > $4
                   AND lease IS NULL AND notification_channel_seq = $3 AND outcome IN ('digest', 'budget')";
        for &by in MessageChannel::ALL {
            let lane = channel_endpoint(channel.id, by, channel.account.0);
            if write_rows!(self, sql, by.name(), lane, channel.seq, now.as_microsecond()) > 0 {
                self.wake(by.into());
            }
        }
        self.await_acknowledgements_from(channel.account, now).await
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
        self.await_acknowledgements_from(account, now).await
    }

    /// Ends the waiting of an account's escalations for messages that are due now: the time for an acknowledgement begins when they are
    /// sent.
    async fn await_acknowledgements_from(&mut self, account: AccountId, now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE escalations SET due_at = $2 + ack_timeout
                   WHERE account_id = $1 AND ack_timeout IS NOT NULL AND due_at > $2 + ack_timeout";
        if write_rows!(self, sql, account.0, now.as_microsecond()) > 0 {
            self.wake_escalations();
        }
        Ok(())
    }
}
