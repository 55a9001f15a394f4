//! Messages kept instead of sent, for operators.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::{Table, values};
use crate::database::query;
use crate::model::{MessageChannel, MessageId, Page, PageRequest, StoredOutboxMessage};
use crate::sqlite::row;
use crate::{Store, StoreError};

const TABLE: Table = Table("outbox");

row! {
    struct OutboxRow {
        id: Uuid,
        channel: String,
        recipient: String,
        content: Vec<u8>,
        created_at: i64,
    }
}

impl TryFrom<OutboxRow> for StoredOutboxMessage {
    type Error = StoreError;

    fn try_from(row: OutboxRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: MessageId(row.id),
            channel: TABLE.parse("channel", &row.channel, MessageChannel::from_name)?,
            recipient: row.recipient,
            content: row.content,
            created_at: TABLE.instant(row.created_at)?,
        })
    }
}

impl Store {
    /// Returns a page of the outbox, newest first: all messages, or those on one channel or to one recipient.
    pub async fn outbox_messages(
        &self,
        channel: Option<MessageChannel>,
        recipient: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<StoredOutboxMessage>, StoreError> {
        let channel = channel.map(MessageChannel::name);
        let recipient = recipient.map(crate::columns::text);
        let (limit, offset) = (i64::from(page.limit), page.offset());
        // Two statements, because only one of them can use an index.
        let (total, rows) = if let Some(recipient) = recipient {
            let sql = "SELECT COUNT(*) FROM outbox WHERE channel = COALESCE($1, channel) AND recipient = $2";
            let (total,) = query!(fetch_one(i64,), &self.pools, sql, channel, &recipient)?;
            let sql = "SELECT id, channel, recipient, content, created_at FROM outbox
                       WHERE channel = COALESCE($1, channel) AND recipient = $2 ORDER BY seq DESC LIMIT $3 OFFSET $4";
            (
                total,
                query!(fetch_all OutboxRow, &self.pools, sql, channel, &recipient, limit, offset)?,
            )
        } else {
            let sql = "SELECT COUNT(*) FROM outbox WHERE channel = COALESCE($1, channel)";
            let (total,) = query!(fetch_one(i64,), &self.pools, sql, channel)?;
            let sql = "SELECT id, channel, recipient, content, created_at FROM outbox
                       WHERE channel = COALESCE($1, channel) ORDER BY seq DESC LIMIT $2 OFFSET $3";
            (
                total,
                query!(fetch_all OutboxRow, &self.pools, sql, channel, limit, offset)?,
            )
        };
        Ok(Page {
            items: values(rows)?,
            total: TABLE.narrow("COUNT(*)", total)?,
        })
    }

    /// Counts the firing messages that an account was sent on a channel since an instant. Plan quotas use this
    /// count.
    pub async fn count_quota_messages(
        &self,
        account: crate::model::AccountId,
        channel: MessageChannel,
        since: Timestamp,
    ) -> Result<u32, StoreError> {
        let sql = "SELECT COUNT(*) FROM messages
                   WHERE account_id = $1 AND channel = $2 AND admitted_at >= $3 AND kind = 'fired' AND status <> 'failed'";
        let found = query!(
            fetch_one(i64,),
            &self.pools,
            sql,
            account.0,
            channel.name(),
            since.as_microsecond()
        )?;
        TABLE.narrow("COUNT(*)", found.0)
    }
}
