//! Claims deliveries with their webhooks.

use alerts::AlertId;
use uuid::Uuid;

use super::TABLE;
use crate::bulk::{Statement, query_many};
use crate::columns::values;
use crate::model::{
    AccountId, ClaimQuery, ClaimedDelivery, DeliveryId, DeliveryResult, Queue, SealedSecrets, Settlement,
    SettlementDecision, SignatureForm, WebhookId,
};
use crate::notification_channels::alert_payload;
use crate::queue::DELIVERIES;
use crate::sqlite::row;
use crate::{Store, StoreError};

const CLAIMED_DELIVERIES: Statement = Statement {
    before:
        "SELECT d.seq, d.id, d.lease, d.webhook_seq, w.id AS webhook_id, w.account_id, w.url, w.signature, w.secret,
             d.tries, d.created_at, COALESCE(e.quoted_at, e.at) AS caused_at, w.is_active, e.data,
             COALESCE(parents.id, a.id) AS alert_id, COALESCE(parents.templates, a.templates) AS templates
             FROM deliveries d JOIN webhooks w ON w.seq = d.webhook_seq JOIN events e ON e.seq = d.event_seq
             LEFT JOIN alerts a ON a.seq = e.alert_seq LEFT JOIN alerts parents ON parents.seq = a.parent_seq
             WHERE d.lease IS NOT NULL AND d.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

row! {
    struct ClaimedRow {
        seq: i64,
        id: Uuid,
        lease: i64,
        webhook_seq: i64,
        webhook_id: Uuid,
        account_id: Uuid,
        url: String,
        signature: String,
        secret: Option<Vec<u8>>,
        tries: i64,
        created_at: i64,
        caused_at: i64,
        is_active: bool,
        data: String,
        alert_id: Option<Uuid>,
        templates: Option<String>,
    }
}

impl TryFrom<ClaimedRow> for ClaimedDelivery {
    type Error = StoreError;

    fn try_from(row: ClaimedRow) -> Result<Self, StoreError> {
        let payload = row
            .alert_id
            .map(|id| alert_payload(AlertId(id), row.templates.as_deref()));
        Ok(Self {
            seq: row.seq,
            id: DeliveryId(row.id),
            lease: row.lease,
            endpoint: row.webhook_seq,
            webhook: WebhookId(row.webhook_id),
            account: AccountId(row.account_id),
            url: row.url,
            signature: TABLE.parse("signature", &row.signature, SignatureForm::from_name)?,
            secrets: SealedSecrets {
                current: row.secret.unwrap_or_default(),
                former: Vec::new(),
            },
            tries: TABLE.narrow("tries", row.tries)?,
            created_at: TABLE.instant(row.created_at)?,
            caused_at: TABLE.instant(row.caused_at)?,
            data: row.data,
            payload: payload.transpose()?.flatten(),
        })
    }
}

impl Store {
    /// Claims due deliveries. Those of a webhook that was disabled while they were created fail.
    pub async fn claim_deliveries(&self, query: ClaimQuery) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let claimed = self.claim_rows(Queue::Webhooks, &query, None).await?;
        let rows = query_many!(ClaimedRow, &self.pools, CLAIMED_DELIVERIES, &claimed, |query, seq| {
            query.bind(*seq)
        });
        // If this took longer than the lease, another process has them.
        let held = rows.into_iter().filter(|row| row.lease == query.lease);
        let (active, undeliverable): (Vec<_>, Vec<_>) = held.partition(|row| row.is_active);
        if !undeliverable.is_empty() {
            // They fail without an attempt.
            let settlements = undeliverable.into_iter().map(|row| Settlement {
                seq: row.seq,
                lease: row.lease,
                decision: SettlementDecision::Failed,
                result: DeliveryResult::default(),
            });
            let inputs = (settlements.collect::<Vec<_>>(), query.now);
            let settled = self.commit(inputs, |(settlements, now), unit| {
                Box::pin(unit.settle(&DELIVERIES, settlements, *now))
            });
            settled.await?;
        }
        let mut deliveries: Vec<ClaimedDelivery> = values(active)?;
        let former = self
            .former_secrets(deliveries.iter().map(|delivery| delivery.endpoint).collect())
            .await?;
        for delivery in &mut deliveries {
            if let Some(secrets) = former.get(&delivery.endpoint) {
                delivery.secrets.former.clone_from(secrets);
            }
        }
        let templates = self
            .payload_templates(deliveries.iter().map(|delivery| delivery.endpoint).collect())
            .await?;
        for delivery in &mut deliveries {
            if delivery.payload.is_none() {
                delivery.payload = templates.get(&delivery.endpoint).cloned();
            }
        }
        deliveries.sort_unstable_by_key(|delivery| delivery.seq);
        Ok(deliveries)
    }
}
