//! Loads tables into one [`MarketData`].

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use market::{Calendar, Symbol};

use super::bars::{DailyColumns, IntradayColumns};
use super::data::{MarketData, SymbolBars};
use super::error::FolderError;
use super::facts::{
    DividendColumns, EarningsColumns, FundamentalsColumns, InsiderColumns, MentionColumns, SplitColumns, StockColumns,
};
use super::rejected::{RejectedRow, RejectionLog, Rejections, RowError};
use super::rows::{Columns, Rows};
use super::table::Table;

/// Loads tables from any reader and combines them.
///
/// ```
/// use sources::folder::{TableLoader, Table};
/// use market::Calendar;
///
/// let calendar = Calendar::nyse();
/// let mut loader = TableLoader::new(&calendar);
/// let splits = "symbol,date,ratio\nAAPL,2020-08-31,4\nAAPL,2020-08-31,none\n";
/// loader.read_table(Table::Splits, "splits.csv".as_ref(), splits.as_bytes()).unwrap();
/// let (data, rejections) = loader.finish();
/// assert_eq!(data.splits.len(), 1);
/// assert_eq!(
///     rejections.first[0].to_string(),
///     "splits.csv:3: ratio \"none\" is not a number; write it like 198.66"
/// );
/// ```
#[derive(Debug)]
pub struct TableLoader<'a> {
    calendar: &'a Calendar,
    data: MarketData,
    rejections: RejectionLog<'a>,
    traced: Option<TracedDay>,
}

/// A day whose daily bars are traced to their files.
#[derive(Debug)]
struct TracedDay {
    day: Date,
    /// The file of each symbol's bar.
    files: BTreeMap<Symbol, PathBuf>,
}

impl TracedDay {
    fn add(&mut self, symbol: Symbol, day: Date, file: &Path) {
        if day == self.day {
            self.files.insert(symbol, file.to_owned());
        }
    }
}

impl<'a> TableLoader<'a> {
    /// Creates an empty loader. Bars on a day without a session in `calendar` are rejected.
    #[must_use]
    pub fn new(calendar: &'a Calendar) -> Self {
        Self {
            calendar,
            data: MarketData::default(),
            rejections: RejectionLog::default(),
            traced: None,
        }
    }

    /// Traces the daily bars of `day` to their files ([`Self::take_files_of_bars`]).
    #[must_use]
    pub(crate) fn tracing_bars_of(mut self, day: Date) -> Self {
        self.traced = Some(TracedDay {
            day,
            files: BTreeMap::new(),
        });
        self
    }

    /// Returns the file of each symbol's bar of the traced day. If there are several bars, the last one counts.
    pub(crate) fn take_files_of_bars(&mut self) -> BTreeMap<Symbol, PathBuf> {
        self.traced.take().map(|traced| traced.files).unwrap_or_default()
    }

    /// Reports each rejected row to `report` as it is read, without a limit.
    #[must_use]
    pub fn reporting_to(mut self, report: impl FnMut(&RejectedRow) + 'a) -> Self {
        self.rejections.report_to(report);
        self
    }

    /// Reads a `table` from `input`; messages name it `file`.
    ///
    /// # Errors
    /// [`FolderError`] if the input cannot be used. Rows that were read before the error are kept.
    pub fn read_table(&mut self, table: Table, file: &Path, input: impl BufRead) -> Result<(), FolderError> {
        let rows = Rows::new(table, file, input)?;
        self.take(table, file, rows)
    }

    /// Reads the rest of a file whose first `lines` lines, including the header row `header`, were read before.
    pub(crate) fn read_more(
        &mut self,
        (table, file): (Table, &Path),
        (header, lines): (&[u8], u64),
        input: impl BufRead,
    ) -> Result<(), FolderError> {
        let rows = Rows::resume(table, file, header, lines, input);
        self.take(table, file, rows)
    }

    fn take(&mut self, table: Table, file: &Path, rows: Rows<'_, impl BufRead>) -> Result<(), FolderError> {
        let Self { data, rejections, .. } = self;
        match table {
            Table::Bars => self.read_bars(file, rows),
            Table::Splits => collect::<SplitColumns>(rows, rejections, &mut data.splits),
            Table::Dividends => collect::<DividendColumns>(rows, rejections, &mut data.dividends),
            Table::Earnings => collect::<EarningsColumns>(rows, rejections, &mut data.earnings),
            Table::Fundamentals => collect::<FundamentalsColumns>(rows, rejections, &mut data.fundamentals),
            Table::Insiders => collect::<InsiderColumns>(rows, rejections, &mut data.insiders),
            Table::Mentions => collect::<MentionColumns>(rows, rejections, &mut data.mentions),
            Table::Stocks => collect::<StockColumns>(rows, rejections, &mut data.stocks),
        }
    }

    /// Returns the sorted data and the rejected rows.
    #[must_use]
    pub fn finish(mut self) -> (MarketData, Rejections) {
        self.data.sort_and_dedup();
        (self.data, self.rejections.into_rejections())
    }

    /// Reads daily bars if there is a column `date`, and intraday bars if there is a column `time`.
    fn read_bars(&mut self, file: &Path, rows: Rows<'_, impl BufRead>) -> Result<(), FolderError> {
        let Self {
            calendar,
            data,
            rejections,
            traced,
        } = self;
        match (rows.header().has("date"), rows.header().has("time")) {
            (true, true) => Err(FolderError::DateAndTime(file.to_owned())),
            (false, true) => rows.for_each::<IntradayColumns>(rejections, |(symbol, date, bar)| {
                bars_of(data, calendar, symbol, date)?.intraday.push(bar);
                Ok(())
            }),
            (_, false) => rows.for_each::<DailyColumns>(rejections, |(symbol, bar)| {
                bars_of(data, calendar, symbol, bar.date)?.daily.push(bar);
                if let Some(traced) = traced {
                    traced.add(symbol, bar.date, file);
                }
                Ok(())
            }),
        }
    }
}

/// Adds all rows to `rows_so_far`.
fn collect<C: Columns>(
    rows: Rows<'_, impl BufRead>,
    rejections: &mut RejectionLog<'_>,
    rows_so_far: &mut Vec<C::Row>,
) -> Result<(), FolderError> {
    rows.for_each::<C>(rejections, |row| {
        rows_so_far.push(row);
        Ok(())
    })
}

/// Returns the bars of `symbol` if the exchange was open on `date`.
fn bars_of<'d>(
    data: &'d mut MarketData,
    calendar: &Calendar,
    symbol: Symbol,
    date: Date,
) -> Result<&'d mut SymbolBars, RowError> {
    match calendar.closure(date) {
        Some(closure) if !calendar.is_always_open() => Err(RowError::Closed { date, closure }),
        _ => Ok(data.bars.entry(symbol).or_default()),
    }
}
