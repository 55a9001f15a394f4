//! Claims messages with the accounts and alerts that they concern.

use std::collections::HashMap;
use std::sync::Arc;

use ::alerts::AlertId;
use uuid::Uuid;

use super::TABLE;
use crate::accounts::{AccountRow, account_columns};
use crate::alerts::{self, parse_routing};
use crate::bulk::{Statement, query_many};
use crate::model::{
    Account, AccountId, ClaimQuery, ClaimedMessage, EventId, FoldedFirings, MessageChannel, MessageContent,
    MessageDestination, MessageId, MessageResult, NotificationChannel, Settlement, SettlementDecision,
};
use crate::sqlite::row;
use crate::{Store, StoreError};

const CLAIMED_MESSAGES: Statement = Statement {
    before: "SELECT m.seq, m.id, m.lease, m.lane, m.kind, m.recipient, m.account_id, COALESCE(parents.id, a.id) AS alert_id, m.admitted_at, m.tries,
             m.created_at, m.content, m.notification_channel_seq, m.is_fallback, a.routing, COALESCE(parents.templates, a.templates) AS templates, e.id AS event_id, COALESCE(e.quoted_at, e.at) AS caused_at, e.data,
             EXISTS (SELECT 1 FROM acknowledgements k WHERE k.event_seq = m.event_seq AND k.at >= m.created_at) AS is_acknowledged
             FROM messages m LEFT JOIN alerts a ON a.seq = m.alert_seq LEFT JOIN alerts parents ON parents.seq = a.parent_seq LEFT JOIN events e ON e.seq = m.event_seq
             WHERE m.lease IS NOT NULL AND m.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

const OWNER_ACCOUNTS: Statement = Statement {
    before: concat!("SELECT ", account_columns!(), " FROM accounts WHERE id IN (VALUES "),
    columns: 1,
    after: ")",
};

row! {
    struct ClaimedRow {
        seq: i64,
        id: Uuid,
        lease: i64,
        lane: i64,
        kind: String,
        recipient: Option<String>,
        account_id: Option<Uuid>,
        alert_id: Option<Uuid>,
        admitted_at: Option<i64>,
        tries: i64,
        created_at: i64,
        content: Option<Vec<u8>>,
        notification_channel_seq: Option<i64>,
        is_fallback: bool,
        routing: Option<String>,
        templates: Option<String>,
        event_id: Option<Uuid>,
        caused_at: Option<i64>,
        data: Option<String>,
        is_acknowledged: bool,
    }
}

impl ClaimedRow {
    /// `None` for a message without content, because its event is gone.
    fn into_claimed(
        self,
        owners: &HashMap<AccountId, Account>,
        channels: &HashMap<i64, Arc<NotificationChannel>>,
        folded: &mut HashMap<i64, FoldedFirings>,
    ) -> Result<Option<ClaimedMessage>, StoreError> {
        let folded = folded.remove(&self.seq);
        // One of several acknowledged firings does not stop the message about the others.
        let is_acknowledged = self.is_acknowledged && folded.is_none();
        let content = match (self.content, folded, self.data) {
            (Some(sealed), _, _) => MessageContent::Sealed(sealed),
            (None, Some(firings), _) => MessageContent::Firings(firings),
            (None, None, Some(data)) => MessageContent::Firing(data),
            (None, None, None) => return Ok(None),
        };
        let account = self.account_id.map(AccountId);
        let destination = match self.notification_channel_seq.map(|seq| channels.get(&seq)) {
            None => MessageDestination::Own,
            Some(Some(channel)) => MessageDestination::Channel(Arc::clone(channel)),
            Some(None) => MessageDestination::DeletedChannel,
        };
        Ok(Some(ClaimedMessage {
            seq: self.seq,
            id: MessageId(self.id),
            lease: self.lease,
            endpoint: self.lane,
            kind: self.kind,
            recipient: self.recipient,
            owner: account.and_then(|account| owners.get(&account).cloned()),
            account,
            alert: self.alert_id.map(AlertId),
            event: self.event_id.map(EventId),
            caused_at: TABLE.optional_instant(self.caused_at)?,
            destination,
            is_fallback: self.is_fallback,
            is_urgent: parse_routing(self.routing.as_deref(), None)?.is_urgent,
            templates: alerts::TABLE.templates(self.templates.as_deref())?,
            is_acknowledged,
            is_admitted: self.admitted_at.is_some(),
            tries: TABLE.narrow("tries", self.tries)?,
            created_at: TABLE.instant(self.created_at)?,
            content,
        }))
    }
}

impl Store {
    /// Claims due messages. What exceeds the limits of a notification channel is folded into one message or held back; a channel
    /// without its own limit gets at most `burst_limit` separate messages within a minute. Messages without content fail.
    pub async fn claim_messages(
        &self,
        channel: MessageChannel,
        query: ClaimQuery,
        burst_limit: u32,
    ) -> Result<Vec<ClaimedMessage>, StoreError> {
        let claimed = self.claim_rows(channel.into(), &query, Some(burst_limit)).await?;
        let rows = query_many!(ClaimedRow, &self.pools, CLAIMED_MESSAGES, &claimed, |query, seq| query
            .bind(*seq));
        // If this took longer than the lease, another process has them.
        let rows: Vec<ClaimedRow> = rows.into_iter().filter(|row| row.lease == query.lease).collect();
        let owners = self.owners(&rows).await?;
        let channels = self.channels(&rows).await?;
        let firings = rows.iter().filter(|row| row.event_id.is_some()).map(|row| row.seq);
        let mut folded = self.folded_firings(&firings.collect::<Vec<_>>()).await?;
        let mut messages = Vec::with_capacity(rows.len());
        let mut without_content = Vec::new();
        for row in rows {
            let (seq, lease) = (row.seq, row.lease);
            match row.into_claimed(&owners, &channels, &mut folded)? {
                Some(message) => messages.push(message),
                None => without_content.push(Settlement {
                    seq,
                    lease,
                    decision: SettlementDecision::Failed,
                    result: MessageResult::of_outcome("void"),
                }),
            }
        }
        if !without_content.is_empty() {
            self.settle_messages(channel, without_content, query.now).await?;
        }
        messages.sort_unstable_by_key(|message| message.seq);
        Ok(messages)
    }

    async fn channels(&self, rows: &[ClaimedRow]) -> Result<HashMap<i64, Arc<NotificationChannel>>, StoreError> {
        let mut seqs: Vec<i64> = rows.iter().filter_map(|row| row.notification_channel_seq).collect();
        seqs.sort_unstable();
        seqs.dedup();
        let found = self.notification_channels_by_seq(&seqs).await?.into_iter();
        Ok(found.map(|channel| (channel.seq, Arc::new(channel))).collect())
    }

    async fn owners(&self, rows: &[ClaimedRow]) -> Result<HashMap<AccountId, Account>, StoreError> {
        let mut ids: Vec<Uuid> = rows.iter().filter_map(|row| row.account_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let found = query_many!(AccountRow, &self.pools, OWNER_ACCOUNTS, &ids, |query, id| query
            .bind(*id));
        let accounts = found.into_iter().map(|row| {
            let account = Account::try_from(row)?;
            Ok((account.id, account))
        });
        accounts.collect()
    }
}
