//! What the analyst is to look at: an item once, however often it was asked for.

use jiff::Timestamp;
use uuid::Uuid;

use super::row::micros;
use crate::columns::Table;
use crate::database::query;
use crate::deliveries::never;
use crate::model::{AccountId, ClaimedAnalysis, WatchlistItemId};
use crate::unit::{ask, write};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

const TABLE: Table = Table("analyst_queue");

/// The earliest instant, if there is one.
type Due = (Option<i64>,);

impl Store {
    /// When the analyst has something to look at; `None` if nothing waits.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn next_analysis_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(due_at) FROM analyst_queue";
        let (due,) = query!(fetch_one Due, &self.pools, sql)?;
        TABLE.instant_if_any(due)
    }

    /// Claims what is due: at most `limit` items, until `until`. What is not finished by then is due again.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn claim_analyses(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedAnalysis>, StoreError> {
        self.write(ClaimAnalyses { now, until, limit }).await.map_err(never)
    }
}

struct ClaimAnalyses {
    now: Timestamp,
    until: Timestamp,
    limit: u32,
}

impl Work for ClaimAnalyses {
    type Done = Vec<ClaimedAnalysis>;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<Self::Done, Abort<Self::Refusal>>> {
        Box::pin(async move {
            // What another process is taking at the moment is left to it.
            let sql = if unit.link.is_pg() {
                "SELECT item_id, account_id, asked, tries FROM analyst_queue WHERE due_at <= $1
                 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED"
            } else {
                "SELECT item_id, account_id, asked, tries FROM analyst_queue WHERE due_at <= $1
                 ORDER BY due_at LIMIT $2"
            };
            let limit = i64::from(self.limit);
            let rows = ask!(unit, fetch_all(Uuid, Uuid, i64, i64), sql, micros(self.now), limit);
            let mut claimed = Vec::with_capacity(rows.len());
            for (item, account, asked, tries) in rows {
                // A lease is known by when it ends, and by which try it is.
                let lease = micros(self.until).saturating_add(tries);
                let sql = "UPDATE analyst_queue SET lease = $2, due_at = $3, tries = tries + 1 WHERE item_id = $1";
                write!(unit, sql, item, lease, micros(self.until));
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
    }
}

impl Unit {
    /// Asks the analyst to look at an item. If it is asked already, nothing is added; if it is looking right now, it will
    /// look again.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn ask_analyst(
        &mut self,
        item: WatchlistItemId,
        account: AccountId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write!(
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

    /// The analyst need not look at an item any more.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn unask_analyst(&mut self, item: WatchlistItemId) -> Result<(), StoreError> {
        write!(self, "DELETE FROM analyst_queue WHERE item_id = $1", item.0);
        Ok(())
    }

    /// Ends a claim whose item was looked at. `false`: the claim is somebody else's by now, or the item was asked for
    /// again meanwhile and is due at `now`; what was found out must not be used.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn finish_analysis(&mut self, claim: &ClaimedAnalysis, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "DELETE FROM analyst_queue WHERE item_id = $1 AND lease = $2 AND asked = $3";
        if write!(self, sql, claim.item.0, claim.lease, claim.asked) == 1 {
            return Ok(true);
        }
        self.put_off_analysis(claim, now).await?;
        Ok(false)
    }

    /// Gives a claim back: the item is due again at `due`.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn put_off_analysis(&mut self, claim: &ClaimedAnalysis, due: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE analyst_queue SET lease = NULL, due_at = $3 WHERE item_id = $1 AND lease = $2";
        write!(self, sql, claim.item.0, claim.lease, micros(due));
        Ok(())
    }
}
