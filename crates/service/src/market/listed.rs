//! Which stocks of the catalog stand for the market as a whole, and which are companies.
//!
//! A catalog says of what it holds what it is, or it does not: then well-known symbols tell the indices. What the market is
//! measured by (movers, breadth) are companies; funds would count them twice.

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::records::StockRow;
use market::{Calendar, Symbol};

use crate::market::MarketOverview;
use crate::stocks::QuoteView;

/// Index funds and indices that go by these symbols everywhere: the S&P 500, the Nasdaq 100, the Dow Jones Industrial
/// Average, the Russell 2000, and the whole market.
const WELL_KNOWN: &[&str] = &[
    "SPY", "VOO", "IVV", "SPX", "QQQ", "NDX", "DIA", "DJI", "IWM", "RUT", "VTI",
];

/// A stock of the catalog with its last price.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedQuote {
    /// Its place in the catalog.
    pub row: StockRow,
    /// Its last price.
    pub quote: QuoteView,
}

/// How many companies a figure of the whole market counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// The companies that are counted: those with a price of the session and a close of the one before.
    pub stocks: u32,
    /// The companies of the catalog that are traded.
    pub of: u32,
}

/// The companies with a price of the latest session.
pub(super) struct CompaniesOfTheDay {
    /// The session; `None` while no price is known.
    pub(super) session: Option<Date>,
    /// The companies of the catalog that are traded, with or without a price.
    pub(super) of: u32,
    /// Those with a price of the session.
    pub(super) listed: Vec<ListedQuote>,
}

/// Whether a stock stands for a market: the benchmark, an index, or a well-known fund of one.
pub(super) fn is_index(row: &StockRow, benchmark: Symbol) -> bool {
    row.symbol == benchmark || is_of_kind(row, &["index"]) || WELL_KNOWN.contains(&row.symbol.as_str())
}

/// Whether a stock is a company's. One of which nothing is told is taken for one.
pub(super) fn is_company(row: &StockRow, benchmark: Symbol) -> bool {
    !is_index(row, benchmark) && !is_of_kind(row, &["etf", "etn", "etp", "fund"])
}

fn is_of_kind(row: &StockRow, kinds: &[&str]) -> bool {
    let kind = row.kind.as_deref().unwrap_or_default();
    kinds.iter().any(|name| kind.eq_ignore_ascii_case(name))
}

/// The session that an instant belongs to: the one it falls into or, between two, the one before.
pub(super) fn session_of(calendar: &Calendar, at: Timestamp) -> Option<Date> {
    let today = new_york_date(at);
    let begun = || calendar.session(today).filter(|session| session.open <= at);
    let session = calendar.session_at(at).or_else(begun);
    let session = session.or_else(|| calendar.previous_session_before(today));
    session.map(|session| session.date)
}

/// The last session that is over.
pub(crate) fn completed_session(calendar: &Calendar, now: Timestamp) -> Option<Date> {
    let last = session_of(calendar, now)?;
    let is_running = calendar.session_at(now).is_some();
    if is_running {
        calendar.previous_session_before(last).map(|session| session.date)
    } else {
        Some(last)
    }
}

impl MarketOverview {
    /// The companies that are traded, with their prices, as far as these belong to the latest session of which any is
    /// known: what was not seen since moved on another day.
    pub(super) fn companies_of_the_day(&self) -> CompaniesOfTheDay {
        let (benchmark, calendar) = (self.settings.benchmark, &self.settings.calendar);
        let figures = self.stocks.figures();
        let all = self.catalog.all();
        let companies: Vec<_> = all
            .iter()
            .filter(|entry| entry.row.is_active && is_company(&entry.row, benchmark))
            .collect();
        let dated: Vec<(Date, ListedQuote)> = companies
            .iter()
            .filter_map(|entry| {
                let quote = figures.quote(entry.row.symbol);
                let session = session_of(calendar, quote.at?)?;
                quote.price?;
                let row = entry.row.clone();
                Some((session, ListedQuote { row, quote }))
            })
            .collect();
        let latest = dated.iter().map(|(session, _)| *session).max();
        let of_latest = dated.into_iter().filter(|(session, _)| Some(*session) == latest);
        CompaniesOfTheDay {
            session: latest,
            of: u32::try_from(companies.len()).unwrap_or(u32::MAX),
            listed: of_latest.map(|(_, listed)| listed).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn row(symbol: &str, kind: Option<&str>) -> StockRow {
        StockRow {
            kind: kind.map(str::to_owned),
            ..StockRow::named(symbol.parse().unwrap(), symbol)
        }
    }

    #[test]
    fn indices_are_told_by_kind_or_symbol_and_funds_are_no_companies() {
        let benchmark = "WORLD".parse().unwrap();
        for (symbol, kind, index, company) in [
            ("WORLD", Some("stock"), true, false),
            ("QQQ", None, true, false),
            ("QQQ", Some("etf"), true, false),
            ("OMX", Some("Index"), true, false),
            ("XLE", Some("ETF"), false, false),
            ("ACME", Some("adr"), false, true),
            ("ACME", None, false, true),
        ] {
            let row = row(symbol, kind);
            let found = (is_index(&row, benchmark), is_company(&row, benchmark));
            assert_eq!(found, (index, company), "{symbol} {kind:?}");
        }
    }

    #[test]
    fn an_instant_between_sessions_belongs_to_the_one_before() {
        let nyse = Calendar::nyse();
        let (thursday, friday) = (date(2024, 3, 7), date(2024, 3, 8));
        for (at, begun, completed) in [
            ("2024-03-08T14:29:59Z", thursday, thursday),
            ("2024-03-08T14:30:00Z", friday, thursday),
            ("2024-03-08T21:00:00Z", friday, thursday),
            ("2024-03-08T21:00:01Z", friday, friday),
            ("2024-03-10T12:00:00Z", friday, friday),
        ] {
            let at = at.parse().unwrap();
            let found = (session_of(&nyse, at), completed_session(&nyse, at));
            assert_eq!(found, (Some(begun), Some(completed)), "{at}");
        }
    }

    #[test]
    fn where_the_market_never_closes_a_day_is_over_at_midnight() {
        let always = Calendar::nyse().always_open();
        let (friday, saturday) = (date(2024, 3, 8), date(2024, 3, 9));
        for (at, begun) in [("2024-03-10T04:59:59Z", saturday), ("2024-03-09T04:59:59Z", friday)] {
            let at = at.parse().unwrap();
            assert_eq!(session_of(&always, at), Some(begun));
            assert_eq!(completed_session(&always, at), begun.yesterday().ok());
        }
    }
}
