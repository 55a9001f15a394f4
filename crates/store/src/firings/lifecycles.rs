//! Writes life cycles that change without a firing, and alerts that expire.

use std::collections::HashMap;

use alerts::transition::{self, Transition};
use uuid::Uuid;

use crate::alerts::lifecycle_column;
use crate::bulk::{Statement, write_many};
use crate::model::{Expiration, LifecycleUpdate};
use crate::{StoreError, UnitOfWork};

const SET_LIFECYCLES: Statement = Statement {
    before: "WITH judged (id, revision, lifecycle) AS (VALUES ",
    columns: 3,
    after: ") UPDATE alerts SET lifecycle = judged.lifecycle
            FROM judged
            WHERE alerts.id = judged.id AND alerts.revision = judged.revision AND alerts.status = 'active'
            AND alerts.deleted_at IS NULL",
};

impl UnitOfWork {
    /// Writes the last state of each alert that still has the evaluated revision.
    pub(super) async fn write_lifecycles(&mut self, updates: &[LifecycleUpdate]) -> Result<(), StoreError> {
        let mut last: HashMap<Uuid, &LifecycleUpdate> = HashMap::new();
        for update in updates {
            last.insert(update.alert.0, update);
        }
        let mut rows = Vec::with_capacity(last.len());
        for (id, update) in last {
            rows.push((id, i64::from(update.revision.0), lifecycle_column(Some(&update.state))?));
        }
        // All transactions write rows in the same order, which prevents deadlocks.
        rows.sort_unstable();
        write_many!(self, SET_LIFECYCLES, &rows, |query, row| query
            .bind(row.0)
            .bind(row.1)
            .bind(row.2.as_deref()));
        Ok(())
    }

    /// Ends alerts that have expired and still have the evaluated revision.
    pub(super) async fn expire_alerts(&mut self, expirations: &[Expiration]) -> Result<(), StoreError> {
        let ids: Vec<_> = expirations.iter().map(|expiration| expiration.alert).collect();
        for stored in self.alerts_by_id(&ids).await? {
            let alert = stored.alert;
            let expired = expirations.iter().find(|expiration| expiration.alert == alert.id);
            let Some(expiration) = expired.filter(|expiration| expiration.revision == alert.revision) else {
                continue;
            };
            if let Ok(Transition::Changed(changed)) = transition::expire(&alert) {
                self.update_alert(&changed, &alert, expiration.at, None).await?;
            }
        }
        Ok(())
    }
}
