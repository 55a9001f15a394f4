//! What is kept instead of sent, for an operator to look at.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::model::{KeptMessage, MessageChannel, MessageId, Page, PageRequest};
use crate::{Store, StoreError};

const TABLE: Table = Table("outbox");

#[derive(sqlx_macros::FromRow)]
struct Row {
    id: Uuid,
    channel: String,
    recipient: String,
    content: Vec<u8>,
    created_at: i64,
}

impl TryFrom<Row> for KeptMessage {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: MessageId(row.id),
            channel: TABLE.named("channel", &row.channel, MessageChannel::from_name)?,
            recipient: row.recipient,
            content: row.content,
            created_at: TABLE.instant(row.created_at)?,
        })
    }
}

impl Store {
    /// What the outbox keeps, newest first: all, or what went one way, or to one recipient.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn kept_messages(
        &self,
        channel: Option<MessageChannel>,
        to: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<KeptMessage>, StoreError> {
        let channel = channel.map(MessageChannel::name);
        let to = to.map(crate::columns::text);
        let (limit, offset) = (i64::from(page.limit), page.offset());
        // Two texts, as only one of them has an index to go by.
        let (total, rows) = if let Some(to) = to {
            let sql = "SELECT COUNT(*) FROM outbox WHERE channel = COALESCE($1, channel) AND recipient = $2";
            let (total,) = query!(fetch_one(i64,), &self.pools, sql, channel, &to)?;
            let sql = "SELECT id, channel, recipient, content, created_at FROM outbox
                       WHERE channel = COALESCE($1, channel) AND recipient = $2 ORDER BY seq DESC LIMIT $3 OFFSET $4";
            (
                total,
                query!(fetch_all Row, &self.pools, sql, channel, &to, limit, offset)?,
            )
        } else {
            let sql = "SELECT COUNT(*) FROM outbox WHERE channel = COALESCE($1, channel)";
            let (total,) = query!(fetch_one(i64,), &self.pools, sql, channel)?;
            let sql = "SELECT id, channel, recipient, content, created_at FROM outbox
                       WHERE channel = COALESCE($1, channel) ORDER BY seq DESC LIMIT $2 OFFSET $3";
            (total, query!(fetch_all Row, &self.pools, sql, channel, limit, offset)?)
        };
        Ok(Page {
            items: rows.into_iter().map(KeptMessage::try_from).collect::<Result<_, _>>()?,
            total: TABLE.narrow("COUNT(*)", total)?,
        })
    }

    /// How many messages about firings an account was sent one way since an instant: what its plan's quota is counted by.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn messages_counted(
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
