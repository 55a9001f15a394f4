//! The top movers of the market.

use std::cmp::Reverse;

use jiff::civil::Date;
use market::Decimal;

use super::listed::SessionCompanies;
use super::{Coverage, ListedQuote};
use crate::market::MarketOverview;

/// The companies that moved the most in the latest session; equals are ordered by symbol.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TopMovers {
    /// The session; `None` while no price is known.
    pub session: Option<Date>,
    /// The number of compared companies.
    pub coverage: Coverage,
    /// The companies that rose, the largest rise first.
    pub gainers: Vec<ListedQuote>,
    /// The companies that fell, the largest fall first.
    pub losers: Vec<ListedQuote>,
    /// The companies with the highest volume in shares.
    pub most_active: Vec<ListedQuote>,
}

impl MarketOverview {
    /// Returns the companies that moved the most in the latest session with known prices, at most `limit` in each list.
    /// Companies that are not traded any more, or have no close of the session before, are left out.
    #[must_use]
    pub fn top_movers(&self, limit: usize) -> TopMovers {
        let SessionCompanies { session, of, listed } = self.session_companies();
        let mut found = top(listed, limit);
        found.session = session;
        found.coverage.of = of;
        found
    }
}

fn top(mut companies: Vec<ListedQuote>, limit: usize) -> TopMovers {
    companies.retain(|company| company.quote.previous_close.is_some());
    companies.sort_by_key(|company| company.row.symbol);
    let ranked = |rank: &dyn Fn(&ListedQuote) -> Option<Decimal>| {
        let ranks = companies
            .iter()
            .filter_map(|company| Some((Reverse(rank(company)?), company)));
        let mut ranks: Vec<_> = ranks.collect();
        // Stable: equals stay in the order of their symbols.
        ranks.sort_by_key(|(rank, _)| *rank);
        let best = ranks.into_iter().take(limit);
        best.map(|(_, company)| company.clone()).collect()
    };
    let moved = |company: &ListedQuote| company.quote.change.zip(company.quote.change_percent);
    let rise = |company: &ListedQuote| {
        moved(company)
            .filter(|(by, _)| *by > Decimal::ZERO)
            .map(|(_, percent)| percent)
    };
    let fall = |company: &ListedQuote| {
        let fell = moved(company).filter(|(by, _)| *by < Decimal::ZERO);
        fell.map(|(_, percent)| Decimal::from_micros(-percent.micros()))
    };
    let activity = |company: &ListedQuote| {
        company
            .quote
            .volume
            .filter(|shares| *shares > 0)
            .map(Decimal::from_micros)
    };
    TopMovers {
        session: None,
        coverage: Coverage {
            stocks: u32::try_from(companies.len()).unwrap_or(u32::MAX),
            of: 0,
        },
        gainers: ranked(&rise),
        losers: ranked(&fall),
        most_active: ranked(&activity),
    }
}

#[cfg(test)]
mod tests {
    use market::records::StockRow;
    use market::{Price, PriceChange};
    use proptest::prelude::*;

    use super::*;
    use crate::stocks::QuoteView;

    fn company(symbol: &str, previous: i64, price: i64, volume: i64) -> ListedQuote {
        let symbol = symbol.parse().unwrap();
        let micros = |dollars: i64| Price::from_micros(dollars * 1_000_000).ok();
        let change = micros(previous)
            .zip(micros(price))
            .map(|(from, to)| PriceChange::between(from, to));
        ListedQuote {
            row: StockRow::named(symbol, "A company"),
            quote: QuoteView {
                symbol,
                price: micros(price),
                previous_close: micros(previous),
                change: change.map(|change| change.absolute),
                change_percent: change.map(|change| change.percent),
                volume: Some(volume),
                at: None,
            },
        }
    }

    fn symbols(companies: &[ListedQuote]) -> Vec<&str> {
        companies.iter().map(|company| company.row.symbol.as_str()).collect()
    }

    #[test]
    fn unchanged_stocks_are_in_no_list_and_equals_are_ordered_by_symbol() {
        let companies = vec![
            company("FLAT", 100, 100, 5),
            company("UPB", 100, 110, 7),
            company("UPA", 10, 11, 7),
            company("UPC", 100, 120, 0),
            company("DOWN", 100, 99, 9),
            company("DEEP", 100, 50, 1),
            company("NEW", 0, 50, 100),
        ];
        let movers = top(companies, 10);
        assert_eq!(movers.coverage.stocks, 6, "NEW has no close of the session before");
        assert_eq!(symbols(&movers.gainers), ["UPC", "UPA", "UPB"]);
        assert_eq!(symbols(&movers.losers), ["DEEP", "DOWN"]);
        assert_eq!(symbols(&movers.most_active), ["DOWN", "UPA", "UPB", "FLAT", "DEEP"]);
    }

    proptest! {
        #[test]
        fn each_list_equals_a_naive_ranking(
            moves in prop::collection::vec((0_i64..6, 1_i64..6, 0_i64..4), 0..30), limit in 0_usize..8
        ) {
            let companies: Vec<_> = moves.iter().enumerate()
                .map(|(n, &(previous, price, volume))| company(&format!("S{n:02}"), previous, price, volume))
                .collect();
            let movers = top(companies.clone(), limit);
            // The companies before another one in a list: those that moved further, and equals with a smaller symbol.
            let listed = |n: usize, score: &dyn Fn(usize) -> Option<(i64, i64)>| {
                score(n).is_some_and(|(up, down)| {
                    let before = (0..moves.len()).filter(|&m| score(m).is_some_and(|(other_up, other_down)| {
                        let (ours, theirs) = (up * other_down, other_up * down);
                        theirs > ours || (theirs == ours && m < n)
                    }));
                    before.count() < limit
                })
            };
            let rise = |n: usize| { let (from, to, _) = moves[n]; (from > 0 && to > from).then_some((to - from, from)) };
            let fall = |n: usize| { let (from, to, _) = moves[n]; (to < from).then_some((from - to, from)) };
            let busy = |n: usize| { let (from, _, shares) = moves[n]; (from > 0 && shares > 0).then_some((shares, 1)) };
            for (list, score) in [
                (&movers.gainers, &rise as &dyn Fn(usize) -> Option<(i64, i64)>),
                (&movers.losers, &fall),
                (&movers.most_active, &busy),
            ] {
                let mut found = symbols(list);
                found.sort_unstable();
                let expected: Vec<String> = (0..moves.len()).filter(|&n| listed(n, score)).map(|n| format!("S{n:02}")).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
