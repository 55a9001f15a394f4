//! An account's usage of its plan.

use alerts::Status;
use jiff::Timestamp;

use crate::columns::Table;
use crate::database::query;
use crate::model::AccountId;
use crate::{Store, StoreError};

const MESSAGES: Table = Table("messages");

impl Store {
    /// Returns the number of deliveries, and of messages, that wait for an attempt.
    pub async fn count_pending(&self) -> Result<(u64, u64), StoreError> {
        let sql = "SELECT (SELECT COUNT(*) FROM deliveries WHERE status = 'pending'),
                          (SELECT COUNT(*) FROM messages WHERE status = 'pending')";
        let (deliveries, messages) = query!(fetch_one(i64, i64), &self.pools, sql)?;
        Ok((
            MESSAGES.narrow("COUNT(*)", deliveries)?,
            MESSAGES.narrow("COUNT(*)", messages)?,
        ))
    }

    /// Counts an account's alerts by status; of one over many stocks its members. Statuses without alerts are missing.
    pub async fn count_alerts(&self, account: AccountId) -> Result<Vec<(Status, u64)>, StoreError> {
        let totals = self.alert_totals(account).await?;
        let counts = Status::ALL
            .iter()
            .map(|status| Ok((*status, totals.evaluated(*status)?)));
        counts.filter(|count| !matches!(count, Ok((_, 0)))).collect()
    }

    /// Counts the text messages about firings that an account was sent from `start` until before `end`. Codes
    /// requested by the owner and failed messages are not counted, because the plan does not pay for them.
    pub async fn count_text_messages(
        &self,
        account: AccountId,
        start: Timestamp,
        end: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM messages WHERE account_id = $1 AND channel = 'sms' AND kind = 'fired' AND status <> 'failed'
                   AND admitted_at >= $2 AND admitted_at < $3";
        let (start, end) = (start.as_microsecond(), end.as_microsecond());
        let (count,) = query!(fetch_one(i64,), &self.pools, sql, account.0, start, end)?;
        MESSAGES.narrow("COUNT(*)", count)
    }
}
