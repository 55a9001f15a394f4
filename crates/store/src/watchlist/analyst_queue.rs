//! The analyst's queue. Each item is in it once, however often it is requested.

use jiff::Timestamp;
use uuid::Uuid;

use super::row::micros;
use crate::columns::Table;
use crate::database::{OptionalNumberRow, query};
use crate::model::{AccountId, ClaimedAnalysis, WatchlistItemId};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("analyst_queue");

macro_rules! due {
    ($lock:literal) => {
        concat!(
            "SELECT item_id, account_id, asked, tries FROM analyst_queue WHERE due_at <= $1 ORDER BY due_at LIMIT $2",
            $lock
        )
    };
}

impl Store {
    /// Returns the time at which the next analysis is due. `None`: the queue is empty.
    pub async fn next_analysis_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(due_at) FROM analyst_queue";
        let (due,) = query!(fetch_one OptionalNumberRow, &self.pools, sql)?;
        TABLE.optional_instant(due)
    }

    /// Claims due analyses: at most `limit`, until `until`. Unfinished ones become due again then.
    pub async fn claim_analyses(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedAnalysis>, StoreError> {
        let inputs = (now, until, limit);
        let transaction = self.commit(inputs, |&(now, until, limit), unit| {
            Box::pin(async move {
                // Skips rows that another process is claiming.
                let sql = if unit.connection.is_pg() {
                    due!(" FOR UPDATE SKIP LOCKED")
                } else {
                    due!("")
                };
                let limit = i64::from(limit);
                let rows = fetch!(unit, fetch_all(Uuid, Uuid, i64, i64), sql, micros(now), limit);
                let mut claimed = Vec::with_capacity(rows.len());
                for (item, account, asked, tries) in rows {
                    // A lease is identified by its end and the number of the attempt.
                    let lease = micros(until).saturating_add(tries);
                    let sql = "UPDATE analyst_queue SET lease = $2, due_at = $3, tries = tries + 1 WHERE item_id = $1";
                    write_rows!(unit, sql, item, lease, micros(until));
                    claimed.push(ClaimedAnalysis {
                        item: WatchlistItemId(item),
                        account: AccountId(account),
                        asked,
                        tries: TABLE.narrow("tries", tries)?,
                        lease,
                    });
                }
                Ok(claimed)
            })
        });
        transaction.await
    }
}

impl UnitOfWork {
    /// Requests an analysis of an item. If it is already queued, nothing is added. If it is being analysed, it will
    /// be analysed again.
    pub async fn request_analysis(
        &mut self,
        item: WatchlistItemId,
        account: AccountId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO analyst_queue (item_id, account_id, asked, tries, due_at) VALUES ($1, $2, 1, 0, $3)
             ON CONFLICT (item_id) DO UPDATE SET asked = analyst_queue.asked + 1, tries = 0,
             due_at = CASE WHEN analyst_queue.lease IS NULL THEN excluded.due_at ELSE analyst_queue.due_at END",
            item.0,
            account.0,
            micros(now),
        );
        Ok(())
    }

    /// Cancels the analysis of an item.
    pub async fn cancel_analysis(&mut self, item: WatchlistItemId) -> Result<(), StoreError> {
        write_rows!(self, "DELETE FROM analyst_queue WHERE item_id = $1", item.0);
        Ok(())
    }

    /// Ends a claim after the analysis. Returns `false` if the claim was lost, or if the item was requested again in
    /// the meantime and is due at `now`. The result of the analysis must not be used then.
    pub async fn finish_analysis(&mut self, claim: &ClaimedAnalysis, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "DELETE FROM analyst_queue WHERE item_id = $1 AND lease = $2 AND asked = $3";
        if write_rows!(self, sql, claim.item.0, claim.lease, claim.asked) == 1 {
            return Ok(true);
        }
        self.reschedule_analysis(claim, now).await?;
        Ok(false)
    }

    /// Releases a claim. The item is due again at `due`.
    pub async fn reschedule_analysis(&mut self, claim: &ClaimedAnalysis, due: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE analyst_queue SET lease = NULL, due_at = $3 WHERE item_id = $1 AND lease = $2";
        write_rows!(self, sql, claim.item.0, claim.lease, micros(due));
        Ok(())
    }
}
