//! The history of alerts.

mod list;

use alerts::transition::{HistoryAction, HistoryStatus, StatusChange};
use alerts::{AlertId, Status};
use jiff::Timestamp;
use market::{Price, Symbol};

use crate::columns::{Table, json};
use crate::database::query;
use crate::model::{AccountId, HistoryRow};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("history");

row! {
    /// An entry with its position in the whole history.
    struct PositionedRow {
        seq: i64,
        ..entry: EntryRow,
    }
}

row! {
    struct EntryRow {
        action: String,
        previous_status: Option<String>,
        new_status: String,
        at: i64,
        price: Option<i64>,
        details: Option<String>,
    }
}

impl EntryRow {
    fn into_history_row(self, alert: AlertId, symbol: Symbol) -> Result<HistoryRow, StoreError> {
        let previous = self.previous_status.as_deref();
        let previous = previous.map(|name| TABLE.parse("previous_status", name, Status::from_name));
        Ok(HistoryRow {
            alert,
            symbol,
            entry: StatusChange {
                action: TABLE.parse("action", &self.action, HistoryAction::from_name)?,
                previous_status: previous.transpose()?,
                new_status: TABLE.parse("new_status", &self.new_status, HistoryStatus::from_name)?,
            },
            at: TABLE.instant(self.at)?,
            price: TABLE.optional_price(self.price)?,
            details: TABLE.optional_object(self.details.as_deref())?,
        })
    }
}

/// Returns the entries of an alert, and the position of the last one; without entries the position before them.
fn with_last_position(
    rows: Vec<PositionedRow>,
    alert: AlertId,
    symbol: Symbol,
    before: i64,
) -> Result<(Vec<HistoryRow>, i64), StoreError> {
    let last = rows.last().map_or(before, |row| row.seq);
    let rows = rows.into_iter().map(|row| row.entry.into_history_row(alert, symbol));
    Ok((rows.collect::<Result<_, _>>()?, last))
}

impl Store {
    /// Returns the `seq` and the stock of an account's alert, including deleted alerts.
    async fn alert_seq_and_symbol(
        &self,
        account: AccountId,
        alert: AlertId,
    ) -> Result<Option<(i64, Symbol)>, StoreError> {
        let sql = "SELECT seq, symbol FROM alerts WHERE id = $1 AND account_id = $2";
        let found = query!(fetch_optional(i64, String), &self.pools, sql, alert.0, account.0)?;
        found.map(|(seq, symbol)| Ok((seq, TABLE.symbol(&symbol)?))).transpose()
    }

    /// Returns an alert's firings that this service observed, newest first, at most `limit`. Includes deleted
    /// alerts, and omits firings reported by clients. `None`: the account never had such an alert.
    pub async fn firings_of_alert(
        &self,
        account: AccountId,
        alert: AlertId,
        limit: u32,
    ) -> Result<Option<(Symbol, Vec<HistoryRow>)>, StoreError> {
        let Some((alert_seq, symbol)) = self.alert_seq_and_symbol(account, alert).await? else {
            return Ok(None);
        };
        let sql = "SELECT seq, action, previous_status, new_status, at, price, details FROM history
                   WHERE alert_seq = $1 AND seq < $2 AND action = $3 ORDER BY seq DESC LIMIT $4";
        let action = HistoryAction::Triggered.name();
        let (wanted, mut before) = (usize::try_from(limit).unwrap_or(usize::MAX), i64::MAX);
        let mut firings = Vec::new();
        loop {
            let rows = query!(fetch_all PositionedRow, &self.pools, sql, alert_seq, before, action, i64::from(limit))?;
            let Some(last) = rows.last() else {
                return Ok(Some((symbol, firings)));
            };
            before = last.seq;
            for row in rows {
                let row = row.entry.into_history_row(alert, symbol)?;
                if !row.is_noted_by_client() {
                    firings.push(row);
                }
                if firings.len() == wanted {
                    return Ok(Some((symbol, firings)));
                }
            }
        }
    }

    /// Returns an alert's history up to an instant and before a position, newest first, at most `limit` entries. Also returns the
    /// position of the last entry.
    pub async fn history_until(
        &self,
        alert: AlertId,
        symbol: Symbol,
        until: Timestamp,
        position: i64,
        limit: u32,
    ) -> Result<(Vec<HistoryRow>, i64), StoreError> {
        let sql = "SELECT seq, action, previous_status, new_status, at, price, details FROM history
                   WHERE alert_seq = (SELECT seq FROM alerts WHERE id = $1) AND at <= $2 AND seq < $3
                   ORDER BY seq DESC LIMIT $4";
        let until = until.as_microsecond();
        let rows = query!(fetch_all PositionedRow, &self.pools, sql, alert.0, until, position, i64::from(limit))?;
        with_last_position(rows, alert, symbol, position)
    }

    /// Returns an alert's history after a position, oldest first, at most `limit` entries. Also returns the position
    /// of the last entry.
    pub async fn history_after(
        &self,
        alert: AlertId,
        symbol: Symbol,
        position: i64,
        limit: u32,
    ) -> Result<(Vec<HistoryRow>, i64), StoreError> {
        let sql = "SELECT seq, action, previous_status, new_status, at, price, details FROM history
                   WHERE alert_seq = (SELECT seq FROM alerts WHERE id = $1) AND seq > $2 ORDER BY seq LIMIT $3";
        let rows = query!(fetch_all PositionedRow, &self.pools, sql, alert.0, position, i64::from(limit))?;
        with_last_position(rows, alert, symbol, position)
    }
}

impl UnitOfWork {
    /// Returns the stock of an account's alert, including deleted alerts.
    pub async fn symbol_of_alert(&mut self, account: AccountId, alert: AlertId) -> Result<Option<Symbol>, StoreError> {
        let sql = "SELECT symbol FROM alerts WHERE id = $1 AND account_id = $2";
        let found = fetch!(self, fetch_optional(String,), sql, alert.0, account.0);
        found.map(|(symbol,)| TABLE.symbol(&symbol)).transpose()
    }

    /// Appends an entry to an alert's history.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if the database fails or there is no such alert.
    pub async fn append_history(&mut self, row: &HistoryRow) -> Result<(), StoreError> {
        let sql = "SELECT seq FROM alerts WHERE id = $1";
        let (seq,) = fetch!(self, fetch_one(i64,), sql, row.alert.0);
        self.write_history(seq, row).await
    }

    /// Appends an entry to an alert's history, unless it has one with the same action and details.
    ///
    /// # Errors
    ///
    /// As [`append_history`](Self::append_history).
    pub async fn append_history_once(&mut self, row: &HistoryRow) -> Result<(), StoreError> {
        let details = row.details.as_ref().map(json).transpose()?;
        let sql = "SELECT COUNT(*) FROM history WHERE alert_seq = (SELECT seq FROM alerts WHERE id = $1)
                   AND action = $2 AND details = $3";
        let (known,) = fetch!(
            self,
            fetch_one(i64,),
            sql,
            row.alert.0,
            row.entry.action.name(),
            details
        );
        if known > 0 {
            return Ok(());
        }
        self.append_history(row).await
    }

    /// Appends an entry to the history of the alert with a `seq`.
    pub(crate) async fn write_history(&mut self, alert_seq: i64, row: &HistoryRow) -> Result<(), StoreError> {
        self.announce_history().await?;
        let details = row.details.as_ref().map(json).transpose()?;
        write_rows!(
            self,
            // These entries of a member belong to the history of its alert over many stocks, too.
            "INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details, parent_seq)
             VALUES ($1, $2, $3, $4, $5, $6, $7,
                     CASE WHEN $2 IN ('triggered', 'expired', 'not_evaluated', 'notification_sent', 'notification_failed', 'acknowledged')
                     THEN (SELECT parent_seq FROM alerts WHERE seq = $1) END)",
            alert_seq,
            row.entry.action.name(),
            row.entry.previous_status.map(Status::name),
            row.entry.new_status.name(),
            row.at.as_microsecond(),
            row.price.map(Price::micros),
            details.as_deref(),
        );
        Ok(())
    }
}
