//! Exports all stored data of an account, page by page. Each page starts where the previous one ended, even if rows
//! are added in between.

use alerts::AlertId;
use uuid::Uuid;

use crate::alerts::{AlertRow, select};
use crate::columns::Table;
use crate::database::query;
use crate::messages::{alert_of_message, message_route, route_of_message};
use crate::model::{AccountId, ExportedAlert, FeedbackId, MessageChannel, MessageId, SentMessage};
use crate::sqlite::row;
use crate::{Store, StoreError};

const MESSAGES: Table = Table("messages");

macro_rules! select_messages {
    ($rest:literal) => {
        concat!(
            "SELECT seq, id, ",
            alert_of_message!(),
            ", ",
            route_of_message!(),
            ", kind, recipient, status, outcome, created_at, admitted_at, finished_at FROM messages
             WHERE account_id = $1 AND channel = $2 AND admitted_at IS NOT NULL ",
            $rest
        )
    };
}

/// The end of a page of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageCursor {
    admitted_at: i64,
    seq: i64,
}

impl Default for MessageCursor {
    /// The position before all messages.
    fn default() -> Self {
        Self {
            admitted_at: i64::MIN,
            seq: 0,
        }
    }
}

row! {
    struct MessageRow {
        seq: i64,
        id: Uuid,
        alert_id: Option<Uuid>,
        routed_id: Option<Uuid>,
        routed_type: Option<String>,
        routed_name: Option<String>,
        kind: String,
        recipient: Option<String>,
        status: String,
        outcome: Option<String>,
        created_at: i64,
        admitted_at: i64,
        finished_at: Option<i64>,
    }
}

impl MessageRow {
    const fn position(&self) -> MessageCursor {
        MessageCursor {
            admitted_at: self.admitted_at,
            seq: self.seq,
        }
    }

    fn message(self, channel: MessageChannel) -> Result<SentMessage, StoreError> {
        Ok(SentMessage {
            id: MessageId(self.id),
            alert: self.alert_id.map(AlertId),
            channel,
            routed_to: message_route(self.routed_id, self.routed_type.as_deref(), self.routed_name)?,
            kind: self.kind,
            recipient: self.recipient,
            status: self.status,
            outcome: self.outcome,
            created_at: MESSAGES.instant(self.created_at)?,
            finished_at: MESSAGES.optional_instant(self.finished_at)?,
        })
    }
}

impl Store {
    /// Returns an account's alerts after a position in order of creation, including deleted ones, at most `limit`.
    pub async fn alerts_after(
        &self,
        account: AccountId,
        position: i64,
        limit: u32,
    ) -> Result<Vec<ExportedAlert>, StoreError> {
        let sql = select!("WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3");
        let rows = query!(fetch_all AlertRow, &self.pools, sql, account.0, position, i64::from(limit))?;
        let kept = rows.into_iter().map(|row| {
            Ok(ExportedAlert {
                position: row.seq,
                deleted_at: row.deleted_at()?,
                stored: row.try_into()?,
            })
        });
        kept.collect()
    }

    /// Returns an account's messages on a channel that were sent or tried, after a position, at most `limit`. Also
    /// returns the next position.
    pub async fn messages_after(
        &self,
        account: AccountId,
        channel: MessageChannel,
        position: MessageCursor,
        limit: u32,
    ) -> Result<(Vec<SentMessage>, MessageCursor), StoreError> {
        let sql = select_messages!(
            "AND (admitted_at > $3 OR (admitted_at = $3 AND seq > $4)) ORDER BY admitted_at, seq LIMIT $5"
        );
        let (admitted_at, seq, limit) = (position.admitted_at, position.seq, i64::from(limit));
        let channel_name = channel.name();
        let rows = query!(fetch_all MessageRow, &self.pools, sql, account.0, channel_name, admitted_at, seq, limit)?;
        let next = rows.last().map_or(position, MessageRow::position);
        let messages = rows.into_iter().map(|row| row.message(channel));
        Ok((messages.collect::<Result<_, _>>()?, next))
    }

    /// Returns an account's latest messages on a channel, newest first, at most `limit`: those that were sent or tried.
    pub async fn latest_messages(
        &self,
        account: AccountId,
        channel: MessageChannel,
        limit: u32,
    ) -> Result<Vec<SentMessage>, StoreError> {
        let sql = select_messages!("ORDER BY admitted_at DESC, seq DESC LIMIT $3");
        let rows = query!(fetch_all MessageRow, &self.pools, sql, account.0, channel.name(), i64::from(limit))?;
        rows.into_iter().map(|row| row.message(channel)).collect()
    }

    /// Returns the feedback that an account likes.
    pub async fn liked_feedback(&self, account: AccountId) -> Result<Vec<FeedbackId>, StoreError> {
        let sql = "SELECT feedback.id FROM feedback_likes JOIN feedback ON feedback.seq = feedback_likes.feedback_seq
                   WHERE feedback_likes.account_id = $1 ORDER BY feedback.seq";
        let rows = query!(fetch_all(Uuid,), &self.pools, sql, account.0)?;
        Ok(rows.into_iter().map(|(id,)| FeedbackId(id)).collect())
    }
}
