//! The tables of a data folder.

use std::fmt;

/// A table of a data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// Daily or intraday bars, in any number of files in `bars/`.
    Bars,
    /// Stock splits.
    Splits,
    /// Dividends.
    Dividends,
    /// Earnings dates.
    Earnings,
    /// Earnings per share and other figures.
    Fundamentals,
    /// Insider transactions.
    Insiders,
    /// Counts of mentions.
    Mentions,
    /// Names and sectors of stocks.
    Stocks,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 8] = [
        Self::Bars,
        Self::Splits,
        Self::Dividends,
        Self::Earnings,
        Self::Fundamentals,
        Self::Insiders,
        Self::Mentions,
        Self::Stocks,
    ];

    /// The name in the folder, without `.csv` or `.csv.gz`; for bars, the name of the subfolder.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bars => "bars",
            Self::Splits => "splits",
            Self::Dividends => "dividends",
            Self::Earnings => "earnings",
            Self::Fundamentals => "fundamentals",
            Self::Insiders => "insiders",
            Self::Mentions => "mentions",
            Self::Stocks => "stocks",
        }
    }

    /// An example of a header row, with all required columns.
    #[must_use]
    pub const fn header(self) -> &'static str {
        match self {
            Self::Bars => "symbol,date,open,high,low,close,volume",
            Self::Splits => "symbol,date,ratio",
            Self::Dividends => "symbol,ex_date,payment_date,amount",
            Self::Earnings => "symbol,date,time,eps_estimate",
            Self::Fundamentals => "symbol,as_of,eps_ttm,eps_forward",
            Self::Insiders => "symbol,filed_on,traded_on,insider,code,side,shares,price",
            Self::Mentions => "symbol,time,mentions",
            Self::Stocks => "symbol,name,sector",
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
