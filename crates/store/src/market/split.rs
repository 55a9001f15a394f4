//! Splits.

use market::records::SplitRow;
use market::{Decimal, SplitRatio, Symbol};

use crate::columns::{Table, days};
use crate::database::query;
use crate::unit::write;
use crate::{Store, StoreError, Unit};

const TABLE: Table = Table("splits");

impl Unit {
    /// Notes a split, or another ratio of one that has not been applied. `false`: it has been, and nothing is written.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn record_split(&mut self, split: &SplitRow) -> Result<bool, StoreError> {
        let rows = write!(
            self,
            "INSERT INTO splits (symbol, date, ratio, applied) VALUES ($1, $2, $3, 0)
             ON CONFLICT (symbol, date) DO UPDATE SET ratio = excluded.ratio WHERE splits.applied = 0",
            split.symbol.as_str(),
            days(split.date),
            split.ratio.micros(),
        );
        if rows == 1 {
            self.forget_progress(&[(split.symbol, split.date)]).await?;
        }
        Ok(rows == 1)
    }

    /// Notes that a split was applied: alerts were moved into the new shares. (Bars and quotes stay as they were
    /// delivered, in the shares of their day.) `false`: that was noted before, and nothing is written.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn mark_split_applied(&mut self, split: &SplitRow) -> Result<bool, StoreError> {
        let rows = write!(
            self,
            "UPDATE splits SET applied = 1 WHERE symbol = $1 AND date = $2 AND applied = 0",
            split.symbol.as_str(),
            days(split.date),
        );
        Ok(rows == 1)
    }
}

impl Store {
    /// All splits by date, each with whether it was applied ([`Unit::mark_split_applied`]).
    ///
    /// # Errors
    /// [`StoreError`], if the database fails or a row cannot be read.
    pub async fn splits(&self) -> Result<Vec<(SplitRow, bool)>, StoreError> {
        let sql = "SELECT symbol, date, ratio, applied FROM splits ORDER BY date, symbol";
        let rows = query!(fetch_all(String, i64, i64, i64), &self.pools, sql)?;
        let splits = rows
            .into_iter()
            .map(|(symbol, date, ratio, applied)| Ok((split(TABLE.symbol(&symbol)?, date, ratio)?, applied == 1)));
        splits.collect()
    }

    /// A stock's splits by date, those that are still to come included.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails or a row cannot be read.
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
