//! Creates deliveries together with their firings.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use crate::bulk::{Statement, execute_many, query_many};
use crate::model::{DeliveryId, EventId, WebhookId};
use crate::{StoreError, UnitOfWork};

const ACTIVE_WEBHOOKS: Statement = Statement {
    before: "SELECT account_id, seq, id FROM webhooks WHERE is_active AND deleted_at IS NULL AND account_id IN (VALUES ",
    columns: 1,
    after: ")",
};

const INSERT_DELIVERIES: Statement = Statement {
    before: "INSERT INTO deliveries (id, webhook_seq, event_seq, status, tries, due_at, created_at)
             SELECT column1, column2, column3, 'pending', 0, column4, column4 FROM (VALUES ",
    columns: 4,
    after: ") AS made WHERE true",
};

/// An event that needs deliveries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FiredEvent {
    pub(crate) account: Option<Uuid>,
    pub(crate) event: Uuid,
    pub(crate) event_seq: i64,
    pub(crate) at: i64,
}

impl UnitOfWork {
    /// Creates the deliveries of events: one for each active webhook of the account. Returns whether any were
    /// created.
    pub(crate) async fn create_deliveries(&mut self, events: &[FiredEvent]) -> Result<bool, StoreError> {
        let accounts: HashSet<Uuid> = events.iter().filter_map(|event| event.account).collect();
        let accounts: Vec<Uuid> = accounts.into_iter().collect();
        let found = query_many!(
            (Uuid, i64, Uuid),
            &mut self.connection,
            ACTIVE_WEBHOOKS,
            &accounts,
            |query, account| query.bind(*account)
        );
        let mut webhooks: HashMap<Uuid, Vec<(i64, Uuid)>> = HashMap::new();
        for (account, seq, id) in self.track(found)? {
            webhooks.entry(account).or_default().push((seq, id));
        }
        let mut rows = Vec::new();
        for event in events {
            let of_account = event.account.and_then(|account| webhooks.get(&account));
            for &(webhook_seq, webhook) in of_account.into_iter().flatten() {
                let id = DeliveryId::for_event(EventId(event.event), WebhookId(webhook));
                rows.push((id.0, webhook_seq, event.event_seq, event.at));
            }
        }
        let made = execute_many!(&mut self.connection, INSERT_DELIVERIES, &rows, |query, row| {
            query.bind(row.0).bind(row.1).bind(row.2).bind(row.3)
        });
        Ok(self.track_rows(made)? > 0)
    }
}
