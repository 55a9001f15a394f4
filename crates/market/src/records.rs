//! Records: what sources deliver about the market, the store keeps and the service takes in.
//!
//! Each is one fact about one stock, read and found sound. They are nouns of the whole house, so they live here and
//! not with any of those who hand them on.

use jiff::Timestamp;
use jiff::civil::Date;

use crate::{Bar, Decimal, Price, SplitRatio, Symbol};

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
    /// What all shares are worth together, in US dollars.
    pub market_cap: Option<Decimal>,
    /// The yearly dividend as a percentage of the price.
    pub dividend_yield: Option<Decimal>,
    /// The yearly dividend in dollars per share.
    pub dividend_amount: Option<Decimal>,
    /// How strongly the price moves with the market's; 1 is as strongly.
    pub beta: Option<Decimal>,
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

/// A filing of an insider that was amended: what it says does not stand any more. What does, the amendment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawnFiling {
    /// The stock.
    pub symbol: Symbol,
    /// Who filed.
    pub insider: String,
    /// The date of the filing that does not stand; any earlier one of the same period, if that is not told.
    pub filed_on: Option<Date>,
    /// The period that both are about: the day of the earliest trade.
    pub traded_from: Option<Date>,
    /// The date of the amendment. It withdraws nothing that was filed later, nor itself.
    pub amended_on: Date,
}

impl WithdrawnFiling {
    /// Whether it is this filing that does not stand: the trades of one insider with one stock that were filed on one day.
    ///
    /// Without the date of the filing it is known by its period. A filing's period begins with its earliest trade, so one
    /// of another period is not taken for it, though it may be filed between the two.
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

/// A stock of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockRow {
    /// The stock.
    pub symbol: Symbol,
    /// The company's name.
    pub name: String,
    /// What it is: `stock`, `etf`, `adr`, ...
    pub kind: Option<String>,
    /// The company's sector.
    pub sector: Option<String>,
    /// The company's industry within the sector.
    pub industry: Option<String>,
    /// Where the company is at home.
    pub country: Option<String>,
    /// Where the stock is traded.
    pub exchange: Option<String>,
    /// The International Securities Identification Number.
    pub isin: Option<String>,
    /// Whether it is still traded.
    pub is_active: bool,
}

impl StockRow {
    /// A stock of which nothing but the name is known.
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
    /// The session's shares so far (no increment).
    pub volume: Option<i64>,
    /// When the price was made; `None` is now.
    pub time: Option<Timestamp>,
    /// The best price that a buyer offers.
    pub bid: Option<Price>,
    /// The best price that a seller asks.
    pub ask: Option<Price>,
}

/// A completed session of a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarRow {
    /// The stock.
    pub symbol: Symbol,
    /// The session.
    pub bar: Bar,
}

/// A delivery of a source: what became known, of any kinds, to be taken in as of one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Stocks for the catalog.
    pub stocks: Vec<StockRow>,
    /// Observations.
    pub quotes: Vec<QuoteRow>,
    /// Completed sessions.
    pub bars: Vec<BarRow>,
    /// Earnings per share and other figures.
    pub fundamentals: Vec<FundamentalsRow>,
    /// Earnings dates.
    pub earnings: Vec<EarningsRow>,
    /// Dividends.
    pub dividends: Vec<DividendRow>,
    /// Splits.
    pub splits: Vec<SplitRow>,
    /// Insiders' filings that do not stand any more: they go before the trades of the same delivery come.
    pub withdrawn_filings: Vec<WithdrawnFiling>,
    /// Insiders' trades.
    pub insider_transactions: Vec<InsiderRow>,
    /// Counts of mentions.
    pub mentions: Vec<MentionRow>,
}

impl Batch {
    /// How many records it holds, of all kinds together.
    #[must_use]
    pub fn len(&self) -> usize {
        let Self {
            stocks,
            quotes,
            bars,
            fundamentals,
            earnings,
            dividends,
            splits,
            withdrawn_filings,
            insider_transactions,
            mentions,
        } = self;
        let prices = stocks.len() + quotes.len() + bars.len();
        let dates = earnings.len() + dividends.len() + splits.len();
        let insiders = withdrawn_filings.len() + insider_transactions.len();
        prices + dates + fundamentals.len() + insiders + mentions.len()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the records of `later` behind those of the same kind.
    pub fn append(&mut self, mut later: Self) {
        self.stocks.append(&mut later.stocks);
        self.quotes.append(&mut later.quotes);
        self.bars.append(&mut later.bars);
        self.fundamentals.append(&mut later.fundamentals);
        self.earnings.append(&mut later.earnings);
        self.dividends.append(&mut later.dividends);
        self.splits.append(&mut later.splits);
        self.withdrawn_filings.append(&mut later.withdrawn_filings);
        self.insider_transactions.append(&mut later.insider_transactions);
        self.mentions.append(&mut later.mentions);
    }

    /// Keeps the records of the stocks for which `keep` says so.
    pub fn retain(&mut self, keep: impl Fn(Symbol) -> bool) {
        self.stocks.retain(|row| keep(row.symbol));
        self.quotes.retain(|row| keep(row.symbol));
        self.bars.retain(|row| keep(row.symbol));
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
            side: Side::Buy,
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
    fn a_filing_is_withdrawn_by_its_date() {
        let withdrawn = withdrawn(Some(date(2024, 3, 6)), None);
        assert!(withdrawn.withdraws(&[trade(4, 6)]));
        assert!(!withdrawn.withdraws(&[trade(4, 7)]));
        assert!(!withdrawn.withdraws(&[]));
    }

    #[test]
    fn a_filing_without_a_date_is_withdrawn_by_its_period() {
        let withdrawn = withdrawn(None, Some(date(2024, 3, 4)));
        assert!(withdrawn.withdraws(&[trade(5, 6), trade(4, 6)]));
        assert!(!withdrawn.withdraws(&[trade(5, 7)]), "a later period");
        assert!(!withdrawn.withdraws(&[trade(3, 6), trade(4, 6)]), "an earlier period");
        assert!(!withdrawn.withdraws(&[trade(4, 20)]), "the amendment itself");
        assert!(withdrawn.withdraws(&[trade(4, 19)]));
    }

    #[test]
    fn a_filing_of_another_insider_or_stock_is_never_withdrawn() {
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
