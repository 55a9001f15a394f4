//! What an account has used of what its plan has.

use alerts::Status;
use jiff::Timestamp;

use crate::columns::Table;
use crate::database::query;
use crate::model::AccountId;
use crate::{Store, StoreError};

const ALERTS: Table = Table("alerts");
const MESSAGES: Table = Table("messages");

impl Store {
    /// How many alerts of each status an account has. Statuses of which it has none are missing.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_alerts(&self, account: AccountId) -> Result<Vec<(Status, u64)>, StoreError> {
        let sql = "SELECT status, COUNT(*) FROM alerts WHERE account_id = $1 AND deleted_at IS NULL GROUP BY status";
        let rows = query!(fetch_all(String, i64), &self.pools, sql, account.0)?;
        let counts = rows.into_iter().map(|(status, count)| {
            Ok((
                ALERTS.named("status", &status, Status::from_name)?,
                ALERTS.narrow("COUNT(*)", count)?,
            ))
        });
        counts.collect()
    }

    /// How many text messages about firings an account was sent from `start` until before `end`. Codes that its owner asked
    /// for are not among them, nor are messages that came to nothing: the plan does not pay for them.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
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
