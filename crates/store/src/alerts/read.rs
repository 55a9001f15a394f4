//! Reads single alerts, and alerts of some stocks.

use std::collections::BTreeMap;

use alerts::AlertId;
use market::Symbol;

use super::row::{AlertRow, TABLE, select};
use super::scopes::select_shown;
use crate::bulk::{Statement, fetch_many, query_many};
use crate::columns::values;
use crate::database::query;
use crate::model::{AccountId, StoredAlert};
use crate::{Store, StoreError, UnitOfWork};

/// Alerts by id, including deleted ones.
pub(crate) const BY_ID: Statement = Statement {
    before: select!("WHERE id IN (VALUES "),
    columns: 1,
    after: ")",
};

/// Alerts by `seq`, including deleted ones.
const BY_SEQ: Statement = Statement {
    before: select!("WHERE seq IN (VALUES "),
    columns: 1,
    after: ")",
};

/// The active alerts on some stocks.
const ACTIVE_OF_SYMBOLS: Statement = Statement {
    before: select!("WHERE status = 'active' AND deleted_at IS NULL AND scope IS NULL AND symbol IN (VALUES "),
    columns: 1,
    after: ")",
};

impl Store {
    /// Returns an account's alert unless it is deleted.
    pub async fn alert(&self, account: AccountId, id: AlertId) -> Result<Option<StoredAlert>, StoreError> {
        let sql = select_shown!("WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL AND parent_seq IS NULL");
        let row = query!(fetch_optional AlertRow, &self.pools, sql, id.0, account.0)?;
        row.map(StoredAlert::try_from).transpose()
    }

    /// Returns the stocks that have alerts in a status other than active: paused, triggered or unverified. Scans all
    /// alerts.
    pub async fn symbols_of_inactive_alerts(&self) -> Result<Vec<Symbol>, StoreError> {
        let sql =
            "SELECT DISTINCT symbol FROM alerts WHERE status <> 'active' AND deleted_at IS NULL AND scope IS NULL";
        let rows = query!(fetch_all(String,), &self.pools, sql)?;
        rows.into_iter().map(|(symbol,)| TABLE.symbol(&symbol)).collect()
    }

    /// Returns the active alerts on some stocks, in any order.
    pub async fn active_alerts_of(&self, symbols: &[Symbol]) -> Result<Vec<StoredAlert>, StoreError> {
        values(query_many!(
            AlertRow,
            &self.pools,
            ACTIVE_OF_SYMBOLS,
            symbols,
            |query, symbol| query.bind(symbol.as_str().to_owned())
        ))
    }

    /// Returns the stocks that have active alerts without an initial price.
    pub async fn symbols_without_initial_price(&self) -> Result<Vec<Symbol>, StoreError> {
        let sql = "SELECT DISTINCT symbol FROM alerts
                   WHERE initial_price IS NULL AND status = 'active' AND deleted_at IS NULL AND scope IS NULL";
        let rows = query!(fetch_all(String,), &self.pools, sql)?;
        rows.into_iter().map(|(symbol,)| TABLE.symbol(&symbol)).collect()
    }

    /// Returns a stock's active alerts without an initial price, oldest first, at most `limit`.
    pub async fn alerts_without_initial_price(
        &self,
        symbol: Symbol,
        limit: u32,
    ) -> Result<Vec<StoredAlert>, StoreError> {
        // These conditions must match the partial index word for word.
        let sql = select!(
            "WHERE initial_price IS NULL AND status = 'active' AND deleted_at IS NULL AND symbol = $1 AND scope IS NULL ORDER BY seq LIMIT $2"
        );
        values(query!(fetch_all AlertRow, &self.pools, sql, symbol.as_str(), i64::from(limit))?)
    }

    /// Returns alerts by id for any owner, in any order. Deleted alerts are missing.
    pub async fn alerts_by_id(&self, ids: &[AlertId]) -> Result<Vec<StoredAlert>, StoreError> {
        let rows = query_many!(AlertRow, &self.pools, BY_ID, ids, |query, id| query.bind(id.0));
        values(rows.into_iter().filter(|row| !row.is_deleted()))
    }

    /// Returns the ids of alerts by their `seq`, including deleted ones.
    pub(crate) async fn alert_numbers(&self, ids: &[AlertId]) -> Result<BTreeMap<i64, AlertId>, StoreError> {
        let rows = query_many!(AlertRow, &self.pools, BY_ID, ids, |query, id| query.bind(id.0));
        Ok(rows.into_iter().map(|row| (row.seq, row.id())).collect())
    }

    /// Returns alert rows by `seq`, including deleted ones.
    pub(crate) async fn alert_rows(&self, seqs: &[i64]) -> Result<Vec<AlertRow>, StoreError> {
        Ok(query_many!(AlertRow, &self.pools, BY_SEQ, seqs, |query, seq| query.bind(*seq)))
    }
}

impl UnitOfWork {
    /// Returns alerts by id for any owner, in any order. Deleted alerts are missing.
    pub async fn alerts_by_id(&mut self, ids: &[AlertId]) -> Result<Vec<StoredAlert>, StoreError> {
        let rows = fetch_many!(self, AlertRow, BY_ID, ids, |query, id| query.bind(id.0));
        values(rows.into_iter().filter(|row| !row.is_deleted()))
    }
}
