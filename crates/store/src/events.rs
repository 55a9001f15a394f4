//! Events: the records of firings.

use alerts::AlertId;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::model::{AccountId, AlertOwner, EventId, StoredEvent};
use crate::sqlite::row;
use crate::{Store, StoreError};

const TABLE: Table = Table("events");

row! {
    struct EventRow {
        seq: i64,
        id: Uuid,
        alert_id: Uuid,
        at: i64,
        data: String,
    }
}

impl Store {
    /// Returns the `data` of an account's event as JSON text.
    pub async fn event_data(&self, account: AccountId, id: EventId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT data FROM events WHERE id = $1 AND account_id = $2";
        let found = query!(fetch_optional(String,), &self.pools, sql, id.0, account.0)?;
        Ok(found.map(|(data,)| data))
    }

    /// Returns an account's events after a position, oldest first, at most `limit`. No event appears later at or
    /// before a returned position.
    pub async fn events_after(&self, account: AccountId, seq: i64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let complete = self.history_position().await?;
        let sql = "SELECT events.seq, events.id, COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = alerts.parent_seq), alerts.id) AS alert_id, events.at, events.data
                   FROM events JOIN alerts ON alerts.seq = events.alert_seq
                   WHERE events.account_id = $1 AND events.seq > $2 AND events.seq <= $3
                   ORDER BY events.seq LIMIT $4";
        let rows = query!(fetch_all EventRow, &self.pools, sql, account.0, seq, complete, i64::from(limit))?;
        let events = rows.into_iter().map(|row| {
            Ok(StoredEvent {
                id: EventId(row.id),
                seq: row.seq,
                owner: AlertOwner::Account(account),
                alert: AlertId(row.alert_id),
                at: TABLE.instant(row.at)?,
                data: TABLE.object(&row.data)?,
            })
        });
        events.collect()
    }
}
