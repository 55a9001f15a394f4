//! All that is kept of an account, page by page: each page begins where the one before ended, however much comes in
//! between.

use uuid::Uuid;

use crate::alerts::{AlertRow, select};
use crate::columns::Table;
use crate::database::query;
use crate::model::{AccountId, FeedbackId, KeptAlert, MessageChannel, SentMessage};
use crate::{Store, StoreError};

const MESSAGES: Table = Table("messages");

/// Where a page of messages ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessagePlace {
    admitted_at: i64,
    seq: i64,
}

impl Default for MessagePlace {
    /// Before all messages.
    fn default() -> Self {
        Self {
            admitted_at: i64::MIN,
            seq: 0,
        }
    }
}

#[derive(sqlx_macros::FromRow)]
struct MessageRow {
    seq: i64,
    kind: String,
    recipient: Option<String>,
    status: String,
    created_at: i64,
    admitted_at: i64,
    finished_at: Option<i64>,
}

impl MessageRow {
    const fn place(&self) -> MessagePlace {
        MessagePlace {
            admitted_at: self.admitted_at,
            seq: self.seq,
        }
    }

    fn message(self, channel: MessageChannel) -> Result<SentMessage, StoreError> {
        Ok(SentMessage {
            channel,
            kind: self.kind,
            recipient: self.recipient,
            status: self.status,
            created_at: MESSAGES.instant(self.created_at)?,
            finished_at: MESSAGES.instant_if_any(self.finished_at)?,
        })
    }
}

impl Store {
    /// An account's alerts after a place in the order of their creation, deleted ones included: at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn alerts_after(&self, account: AccountId, place: i64, limit: u32) -> Result<Vec<KeptAlert>, StoreError> {
        let sql = select!("WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3");
        let rows = query!(fetch_all AlertRow, &self.pools, sql, account.0, place, i64::from(limit))?;
        let kept = rows.into_iter().map(|row| {
            Ok(KeptAlert {
                place: row.seq,
                deleted_at: row.deleted_at()?,
                stored: row.try_into()?,
            })
        });
        kept.collect()
    }

    /// The messages of an account that were sent, or tried, one way, after a place: at most `limit`.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn messages_after(
        &self,
        account: AccountId,
        channel: MessageChannel,
        place: MessagePlace,
        limit: u32,
    ) -> Result<(Vec<SentMessage>, MessagePlace), StoreError> {
        let sql = "SELECT seq, kind, recipient, status, created_at, admitted_at, finished_at FROM messages
                   WHERE account_id = $1 AND channel = $2 AND admitted_at IS NOT NULL
                   AND (admitted_at > $3 OR (admitted_at = $3 AND seq > $4))
                   ORDER BY admitted_at, seq LIMIT $5";
        let (admitted_at, seq, limit) = (place.admitted_at, place.seq, i64::from(limit));
        let channel_name = channel.name();
        let rows = query!(fetch_all MessageRow, &self.pools, sql, account.0, channel_name, admitted_at, seq, limit)?;
        let next = rows.last().map_or(place, MessageRow::place);
        let messages = rows.into_iter().map(|row| row.message(channel));
        Ok((messages.collect::<Result<_, _>>()?, next))
    }

    /// The feedback that an account likes.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn liked_feedback(&self, account: AccountId) -> Result<Vec<FeedbackId>, StoreError> {
        let sql = "SELECT feedback.id FROM feedback_likes JOIN feedback ON feedback.seq = feedback_likes.feedback_seq
                   WHERE feedback_likes.account_id = $1 ORDER BY feedback.seq";
        let rows = query!(fetch_all(Uuid,), &self.pools, sql, account.0)?;
        Ok(rows.into_iter().map(|(id,)| FeedbackId(id)).collect())
    }
}
