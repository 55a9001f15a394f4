//! Classifies the stocks of the catalog as indices, funds or companies.
//!
//! The kind in the catalog decides. Without one, well-known symbols identify the indices. Market figures (movers,
//! breadth) count companies only: funds would count them twice.

use jiff::civil::Date;
use market::Symbol;
use market::records::StockRow;

use super::sessions::session_of;
use crate::market::MarketOverview;
use crate::stocks::QuoteView;

/// Well-known symbols of index funds and indices: the S&P 500, the Nasdaq 100, the Dow Jones Industrial Average,
/// the Russell 2000, and the total market.
const WELL_KNOWN_INDEX_SYMBOLS: &[&str] = &[
    "SPY", "VOO", "IVV", "SPX", "QQQ", "NDX", "DIA", "DJI", "IWM", "RUT", "VTI",
];

/// A stock of the catalog with its last price.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedQuote {
    /// Its catalog row.
    pub row: StockRow,
    /// Its last price.
    pub quote: QuoteView,
}

/// The number of companies that a market figure is based on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// The counted companies: those with a price in the session and a close of the session before.
    pub stocks: u32,
    /// The traded companies of the catalog.
    pub of: u32,
}

/// The companies with a price of the latest session.
pub(super) struct SessionCompanies {
    /// The session; `None` while no price is known.
    pub(super) session: Option<Date>,
    /// The traded companies of the catalog, with or without a price.
    pub(super) of: u32,
    /// The companies with a price in the session.
    pub(super) listed: Vec<ListedQuote>,
}

/// Whether a stock represents a market: the benchmark, an index, or a well-known index fund.
pub(super) fn is_index(row: &StockRow, benchmark: Symbol) -> bool {
    row.symbol == benchmark || is_of_kind(row, &["index"]) || WELL_KNOWN_INDEX_SYMBOLS.contains(&row.symbol.as_str())
}

/// Whether a stock is a company. A stock of unknown kind is.
pub(super) fn is_company(row: &StockRow, benchmark: Symbol) -> bool {
    !is_index(row, benchmark) && !is_of_kind(row, &["etf", "etn", "etp", "fund"])
}

fn is_of_kind(row: &StockRow, kinds: &[&str]) -> bool {
    let kind = row.kind.as_deref().unwrap_or_default();
    kinds.iter().any(|name| kind.eq_ignore_ascii_case(name))
}

impl MarketOverview {
    /// Returns the traded companies with their prices, if these belong to the latest session with any price. A price of
    /// an earlier session says nothing about this one.
    pub(super) fn session_companies(&self) -> SessionCompanies {
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
        SessionCompanies {
            session: latest,
            of: u32::try_from(companies.len()).unwrap_or(u32::MAX),
            listed: of_latest.map(|(_, listed)| listed).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market::sessions::completed_session;
    use jiff::civil::date;
    use market::Calendar;

    fn row(symbol: &str, kind: Option<&str>) -> StockRow {
        StockRow {
            kind: kind.map(str::to_owned),
            ..StockRow::named(symbol.parse().unwrap(), symbol)
        }
    }

    #[test]
    fn indices_are_identified_by_kind_or_symbol_and_funds_are_not_companies() {
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
    fn instant_between_sessions_belongs_to_the_previous_one() {
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
    fn day_of_a_market_that_never_closes_ends_at_midnight() {
        let always = Calendar::nyse().always_open();
        let (friday, saturday) = (date(2024, 3, 8), date(2024, 3, 9));
        for (at, begun) in [("2024-03-10T04:59:59Z", saturday), ("2024-03-09T04:59:59Z", friday)] {
            let at = at.parse().unwrap();
            assert_eq!(session_of(&always, at), Some(begun));
            assert_eq!(completed_session(&always, at), begun.yesterday().ok());
        }
    }
}
