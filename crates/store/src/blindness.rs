//! What owners were told of alerts that cannot be judged for want of fresh quotes: written with the letter that tells it, so
//! that neither a restart nor another process tells it again.

use jiff::Timestamp;
use market::Symbol;
use uuid::Uuid;

use crate::alerts::{AlertRow, select};
use crate::bulk::{Statement, query_many};
use crate::columns::Table;
use crate::database::query;
use crate::model::{AccountId, BlindStretch, StoredAlert};
use crate::unit::{ask, write};
use crate::{Store, StoreError, Unit};

const TABLE: Table = Table("blind_stretches");

/// The active alerts on stocks whose owners want to be told and were not. A stock that was quoted since its owner was told is
/// blind anew.
macro_rules! untold {
    ($by:literal) => {
        Statement {
            before: select!(concat!(
                $by,
                "WHERE status = 'active' AND deleted_at IS NULL
                 AND account_id IN (SELECT id FROM accounts
                                    WHERE notify_blind AND deactivated_at IS NULL AND accounts.deleted_at IS NULL)
                 AND NOT EXISTS (SELECT 1 FROM blind_stretches AS told
                                 WHERE told.account_id = alerts.account_id AND told.symbol = alerts.symbol
                                 AND NOT EXISTS (SELECT 1 FROM quotes
                                                 WHERE quotes.symbol = told.symbol AND quotes.at > told.told_at))
                 AND alerts.symbol IN (VALUES "
            )),
            columns: 1,
            after: ")",
        }
    };
}

const UNTOLD: Statement = untold!("");
/// SQLite would look for each account's alerts on each stock; PostgreSQL knows better by itself.
const UNTOLD_LITE: Statement = untold!("INDEXED BY alerts_of_symbol ");

#[derive(sqlx_macros::FromRow)]
struct Row {
    account_id: Uuid,
    symbol: String,
    since: i64,
    told_at: i64,
}

impl TryFrom<Row> for BlindStretch {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            account: AccountId(row.account_id),
            symbol: TABLE.symbol(&row.symbol)?,
            since: TABLE.instant(row.since)?,
            told_at: TABLE.instant(row.told_at)?,
        })
    }
}

impl Store {
    /// The active alerts on stocks of whose blindness their owners want to be told, and were not since the last quote, in any order.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn alerts_untold_of_blindness(&self, symbols: &[Symbol]) -> Result<Vec<StoredAlert>, StoreError> {
        let untold = if self.pools.is_pg() { UNTOLD } else { UNTOLD_LITE };
        let rows = query_many!(AlertRow, &self.pools, untold, symbols, |query, symbol| query
            .bind(symbol.as_str()))?;
        rows.into_iter().map(StoredAlert::try_from).collect()
    }

    /// All that was told of blindness and has not ended, account by account.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn blind_stretches(&self) -> Result<Vec<BlindStretch>, StoreError> {
        let sql = "SELECT account_id, symbol, since, told_at FROM blind_stretches ORDER BY account_id, told_at, symbol";
        let rows = query!(fetch_all Row, &self.pools, sql)?;
        rows.into_iter().map(BlindStretch::try_from).collect()
    }
}

impl Unit {
    /// What an account was told of blindness that has not ended. Whoever decides by it has [locked the
    /// account](Unit::lock_account).
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn blind_stretches_of(&mut self, account: AccountId) -> Result<Vec<BlindStretch>, StoreError> {
        let sql = "SELECT account_id, symbol, since, told_at FROM blind_stretches WHERE account_id = $1
                   ORDER BY told_at, symbol";
        let rows = ask!(self, fetch_all Row, sql, account.0);
        rows.into_iter().map(BlindStretch::try_from).collect()
    }

    /// Notes that an account was told of a blind stock. This replaces an earlier note of the same stock.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn note_blind_stretch(&mut self, told: &BlindStretch) -> Result<(), StoreError> {
        write!(
            self,
            "INSERT INTO blind_stretches (account_id, symbol, since, told_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (account_id, symbol) DO UPDATE SET since = excluded.since, told_at = excluded.told_at",
            told.account.0,
            told.symbol.as_str(),
            told.since.as_microsecond(),
            told.told_at.as_microsecond(),
        );
        Ok(())
    }

    /// Ends what an account was told at an instant.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn end_blind_stretches(&mut self, account: AccountId, told_at: Timestamp) -> Result<(), StoreError> {
        let sql = "DELETE FROM blind_stretches WHERE account_id = $1 AND told_at = $2";
        write!(self, sql, account.0, told_at.as_microsecond());
        Ok(())
    }

    /// Ends what is of no concern to anybody any more: there is no active alert left of it, or its owner does not want to be
    /// told. Says how much that was.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn drop_void_blind_stretches(&mut self) -> Result<u64, StoreError> {
        let sql = "DELETE FROM blind_stretches WHERE NOT EXISTS
                     (SELECT 1 FROM alerts WHERE alerts.account_id = blind_stretches.account_id
                      AND alerts.symbol = blind_stretches.symbol AND status = 'active' AND deleted_at IS NULL)
                   OR account_id NOT IN (SELECT id FROM accounts
                      WHERE notify_blind AND deactivated_at IS NULL AND accounts.deleted_at IS NULL)";
        Ok(write!(self, sql))
    }

    /// An account's active alerts on some stocks, oldest first.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn active_alerts_on(
        &mut self,
        account: AccountId,
        symbols: &[Symbol],
    ) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = select!("WHERE account_id = $1 AND status = 'active' AND deleted_at IS NULL ORDER BY seq");
        let rows = ask!(self, fetch_all AlertRow, sql, account.0);
        let alerts: Vec<StoredAlert> = rows.into_iter().map(StoredAlert::try_from).collect::<Result<_, _>>()?;
        Ok(alerts
            .into_iter()
            .filter(|stored| symbols.contains(&stored.alert.symbol))
            .collect())
    }
}
