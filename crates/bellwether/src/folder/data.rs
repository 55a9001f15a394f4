//! What a data folder holds, read and in order.

use std::collections::BTreeMap;
use std::mem;

use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Decimal, Price, SplitRatio, Symbol};

/// Everything that was read from a data folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarketData {
    /// The bars of each symbol that has any.
    pub bars: BTreeMap<Symbol, SymbolBars>,
    /// The splits by date, one for each symbol and date.
    pub splits: Vec<SplitRow>,
    /// The dividends by ex-date.
    pub dividends: Vec<DividendRow>,
    /// The earnings dates in order, one for each symbol and date.
    pub earnings: Vec<EarningsRow>,
    /// The earnings per share by the date from which they are known; of one date, in the order of the file.
    pub fundamentals: Vec<FundamentalsRow>,
    /// The insider trades by the date of their filing; of one date, in the order of the file.
    pub insiders: Vec<InsiderRow>,
    /// The counts of mentions by time, one for each symbol and time.
    pub mentions: Vec<MentionRow>,
    /// The stocks by symbol, one for each.
    pub stocks: Vec<StockRow>,
}

/// The bars of one symbol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolBars {
    /// Daily bars by date, one for each date.
    pub daily: Vec<Bar>,
    /// Intraday bars by time, one for each time.
    pub intraday: Vec<IntradayBar>,
}

/// A span within a session: first, highest, lowest and last price, and the shares traded. It keeps what [`Bar`]
/// keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntradayBar {
    /// The instant that the file gives for the bar.
    pub time: Timestamp,
    /// First price.
    pub open: Price,
    /// Highest price.
    pub high: Price,
    /// Lowest price.
    pub low: Price,
    /// Last price.
    pub close: Price,
    /// Shares traded.
    pub volume: i64,
}

/// A split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitRow {
    /// The stock.
    pub symbol: Symbol,
    /// The first session in new shares.
    pub date: Date,
    /// New shares per old share.
    pub ratio: SplitRatio,
}

/// A dividend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DividendRow {
    /// The stock.
    pub symbol: Symbol,
    /// The first session without a claim to the dividend.
    pub ex_date: Date,
    /// When it is paid.
    pub payment_date: Option<Date>,
    /// Dollars per share, zero or more.
    pub amount: Option<Decimal>,
}

/// At which end of its day a company reports its earnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EarningsTime {
    /// Before the session.
    BeforeOpen,
    /// After the session.
    AfterClose,
    /// Not told.
    #[default]
    Unknown,
}

/// A date on which a company reports its earnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarningsRow {
    /// The stock.
    pub symbol: Symbol,
    /// The date of the report.
    pub date: Date,
    /// Before or after the session.
    pub time: EarningsTime,
    /// Expected earnings per share.
    pub eps_estimate: Option<Decimal>,
}

/// Earnings per share as they are known from a date on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FundamentalsRow {
    /// The stock.
    pub symbol: Symbol,
    /// The date from which the figures are known.
    pub as_of: Date,
    /// Earnings per share of the last twelve months; negative for a loss.
    pub eps_ttm: Option<Decimal>,
    /// Earnings per share expected for the next twelve months; negative for a loss.
    pub eps_forward: Option<Decimal>,
}

/// Whether shares came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The insider has more shares than before.
    Buy,
    /// The insider has fewer shares than before.
    Sell,
}

/// A trade of an insider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsiderRow {
    /// The stock.
    pub symbol: Symbol,
    /// The date of the filing, from which the trade is known.
    pub filed_on: Date,
    /// The date of the trade.
    pub traded_on: Option<Date>,
    /// Who traded.
    pub insider: String,
    /// The transaction code of the SEC's Form 4 in upper case: `P` for a purchase, `S` for a sale, and others.
    pub code: char,
    /// Whether shares came or went.
    pub side: Side,
    /// How many shares, zero or more.
    pub shares: Decimal,
    /// Dollars per share, zero or more; zero for a grant.
    pub price: Decimal,
}

/// How often a stock was mentioned in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MentionRow {
    /// The stock.
    pub symbol: Symbol,
    /// The hour, by the instant that the file gives for it.
    pub time: Timestamp,
    /// How often.
    pub mentions: u32,
}

/// A stock's name and sector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockRow {
    /// The stock.
    pub symbol: Symbol,
    /// The company's name.
    pub name: String,
    /// The company's sector.
    pub sector: Option<String>,
}

impl MarketData {
    /// Brings rows that came in any order into theirs, and keeps the last where there is to be one.
    pub(super) fn settle(&mut self) {
        for bars in self.bars.values_mut() {
            keep_last(&mut bars.daily, |bar| bar.date);
            keep_last(&mut bars.intraday, |bar| bar.time);
        }
        keep_last(&mut self.splits, |row| (row.date, row.symbol));
        self.dividends.sort_by_key(|row| row.ex_date);
        keep_last(&mut self.earnings, |row| (row.date, row.symbol));
        self.fundamentals.sort_by_key(|row| row.as_of);
        self.insiders.sort_by_key(|row| row.filed_on);
        keep_last(&mut self.mentions, |row| (row.time, row.symbol));
        keep_last(&mut self.stocks, |row| row.symbol);
    }
}

/// Sorts `rows` by `key`; of those with the same key, the one that came last stays.
fn keep_last<T, K: Ord>(rows: &mut Vec<T>, key: impl Fn(&T) -> K) {
    // Stable, and a mere look at rows that are in order already, which they mostly are.
    rows.sort_by_key(&key);
    rows.dedup_by(|later, kept| {
        let same = key(later) == key(kept);
        if same {
            mem::swap(later, kept);
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_into_order_and_the_last_of_a_key_stays() {
        let mut rows = vec![(2, 'a'), (1, 'b'), (2, 'c'), (3, 'd'), (1, 'e'), (2, 'f')];
        keep_last(&mut rows, |row| row.0);
        assert_eq!(rows, [(1, 'e'), (2, 'f'), (3, 'd')]);
    }
}
