//! Splits.

use market::records::{BarRow, SplitRow};
use market::{Bar, Symbol};

use super::row::{Quote, SessionBar};
use crate::columns::days;
use crate::model::LatestQuote;
use crate::unit::{ask, write};
use crate::{StoreError, Unit};

impl Unit {
    /// Notes a split. `false`: it was noted before, and nothing is written.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn record_split(&mut self, split: &SplitRow) -> Result<bool, StoreError> {
        let rows = write!(
            self,
            "INSERT INTO splits (symbol, date, ratio) VALUES ($1, $2, $3) ON CONFLICT (symbol, date) DO NOTHING",
            split.symbol.as_str(),
            days(split.date),
            split.ratio.micros(),
        );
        Ok(rows == 1)
    }

    /// Brings a stock's bars and latest quote of before a split into the shares of after it.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn rescale_prices(&mut self, split: &SplitRow) -> Result<(), StoreError> {
        let (symbol, date) = (split.symbol.as_str(), days(split.date));
        let sql = "SELECT symbol, date, open, high, low, close, volume FROM bars
                   WHERE symbol = $1 AND date < $2 ORDER BY date";
        let rows = ask!(self, fetch_all SessionBar, sql, symbol, date);
        let mut bars: Vec<(Symbol, Bar)> = Vec::with_capacity(rows.len());
        for row in rows {
            let BarRow { symbol, bar } = row.try_into()?;
            bars.push((symbol, bar.after_split(split.ratio)));
        }
        self.write_bars(&bars).await?;

        let sql = "SELECT symbol, session, open, high, low, last, volume, at FROM quotes
                   WHERE symbol = $1 AND session < $2";
        if let Some(row) = ask!(self, fetch_optional Quote, sql, symbol, date) {
            let quote = LatestQuote::try_from(row)?;
            self.record_quotes(&[LatestQuote {
                open: quote.open.after_split(split.ratio),
                high: quote.high.after_split(split.ratio),
                low: quote.low.after_split(split.ratio),
                last: quote.last.after_split(split.ratio),
                volume: quote.volume.map(|volume| split.ratio.multiply(volume)),
                ..quote
            }])
            .await?;
        }
        Ok(())
    }
}
