//! Blindness notices: owners were notified that alerts cannot be evaluated because quotes are stale. A notice is
//! written in the same transaction as its email, so neither a restart nor another process sends it again.

use jiff::Timestamp;
use market::Symbol;
use uuid::Uuid;

use crate::alerts::{AlertRow, select};
use crate::bulk::{Statement, query_many};
use crate::columns::{Table, values};
use crate::database::query;
use crate::model::{AccountId, BlindnessNotice, StoredAlert};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("blind_stretches");

/// The active alerts on stocks whose owners want blindness notices and have none. A quote after the notice starts a
/// new period.
macro_rules! without_notice {
    ($by:literal) => {
        Statement {
            before: select!(concat!(
                $by,
                "WHERE status = 'active' AND deleted_at IS NULL AND scope IS NULL
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

const ALERTS_WITHOUT_NOTICE: Statement = without_notice!("");
/// Without the hint, SQLite looks up each account's alerts for each stock. PostgreSQL plans this well by itself.
const ALERTS_WITHOUT_NOTICE_SQLITE: Statement = without_notice!("INDEXED BY alerts_of_symbol ");

row! {
    struct BlindnessNoticeRow {
        account_id: Uuid,
        symbol: String,
        since: i64,
        told_at: i64,
    }
}

impl TryFrom<BlindnessNoticeRow> for BlindnessNotice {
    type Error = StoreError;

    fn try_from(row: BlindnessNoticeRow) -> Result<Self, StoreError> {
        Ok(Self {
            account: AccountId(row.account_id),
            symbol: TABLE.symbol(&row.symbol)?,
            since: TABLE.instant(row.since)?,
            notified_at: TABLE.instant(row.told_at)?,
        })
    }
}

impl Store {
    /// Returns the active alerts on `symbols` whose owners want blindness notices and received none since the last
    /// quote. In any order.
    pub async fn alerts_without_blindness_notice(&self, symbols: &[Symbol]) -> Result<Vec<StoredAlert>, StoreError> {
        let statement = if self.pools.is_pg() {
            ALERTS_WITHOUT_NOTICE
        } else {
            ALERTS_WITHOUT_NOTICE_SQLITE
        };
        values(query_many!(
            AlertRow,
            &self.pools,
            statement,
            symbols,
            |query, symbol| query.bind(symbol.as_str())
        ))
    }

    /// Returns all open blindness notices, grouped by account.
    pub async fn blindness_notices(&self) -> Result<Vec<BlindnessNotice>, StoreError> {
        let sql = "SELECT account_id, symbol, since, told_at FROM blind_stretches ORDER BY account_id, told_at, symbol";
        values(query!(fetch_all BlindnessNoticeRow, &self.pools, sql)?)
    }
}

impl UnitOfWork {
    /// Returns an account's open blindness notices. Callers that decide based on the result must [lock the
    /// account](UnitOfWork::lock_account) first.
    pub async fn blindness_notices_of(&mut self, account: AccountId) -> Result<Vec<BlindnessNotice>, StoreError> {
        let sql = "SELECT account_id, symbol, since, told_at FROM blind_stretches WHERE account_id = $1
                   ORDER BY told_at, symbol";
        values(fetch!(self, fetch_all BlindnessNoticeRow, sql, account.0))
    }

    /// Records a blindness notice. It replaces an earlier notice for the same account and stock.
    pub async fn record_blindness_notice(&mut self, notice: &BlindnessNotice) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO blind_stretches (account_id, symbol, since, told_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (account_id, symbol) DO UPDATE SET since = excluded.since, told_at = excluded.told_at",
            notice.account.0,
            notice.symbol.as_str(),
            notice.since.as_microsecond(),
            notice.notified_at.as_microsecond(),
        );
        Ok(())
    }

    /// Deletes an account's notices that were sent at an instant.
    pub async fn delete_blindness_notices(
        &mut self,
        account: AccountId,
        notified_at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM blind_stretches WHERE account_id = $1 AND told_at = $2";
        write_rows!(self, sql, account.0, notified_at.as_microsecond());
        Ok(())
    }

    /// Deletes notices that no longer matter: no active alert is left, or the owner no longer wants notices. Returns
    /// the number deleted.
    pub async fn delete_obsolete_blindness_notices(&mut self) -> Result<u64, StoreError> {
        let sql = "DELETE FROM blind_stretches WHERE NOT EXISTS
                     (SELECT 1 FROM alerts WHERE alerts.account_id = blind_stretches.account_id
                      AND alerts.symbol = blind_stretches.symbol AND status = 'active' AND deleted_at IS NULL)
                   OR account_id NOT IN (SELECT id FROM accounts
                      WHERE notify_blind AND deactivated_at IS NULL AND accounts.deleted_at IS NULL)";
        Ok(write_rows!(self, sql))
    }

    /// Returns an account's active alerts on some stocks, oldest first.
    pub async fn active_alerts_on(
        &mut self,
        account: AccountId,
        symbols: &[Symbol],
    ) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = select!(
            "WHERE account_id = $1 AND status = 'active' AND deleted_at IS NULL AND scope IS NULL ORDER BY seq"
        );
        let rows = fetch!(self, fetch_all AlertRow, sql, account.0);
        let alerts: Vec<StoredAlert> = values(rows)?;
        Ok(alerts
            .into_iter()
            .filter(|stored| symbols.contains(&stored.alert.symbol))
            .collect())
    }
}
