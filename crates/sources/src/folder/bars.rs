//! The columns of daily and intraday bars.

use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Bar, IntradayBar, Symbol};

use super::header::{Column, Header};
use super::rejected::RowError;
use super::rows::Columns;
use super::text;
use super::values::Row;

/// The columns that daily and intraday bars share.
struct BarColumns {
    symbol: Column,
    open: Column,
    high: Column,
    low: Column,
    close: Column,
    volume: Column,
}

impl BarColumns {
    fn find(header: &mut Header) -> Self {
        Self {
            symbol: header.required("symbol"),
            open: header.required("open"),
            high: header.required("high"),
            low: header.required("low"),
            close: header.required("close"),
            volume: header.required("volume"),
        }
    }

    /// Reads the row's bar as one of the session on `date`. An empty volume is zero: some vendors leave it out where
    /// nothing traded.
    fn read(&self, row: &Row, date: Date) -> Result<Bar, RowError> {
        let bar = Bar {
            date,
            open: row.required(self.open, text::price)?,
            high: row.required(self.high, text::price)?,
            low: row.required(self.low, text::price)?,
            close: row.required(self.close, text::price)?,
            volume: row.optional(Some(self.volume), text::integer)?.unwrap_or(0),
        };
        Ok(bar.checked()?)
    }
}

/// The columns of `symbol,date,open,high,low,close,volume`.
pub(super) struct DailyColumns {
    date: Column,
    bar: BarColumns,
}

impl Columns for DailyColumns {
    type Row = (Symbol, Bar);

    fn find(header: &mut Header) -> Self {
        Self {
            date: header.required("date"),
            bar: BarColumns::find(header),
        }
    }

    fn read(&self, row: &Row) -> Result<Self::Row, RowError> {
        let symbol = row.required(self.bar.symbol, text::symbol)?;
        let date = row.required(self.date, text::date)?;
        Ok((symbol, self.bar.read(row, date)?))
    }
}

/// The columns of `symbol,time,open,high,low,close,volume`.
pub(super) struct IntradayColumns {
    time: Column,
    bar: BarColumns,
}

impl Columns for IntradayColumns {
    /// The bar with its date in New York.
    type Row = (Symbol, Date, IntradayBar);

    fn find(header: &mut Header) -> Self {
        Self {
            time: header.required("time"),
            bar: BarColumns::find(header),
        }
    }

    fn read(&self, row: &Row) -> Result<Self::Row, RowError> {
        let symbol = row.required(self.bar.symbol, text::symbol)?;
        let time = row.required(self.time, text::time)?;
        let bar = self.bar.read(row, new_york_date(time))?;
        Ok((symbol, bar.date, IntradayBar::of(&bar, time)))
    }
}
