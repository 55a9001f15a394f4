//! Writes life cycles that change without a firing.

use std::collections::HashMap;

use uuid::Uuid;

use crate::alerts::lifecycle_column;
use crate::bulk::{Statement, write_many};
use crate::model::LifecycleUpdate;
use crate::{StoreError, UnitOfWork};

// Lists show the number and the time of firings only, which change with a firing. So this does not raise the account's revision.
const SET_LIFECYCLES: Statement = Statement {
    before: "WITH judged (id, revision, lifecycle) AS (VALUES ",
    columns: 3,
    after: concat!(
        ") UPDATE alerts SET lifecycle = judged.lifecycle
            FROM judged
            WHERE alerts.id = judged.id AND alerts.revision = judged.revision AND ",
        is_unchanged!()
    ),
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
}
