//! Events: the records of firings.

use alerts::AlertId;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::model::{AccountId, AlertOwner, EventId, EventPage, StoredEvent};
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
        Ok(self.events_through(account, seq, complete, limit).await?.events)
    }

    /// Returns an account's events after a position and up to a later one, at which the history is complete, oldest first, at most
    /// `limit`. A row that cannot be read is logged and left out.
    pub async fn events_through(
        &self,
        account: AccountId,
        after: i64,
        through: i64,
        limit: u32,
    ) -> Result<EventPage, StoreError> {
        let sql = "SELECT events.seq, events.id, COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = alerts.parent_seq), alerts.id) AS alert_id, events.at, events.data
                   FROM events JOIN alerts ON alerts.seq = events.alert_seq
                   WHERE events.account_id = $1 AND events.seq > $2 AND events.seq <= $3
                   ORDER BY events.seq LIMIT $4";
        let rows = query!(fetch_all EventRow, &self.pools, sql, account.0, after, through, i64::from(limit))?;
        let is_full = u32::try_from(rows.len()) == Ok(limit);
        let last = rows.last().filter(|_| is_full).map(|row| row.seq);
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            match row.read(account) {
                Ok(event) => events.push(event),
                Err(error) => tracing::error!(%error, "an event cannot be read and is left out"),
            }
        }
        Ok(EventPage {
            events,
            position: last.unwrap_or(through),
        })
    }
}

impl EventRow {
    fn read(self, account: AccountId) -> Result<StoredEvent, StoreError> {
        Ok(StoredEvent {
            id: EventId(self.id),
            seq: self.seq,
            owner: AlertOwner::Account(account),
            alert: AlertId(self.alert_id),
            at: TABLE.instant(self.at)?,
            data: TABLE.object(&self.data)?,
        })
    }
}
