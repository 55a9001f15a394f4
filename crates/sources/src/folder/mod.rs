//! # The data folder: recorded market data as CSV files
//!
//! A data folder holds what replay and the file source work from. Every file is optional, and each is plain
//! (`splits.csv`) or compressed (`splits.csv.gz`):
//!
//! | file | columns |
//! |---|---|
//! | `bars/*.csv` | `symbol,date,open,high,low,close,volume`; intraday: `time` instead of `date` |
//! | `splits.csv` | `symbol,date,ratio` (new shares per old) |
//! | `dividends.csv` | `symbol,ex_date`, may have `payment_date,amount` |
//! | `earnings.csv` | `symbol,date`, may have `time,eps_estimate` (time: `before_open`, `after_close`, `unknown`) |
//! | `fundamentals.csv` | `symbol,as_of` and one or both of `eps_ttm,eps_forward`, may have `market_cap,dividend_yield,dividend_amount,beta` |
//! | `insiders.csv` | `symbol,filed_on,insider,code,side,shares,price`, may have `traded_on` |
//! | `mentions.csv` | `symbol,time,mentions` |
//! | `stocks.csv` | `symbol,name`, may have `type,sector,industry,country,exchange,isin,is_active` |
//!
//! Dates are `2024-03-08`, instants are RFC 3339. The header row names the columns, in any order and any case;
//! columns that are not listed above are ignored. A row is one line: a field in quotes may hold commas and doubled
//! quotes, but no line break, so that a stray quote costs its own row and never the rest of the file.
//!
//! ## What is forgiven
//!
//! Data that people gather has blemishes, and one bad row must not cost them the rest. So there are two kinds of
//! trouble. A [`Rejected`] row is left out, and reported with file, line, field and mend; every other row is used. A
//! [`FolderError`] means that a whole file cannot be used (it is damaged, or lacks a column); it stops the reading,
//! because an alert that stays silent for want of a file looks just like an alert that has no reason to fire. The
//! order of rows does not matter.
//!
//! Of two rows for the same symbol and day (or instant) the last one wins, across the files of `bars/` in the order
//! of their names. That holds for bars, splits, earnings, mentions and stocks. Dividends, fundamentals and insider
//! trades are all kept: a stock can pay two dividends on one day.
//!
//! ## Who does what
//!
//! `files` finds the files and opens them; `lines` cuts bytes into lines of a bounded length, `split` cuts a line
//! into fields; `header` finds the columns; `rows` turns lines into rows, `values` single fields into values by way of
//! `text`; `bars`
//! and `facts` say which columns each table has and what a row of it means; `loader` brings them together, one table
//! at a time; `data` holds the result.
//!
//! Nothing here checks one row against another: a price that jumps by a factor of ten is taken as it is.

mod bars;
mod data;
mod error;
mod facts;
pub(crate) mod files;
mod header;
pub(crate) mod lines;
mod loader;
mod rejected;
mod rows;
mod split;
mod table;
pub(crate) mod text;
mod values;

use std::path::Path;

use market::Calendar;

pub use data::{IntradayBar, MarketData, SymbolBars};
pub use error::FolderError;
pub use files::Progress;
pub use lines::MAX_ROW_BYTES;
pub use loader::Loader;
pub use rejected::{Excerpt, Problem, Rejected, Rejections, RowError};
pub use table::Table;

/// Reads the data folder `dir`.
///
/// Bars on a day without a session in `calendar` are rejected. `progress` is told after every piece that was read
/// from disk how far the reading has come.
///
/// # Errors
/// [`FolderError`] when the folder or one of its files cannot be used at all; nothing of the folder is returned then.
pub fn read(
    dir: &Path,
    calendar: &Calendar,
    progress: impl FnMut(Progress<'_>),
) -> Result<(MarketData, Rejections), FolderError> {
    read_reporting(dir, calendar, progress, |_| ())
}

/// Reads the data folder `dir` like [`read`], and reports each rejected row to `report` as it is read.
///
/// # Errors
/// As [`read`].
pub fn read_reporting(
    dir: &Path,
    calendar: &Calendar,
    mut progress: impl FnMut(Progress<'_>),
    report: impl FnMut(&Rejected),
) -> Result<(MarketData, Rejections), FolderError> {
    let sources = files::find(dir)?;
    let bytes_total = sources.iter().map(|source| source.bytes).sum();
    let mut bytes_read = 0;
    let mut loader = Loader::new(calendar).reporting_to(report);
    for source in &sources {
        let input = source.open(|bytes| {
            bytes_read += bytes;
            progress(Progress {
                file: &source.path,
                bytes_read,
                bytes_total,
            });
        })?;
        loader.read_table(source.table, &source.path, input)?;
    }
    Ok(loader.finish())
}
