//! Splits.

use market::records::SplitRow;
use market::{Decimal, SplitRatio, Symbol};

use crate::columns::{Table, days};
use crate::database::query;
use crate::unit_of_work::write_rows;
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("splits");

impl UnitOfWork {
    /// Records a split, or corrects the ratio of one that is not applied yet. Returns `false`, and writes nothing,
    /// if the split is already applied.
    pub async fn record_split(&mut self, split: &SplitRow) -> Result<bool, StoreError> {
        let rows = write_rows!(
            self,
            "INSERT INTO splits (symbol, date, ratio, applied) VALUES ($1, $2, $3, 0)
             ON CONFLICT (symbol, date) DO UPDATE SET ratio = excluded.ratio WHERE splits.applied = 0",
            split.symbol.as_str(),
            days(split.date),
            split.ratio.micros(),
        );
        if rows == 1 {
            self.invalidate_progress(&[(split.symbol, split.date)]).await?;
        }
        Ok(rows == 1)
    }

    /// Marks a split as applied: alerts were converted to the new shares. (Bars and quotes remain as delivered, in
    /// the shares of their day.) Returns `false`, and writes nothing, if it was already marked.
    pub async fn mark_split_applied(&mut self, split: &SplitRow) -> Result<bool, StoreError> {
        let rows = write_rows!(
            self,
            "UPDATE splits SET applied = 1 WHERE symbol = $1 AND date = $2 AND applied = 0",
            split.symbol.as_str(),
            days(split.date),
        );
        Ok(rows == 1)
    }
}

impl Store {
    /// Returns all splits by date, each with whether it was applied ([`UnitOfWork::mark_split_applied`]).
    pub async fn splits(&self) -> Result<Vec<(SplitRow, bool)>, StoreError> {
        let sql = "SELECT symbol, date, ratio, applied FROM splits ORDER BY date, symbol";
        let rows = query!(fetch_all(String, i64, i64, i64), &self.pools, sql)?;
        let splits = rows
            .into_iter()
            .map(|(symbol, date, ratio, applied)| Ok((split(TABLE.symbol(&symbol)?, date, ratio)?, applied == 1)));
        splits.collect()
    }

    /// Returns a stock's splits by date, including future ones.
    pub async fn splits_of(&self, symbol: Symbol) -> Result<Vec<SplitRow>, StoreError> {
        let sql = "SELECT date, ratio FROM splits WHERE symbol = $1 ORDER BY date";
        let rows = query!(fetch_all(i64, i64), &self.pools, sql, symbol.as_str())?;
        rows.into_iter()
            .map(|(date, ratio)| split(symbol, date, ratio))
            .collect()
    }
}

fn split(symbol: Symbol, date: i64, ratio: i64) -> Result<SplitRow, StoreError> {
    Ok(SplitRow {
        symbol,
        date: TABLE.date(date)?,
        ratio: SplitRatio::try_from(Decimal::from_micros(ratio)).map_err(|error| TABLE.corrupt(error))?,
    })
}
