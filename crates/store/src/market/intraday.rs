//! The intraday bars of recent sessions.

use jiff::Timestamp;
use market::records::IntradayRow;
use market::{IntradayBar, Symbol};

use super::record::last_of_each;
use super::row::StoredIntradayBar;
use crate::bulk::{Statement, write_many};
use crate::columns::values;
use crate::database::query;
use crate::purge::Purge;
use crate::{Store, StoreError, UnitOfWork};

/// A data folder sends its bars again at each start: those that are stored cost no write.
const UPSERT_INTRADAY_BARS: Statement = Statement {
    before: "INSERT INTO intraday_bars (symbol, time, open, high, low, close, volume) VALUES ",
    columns: 7,
    after: " ON CONFLICT (symbol, time) DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low,
             close = excluded.close, volume = excluded.volume
             WHERE (intraday_bars.open, intraday_bars.high, intraday_bars.low, intraday_bars.close, intraday_bars.volume)
                <> (excluded.open, excluded.high, excluded.low, excluded.close, excluded.volume)",
};

const OLD_INTRADAY_BARS: Purge = Purge {
    dependents: &[],
    counted: &["DELETE FROM intraday_bars WHERE (symbol, time) IN
         (SELECT symbol, time FROM intraday_bars WHERE time < $1 ORDER BY time LIMIT $2)"],
};

impl Store {
    /// Returns the intraday bars of a stock that begin at `from` or later and before `until`, by time.
    pub async fn intraday_bars(
        &self,
        symbol: Symbol,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<IntradayBar>, StoreError> {
        let sql = "SELECT time, open, high, low, close, volume FROM intraday_bars
                   WHERE symbol = $1 AND time >= $2 AND time < $3 ORDER BY time";
        let (from, until) = (from.as_microsecond(), until.as_microsecond());
        values(query!(fetch_all StoredIntradayBar, &self.pools, sql, symbol.as_str(), from, until)?)
    }

    /// Deletes intraday bars that began before `before`, at most `limit`. Returns the number deleted.
    pub async fn purge_intraday_bars(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.purge(OLD_INTRADAY_BARS, before, limit).await
    }
}

impl UnitOfWork {
    /// Stores intraday bars. A later one of the same time replaces the earlier one.
    pub(super) async fn write_intraday_bars(&mut self, rows: &[IntradayRow]) -> Result<(), StoreError> {
        let rows = last_of_each(rows, |row| (row.symbol, row.bar.time));
        write_many!(self, UPSERT_INTRADAY_BARS, &rows, |query, row| {
            let bar = &row.bar;
            query
                .bind(row.symbol.as_str())
                .bind(bar.time.as_microsecond())
                .bind(bar.open.micros())
                .bind(bar.high.micros())
                .bind(bar.low.micros())
                .bind(bar.close.micros())
                .bind(bar.volume)
        });
        Ok(())
    }
}
