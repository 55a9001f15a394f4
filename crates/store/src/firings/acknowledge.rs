//! Acknowledgements of firings.

use alerts::transition::HistoryStatus;
use alerts::{AlertId, Status};
use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::Table;
use crate::model::{AccountId, AcknowledgedFiring, Acknowledgement, EventId, MessageId};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{StoreError, UnitOfWork};

const TABLE: Table = Table("events");

row! {
    struct FiredAlertRow {
        seq: i64,
        alert_id: Uuid,
        symbol: String,
        status: String,
        deleted_at: Option<i64>,
    }
}

impl UnitOfWork {
    /// Acknowledges an account's firing, unless that was done before. `None`: the account has no such firing.
    pub async fn acknowledge_firing(
        &mut self,
        account: AccountId,
        firing: EventId,
        acknowledgement: &Acknowledgement,
    ) -> Result<Option<AcknowledgedFiring>, StoreError> {
        let sql = "SELECT e.seq, a.id AS alert_id, a.symbol, a.status, a.deleted_at
                   FROM events e JOIN alerts a ON a.seq = e.alert_seq WHERE e.id = $1 AND e.account_id = $2";
        let Some(row) = fetch!(self, fetch_optional FiredAlertRow, sql, firing.0, account.0) else {
            return Ok(None);
        };
        // Before the entry, which locks the event: a step of the escalation locks both in this order, too.
        write_rows!(self, "DELETE FROM escalations WHERE event_seq = $1", row.seq);
        let written = write_rows!(
            self,
            "INSERT INTO acknowledgements (event_seq, account_id, at, acknowledged_by, via) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (event_seq) DO NOTHING",
            row.seq,
            account.0,
            acknowledgement.at.as_microsecond(),
            acknowledgement.by.as_str(),
            acknowledgement.via.as_str(),
        );
        if written > 0 {
            self.stop_messages((row.seq, firing), account, acknowledgement.at)
                .await?;
        }
        let status = TABLE.parse("status", &row.status, Status::from_name)?;
        Ok(Some(AcknowledgedFiring {
            alert: AlertId(row.alert_id),
            symbol: TABLE.symbol(&row.symbol)?,
            status: if row.deleted_at.is_some() {
                HistoryStatus::Deleted
            } else {
                HistoryStatus::Of(status)
            },
            is_first: written > 0,
        }))
    }

    /// Ends the messages about an acknowledged firing that have not been sent. One that is being sent now is not tried again: the next
    /// claim finds the acknowledgement. One that lists other firings is still sent.
    async fn stop_messages(
        &mut self,
        (event_seq, firing): (i64, EventId),
        account: AccountId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE messages SET status = 'failed', outcome = 'acknowledged', finished_at = $3
                   WHERE account_id = $2 AND status = 'pending' AND lease IS NULL
                   AND (id = $4 OR (event_seq = $1 AND notification_channel_seq IS NOT NULL))
                   AND NOT EXISTS (SELECT 1 FROM messages f WHERE f.folded_into = messages.seq)";
        let own = MessageId::for_event(firing);
        write_rows!(self, sql, event_seq, account.0, at.as_microsecond(), own.0);
        Ok(())
    }
}
