//! Records: facts about stocks that sources deliver, the store keeps and the service processes.
//!
//! Each record is one validated fact about one stock. All crates use these types, so they are defined here.

use jiff::Timestamp;
use jiff::civil::Date;

use crate::{Bar, Decimal, IntradayBar, Price, SplitRatio, Symbol};

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
    /// The payment date.
    pub payment_date: Option<Date>,
    /// Dollars per share, zero or more.
    pub amount: Option<Decimal>,
}

/// The time of day at which a company reports its earnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EarningsTime {
    /// Before the session.
    BeforeOpen,
    /// After the session.
    AfterClose,
    /// Unknown.
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

/// Earnings per share and other fundamentals, known from a date on.
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
    /// The market capitalisation in US dollars.
    pub market_cap: Option<Decimal>,
    /// The yearly dividend as a percentage of the price.
    pub dividend_yield: Option<Decimal>,
    /// The yearly dividend in dollars per share.
    pub dividend_amount: Option<Decimal>,
    /// The price's sensitivity to the market's moves; 1 means equal moves.
    pub beta: Option<Decimal>,
}

/// The direction of an insider's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionSide {
    /// The insider acquired shares.
    Buy,
    /// The insider disposed of shares.
    Sell,
}

/// An insider's transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsiderRow {
    /// The stock.
    pub symbol: Symbol,
    /// The date of the filing, from which the transaction is known.
    pub filed_on: Date,
    /// The date of the transaction.
    pub traded_on: Option<Date>,
    /// The insider's name.
    pub insider: String,
    /// The transaction code of the SEC's Form 4 in upper case: `P` for a purchase, `S` for a sale, and others.
    pub code: char,
    /// The direction of the transaction.
    pub side: TransactionSide,
    /// The number of shares, zero or more.
    pub shares: Decimal,
    /// Dollars per share, zero or more; zero for a grant.
    pub price: Decimal,
}

/// A filing of an insider that an amendment has replaced. Its transactions are no longer valid; the amendment
/// contains the valid ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawnFiling {
    /// The stock.
    pub symbol: Symbol,
    /// The insider's name.
    pub insider: String,
    /// The date of the withdrawn filing; `None` means any earlier filing of the same period.
    pub filed_on: Option<Date>,
    /// The period of both filings: the day of the earliest transaction.
    pub traded_from: Option<Date>,
    /// The date of the amendment. It withdraws neither itself nor later filings.
    pub amended_on: Date,
}

impl WithdrawnFiling {
    /// Whether this withdraws `filing`: the transactions of one insider in one stock that were filed on one day.
    ///
    /// Without the filing's date the period identifies it. A filing's period begins with its earliest transaction, so
    /// a filing of another period does not match, even if it was filed in between.
    #[must_use]
    pub fn withdraws(&self, filing: &[InsiderRow]) -> bool {
        let Some(one) = filing.first() else {
            return false;
        };
        if (one.symbol, &one.insider) != (self.symbol, &self.insider) {
            return false;
        }
        match (self.filed_on, self.traded_from) {
            (Some(filed_on), _) => one.filed_on == filed_on,
            (None, Some(_)) if one.filed_on >= self.amended_on => false,
            (None, Some(period)) => filing.iter().filter_map(|row| row.traded_on).min() == Some(period),
            (None, None) => false,
        }
    }
}

/// The number of mentions of a stock in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MentionRow {
    /// The stock.
    pub symbol: Symbol,
    /// The hour, as the instant given by the source.
    pub time: Timestamp,
    /// The number of mentions.
    pub mentions: u32,
}

/// A stock in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockRow {
    /// The stock.
    pub symbol: Symbol,
    /// The company's name.
    pub name: String,
    /// The type of security: `stock`, `etf`, `adr`, ...
    pub kind: Option<String>,
    /// The company's sector.
    pub sector: Option<String>,
    /// The company's industry within the sector.
    pub industry: Option<String>,
    /// The company's home country.
    pub country: Option<String>,
    /// The exchange on which the stock is traded.
    pub exchange: Option<String>,
    /// The International Securities Identification Number.
    pub isin: Option<String>,
    /// Whether it is still traded.
    pub is_active: bool,
}

impl StockRow {
    /// Returns a stock of which only the name is known.
    #[must_use]
    pub fn named(symbol: Symbol, name: impl Into<String>) -> Self {
        Self {
            symbol,
            name: name.into(),
            kind: None,
            sector: None,
            industry: None,
            country: None,
            exchange: None,
            isin: None,
            is_active: true,
        }
    }
}

/// One observation of a stock's price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteRow {
    /// The stock.
    pub symbol: Symbol,
    /// The price of the last trade.
    pub price: Price,
    /// The session's volume so far, in shares (a total, not an increment).
    pub volume: Option<i64>,
    /// The time of the price; `None` means now.
    pub time: Option<Timestamp>,
    /// The best bid.
    pub bid: Option<Price>,
    /// The best ask.
    pub ask: Option<Price>,
    /// The volume-weighted average price of the session so far.
    pub vwap: Option<Price>,
}

/// A completed session of a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarRow {
    /// The stock.
    pub symbol: Symbol,
    /// The session.
    pub bar: Bar,
}

/// A bar of a part of a session of a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntradayRow {
    /// The stock.
    pub symbol: Symbol,
    /// The bar.
    pub bar: IntradayBar,
}

/// A batch of records of any kinds from one source, to be processed as of one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Catalog entries.
    pub stocks: Vec<StockRow>,
    /// Prices.
    pub quotes: Vec<QuoteRow>,
    /// Completed sessions.
    pub bars: Vec<BarRow>,
    /// Bars of parts of completed sessions.
    pub intraday_bars: Vec<IntradayRow>,
    /// Earnings per share and other fundamentals.
    pub fundamentals: Vec<FundamentalsRow>,
    /// Earnings dates.
    pub earnings: Vec<EarningsRow>,
    /// Dividends.
    pub dividends: Vec<DividendRow>,
    /// Splits.
    pub splits: Vec<SplitRow>,
    /// Withdrawn insider filings. They are removed before the batch's transactions are added.
    pub withdrawn_filings: Vec<WithdrawnFiling>,
    /// Insiders' transactions.
    pub insider_transactions: Vec<InsiderRow>,
    /// Hourly mentions.
    pub mentions: Vec<MentionRow>,
}

impl Batch {
    /// The total number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        let Self {
            stocks,
            quotes,
            bars,
            intraday_bars,
            fundamentals,
            earnings,
            dividends,
            splits,
            withdrawn_filings,
            insider_transactions,
            mentions,
        } = self;
        let market = stocks.len() + quotes.len() + bars.len() + intraday_bars.len() + fundamentals.len();
        let dated = earnings.len() + dividends.len() + splits.len();
        market + dated + withdrawn_filings.len() + insider_transactions.len() + mentions.len()
    }

    /// Whether the batch is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the records of `later`, kind by kind.
    pub fn append(&mut self, mut later: Self) {
        self.stocks.append(&mut later.stocks);
        self.quotes.append(&mut later.quotes);
        self.bars.append(&mut later.bars);
        self.intraday_bars.append(&mut later.intraday_bars);
        self.fundamentals.append(&mut later.fundamentals);
        self.earnings.append(&mut later.earnings);
        self.dividends.append(&mut later.dividends);
        self.splits.append(&mut later.splits);
        self.withdrawn_filings.append(&mut later.withdrawn_filings);
        self.insider_transactions.append(&mut later.insider_transactions);
        self.mentions.append(&mut later.mentions);
    }

    /// Keeps only the records of stocks for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(Symbol) -> bool) {
        self.stocks.retain(|row| keep(row.symbol));
        self.quotes.retain(|row| keep(row.symbol));
        self.bars.retain(|row| keep(row.symbol));
        self.intraday_bars.retain(|row| keep(row.symbol));
        self.fundamentals.retain(|row| keep(row.symbol));
        self.earnings.retain(|row| keep(row.symbol));
        self.dividends.retain(|row| keep(row.symbol));
        self.splits.retain(|row| keep(row.symbol));
        self.withdrawn_filings.retain(|row| keep(row.symbol));
        self.insider_transactions.retain(|row| keep(row.symbol));
        self.mentions.retain(|row| keep(row.symbol));
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn trade(day: i8, filed: i8) -> InsiderRow {
        InsiderRow {
            symbol: "AAPL".parse().unwrap(),
            filed_on: date(2024, 3, filed),
            traded_on: Some(date(2024, 3, day)),
            insider: "DOE JANE".to_owned(),
            code: 'P',
            side: TransactionSide::Buy,
            shares: Decimal::from_micros(1),
            price: Decimal::from_micros(1),
        }
    }

    /// Amended on the 20th.
    fn withdrawn(filed_on: Option<Date>, traded_from: Option<Date>) -> WithdrawnFiling {
        WithdrawnFiling {
            symbol: "AAPL".parse().unwrap(),
            insider: "DOE JANE".to_owned(),
            filed_on,
            traded_from,
            amended_on: date(2024, 3, 20),
        }
    }

    #[test]
    fn withdraws_a_filing_by_its_date() {
        let withdrawn = withdrawn(Some(date(2024, 3, 6)), None);
        assert!(withdrawn.withdraws(&[trade(4, 6)]));
        assert!(!withdrawn.withdraws(&[trade(4, 7)]));
        assert!(!withdrawn.withdraws(&[]));
    }

    #[test]
    fn withdraws_a_filing_by_its_period_without_a_date() {
        let withdrawn = withdrawn(None, Some(date(2024, 3, 4)));
        assert!(withdrawn.withdraws(&[trade(5, 6), trade(4, 6)]));
        assert!(!withdrawn.withdraws(&[trade(5, 7)]), "a later period");
        assert!(!withdrawn.withdraws(&[trade(3, 6), trade(4, 6)]), "an earlier period");
        assert!(!withdrawn.withdraws(&[trade(4, 20)]), "the amendment itself");
        assert!(withdrawn.withdraws(&[trade(4, 19)]));
    }

    #[test]
    fn does_not_withdraw_filings_of_other_insiders_or_stocks() {
        let withdrawn = withdrawn(Some(date(2024, 3, 6)), Some(date(2024, 3, 4)));
        let of = |insider: &str, symbol: &str| InsiderRow {
            insider: insider.to_owned(),
            symbol: symbol.parse().unwrap(),
            ..trade(4, 6)
        };
        assert!(withdrawn.withdraws(&[of("DOE JANE", "AAPL")]));
        assert!(!withdrawn.withdraws(&[of("DOE JOHN", "AAPL")]));
        assert!(!withdrawn.withdraws(&[of("DOE JANE", "MSFT")]));
    }
}
