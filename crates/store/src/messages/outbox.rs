//! Messages kept instead of sent, for operators.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::{Table, text, values};
use crate::database::query;
use crate::model::{ListError, ListRequest, MessageChannel, MessageId, Page, StoredOutboxMessage};
use crate::parameters::{Parameter, fetch_with};
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

/// Returns the `WHERE` clause of conditions that must all hold.
fn all_of(conditions: &[String]) -> String {
    match conditions {
        [] => String::new(),
        _ => format!(" WHERE {}", conditions.join(" AND ")),
    }
}

impl Store {
    /// Returns a page of the outbox, newest first: all messages, or those on one channel or to one recipient.
    pub async fn outbox_messages(
        &self,
        channel: Option<MessageChannel>,
        recipient: Option<&str>,
        request: impl Into<ListRequest<MessageId>>,
    ) -> Result<Page<StoredOutboxMessage>, ListError> {
        let request = request.into();
        let mut end = i64::MAX;
        if let Some(after) = request.after {
            let found = query!(
                fetch_optional(i64,),
                &self.pools,
                "SELECT seq FROM outbox WHERE id = $1",
                after.0
            )?;
            (end,) = found.ok_or(ListError::UnknownItem)?;
        }
        // A list has only the conditions of its filter, so an index can serve it.
        let (mut conditions, mut parameters) = (Vec::new(), Vec::new());
        // A recipient has few messages, all on one channel, so the index of the channel must not be used.
        let channel_column = if recipient.is_some() {
            "channel || ''"
        } else {
            "channel"
        };
        if let Some(recipient) = recipient {
            parameters.push(Parameter::Text(text(recipient)));
            conditions.push("recipient = $1".to_owned());
        }
        if let Some(channel) = channel {
            conditions.push(format!("{channel_column} = '{}'", channel.name()));
        }
        let sql = format!("SELECT COUNT(*) FROM outbox{}", all_of(&conditions));
        let total = fetch_with!(&self.pools, (i64,), sql, &parameters)?;
        let total = total.first().map_or(0, |(total,)| *total);

        let (limit, offset) = request.limit_and_offset();
        let first = parameters.len() + 1;
        conditions.push(format!("seq < ${first}"));
        parameters.extend([end, limit, offset].map(Parameter::Number));
        let sql = format!(
            "SELECT id, channel, recipient, content, created_at FROM outbox{} ORDER BY seq DESC LIMIT ${} OFFSET ${}",
            all_of(&conditions),
            first + 1,
            first + 2
        );
        Ok(Page {
            items: values(fetch_with!(&self.pools, OutboxRow, sql, &parameters)?)?,
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
