//! Receipts: what has happened to one message so far.

use alerts::AlertId;
use uuid::Uuid;

use super::{TABLE, alert_of_message, message_route, route_of_message};
use crate::bulk::{Statement, query_many};
use crate::columns::values;
use crate::database::query;
use crate::model::{AccountId, EventId, MessageChannel, MessageId, MessageReceipt, SentMessage};
use crate::sqlite::row;
use crate::{Store, StoreError};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT messages.id, ",
            alert_of_message!(),
            ", ",
            route_of_message!(),
            ", (SELECT events.id FROM events WHERE events.seq = messages.event_seq) AS event_id, messages.channel, messages.kind,
             COALESCE(messages.recipient, f.recipient) AS recipient, COALESCE(f.status, messages.status) AS status,
             COALESCE(f.outcome, messages.outcome) AS outcome, COALESCE(f.tries, messages.tries) AS tries, messages.created_at,
             COALESCE(f.admitted_at, messages.admitted_at) AS admitted_at, COALESCE(f.finished_at, messages.finished_at) AS finished_at,
             COALESCE(f.due_at, messages.due_at) AS due_at, f.id AS folded_into
             FROM messages LEFT JOIN messages f ON f.seq = messages.folded_into ",
            $rest
        )
    };
}

/// The messages to notification channels about some events.
const ROUTED_MESSAGES: Statement = Statement {
    before: select!(
        "WHERE messages.notification_channel_seq IS NOT NULL AND messages.event_seq IN (SELECT seq FROM events WHERE id IN (VALUES "
    ),
    columns: 1,
    after: ")) ORDER BY messages.seq",
};

/// The messages with some ids.
const MESSAGES_BY_ID: Statement = Statement {
    before: select!("WHERE messages.id IN (VALUES "),
    columns: 1,
    after: ")",
};

row! {
    struct ReceiptRow {
        id: Uuid,
        alert_id: Option<Uuid>,
        routed_id: Option<Uuid>,
        routed_type: Option<String>,
        routed_name: Option<String>,
        event_id: Option<Uuid>,
        channel: String,
        kind: String,
        recipient: Option<String>,
        status: String,
        outcome: Option<String>,
        tries: i64,
        created_at: i64,
        admitted_at: Option<i64>,
        finished_at: Option<i64>,
        due_at: i64,
        folded_into: Option<Uuid>,
    }
}

impl TryFrom<ReceiptRow> for MessageReceipt {
    type Error = StoreError;

    fn try_from(row: ReceiptRow) -> Result<Self, StoreError> {
        let next = (row.status == "pending").then(|| TABLE.instant(row.due_at));
        Ok(Self {
            sent: SentMessage {
                id: MessageId(row.id),
                alert: row.alert_id.map(AlertId),
                channel: TABLE.parse("channel", &row.channel, MessageChannel::from_name)?,
                routed_to: message_route(row.routed_id, row.routed_type.as_deref(), row.routed_name)?,
                kind: row.kind,
                recipient: row.recipient,
                status: row.status,
                outcome: row.outcome,
                created_at: TABLE.instant(row.created_at)?,
                finished_at: TABLE.optional_instant(row.finished_at)?,
            },
            event: row.event_id.map(EventId),
            folded_into: row.folded_into.map(MessageId),
            attempts: TABLE.narrow("tries", row.tries)?,
            claimed_at: TABLE.optional_instant(row.admitted_at)?,
            next_attempt_at: next.transpose()?,
        })
    }
}

impl Store {
    /// Returns the receipt of an account's message.
    pub async fn message_receipt(
        &self,
        account: AccountId,
        id: MessageId,
    ) -> Result<Option<MessageReceipt>, StoreError> {
        let sql = select!("WHERE messages.id = $1 AND messages.account_id = $2");
        let row = query!(fetch_optional ReceiptRow, &self.pools, sql, id.0, account.0)?;
        row.map(ReceiptRow::try_into).transpose()
    }

    /// Returns the receipts of the messages about some events, also of those that wait.
    pub async fn receipts_of_events(&self, events: &[EventId]) -> Result<Vec<MessageReceipt>, StoreError> {
        let ids: Vec<Uuid> = events.iter().map(|event| MessageId::for_event(*event).0).collect();
        let mut rows = query_many!(ReceiptRow, &self.pools, MESSAGES_BY_ID, &ids, |query, id| query
            .bind(*id));
        rows.extend(query_many!(
            ReceiptRow,
            &self.pools,
            ROUTED_MESSAGES,
            events,
            |query, event| query.bind(event.0)
        ));
        values(rows)
    }
}
