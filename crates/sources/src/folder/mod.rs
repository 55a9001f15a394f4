//! # The data folder: recorded market data as CSV files
//!
//! Replay and the file source read a data folder. Every file is optional, and each is plain (`splits.csv`) or compressed
//! (`splits.csv.gz`):
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
//! Dates are `2024-03-08`, instants are RFC 3339. The header row names the columns, in any order and any case; columns that
//! are not listed above are ignored. A row is one line: a quoted field may contain commas and doubled quotes, but no line
//! break, so that a stray quote affects only its own row.
//!
//! ## Invalid data
//!
//! Collected data has errors, and one invalid row must not affect the rest. So there are two kinds of errors. A
//! [`RejectedRow`] is left out and reported with file, line, field and fix; all other rows are used. A [`FolderError`]
//! means that a whole file cannot be used: it is damaged, or lacks a column. It stops the reading, because an alert that is
//! silent for lack of a file looks like an alert whose condition is not met. The order of rows does not matter.
//!
//! Of two rows for the same symbol and day (or instant) the last one is used, across the files of `bars/` in the order of
//! their names. This applies to bars, splits, earnings, mentions and stocks. Dividends, fundamentals and insider
//! transactions are all kept: a stock can pay two dividends on one day.
//!
//! ## Modules
//!
//! `files` finds and opens the files; `lines` splits bytes into lines of a bounded length, and `split` splits a line into
//! fields; `header` finds the columns; `rows` converts lines to rows, and `values` converts single fields to values by
//! means of `text`; `bars` and `facts` define the columns of each table and the meaning of a row; `loader` combines them,
//! one table at a time; `data` holds the result.
//!
//! No row is checked against another one: a price that jumps by a factor of ten is accepted.

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
mod vwap;

use std::path::Path;

use market::Calendar;

pub use data::{MarketData, SymbolBars};
pub use error::FolderError;
pub use files::ReadProgress;
pub use lines::MAX_ROW_BYTES;
pub use loader::TableLoader;
pub use rejected::{Excerpt, FieldError, RejectedRow, Rejections, RowError};
pub use table::Table;
pub use vwap::VwapSums;

/// Reads the data folder `dir`.
///
/// Bars on a day without a session in `calendar` are rejected. `progress` is called after each block that was read from
/// disk.
///
/// # Errors
/// [`FolderError`] if the folder or one of its files cannot be used; no data is returned then.
pub fn read(
    dir: &Path,
    calendar: &Calendar,
    progress: impl FnMut(ReadProgress<'_>),
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
    mut progress: impl FnMut(ReadProgress<'_>),
    report: impl FnMut(&RejectedRow),
) -> Result<(MarketData, Rejections), FolderError> {
    let sources = files::find(dir)?;
    let bytes_total = sources.iter().map(|source| source.bytes).sum();
    let mut bytes_read = 0;
    let mut loader = TableLoader::new(calendar).reporting_to(report);
    for source in &sources {
        let input = source.open(|bytes| {
            bytes_read += bytes;
            progress(ReadProgress {
                file: &source.path,
                bytes_read,
                bytes_total,
            });
        })?;
        loader.read_table(source.table, &source.path, input)?;
    }
    Ok(loader.finish())
}
