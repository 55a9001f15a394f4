//! A stock's fundamentals.

use alerts::condition::EpsBasis;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Decimal, Price, Symbol};
use store::model::StockFacts;

use super::Fundamentals;
use super::figures::ratio;
use crate::stocks::Stocks;
use foundation::ServiceError;

impl Stocks {
    /// Returns a stock's fundamentals.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn fundamentals(&self, symbol: Symbol) -> Result<Fundamentals, ServiceError> {
        self.prices.require_stock_to_read(symbol).await?;
        let facts = self.catalog.get(symbol).map(|entry| entry.facts.clone());
        let price = self.evaluator.last_observed(symbol).map(|observed| observed.price);
        let today = new_york_date(self.ports.clock.now());
        // The engine's earnings are per today's share, also after a split.
        let [eps_ttm, eps_forward] = self.evaluator.read(|engine| {
            [EpsBasis::Trailing, EpsBasis::Forward].map(|which| engine.earnings_per_share(symbol, which))
        });
        Ok(fundamentals(
            &facts.unwrap_or_default(),
            (eps_ttm, eps_forward),
            price,
            today,
        ))
    }
}

fn fundamentals(
    facts: &StockFacts,
    (eps_ttm, eps_forward): (Option<Decimal>, Option<Decimal>),
    price: Option<Price>,
    today: Date,
) -> Fundamentals {
    let known = facts.fundamentals.as_ref();
    let pe = |eps: Option<Decimal>| price.zip(eps).and_then(|(price, eps)| ratio(price, eps));
    let dividends = &facts.dividends;
    let ahead = dividends.iter().filter(|dividend| dividend.ex_date >= today);
    let dividend = ahead
        .min_by_key(|dividend| dividend.ex_date)
        .or_else(|| dividends.iter().max_by_key(|dividend| dividend.ex_date));
    let earnings = facts.earnings.iter().map(|earnings| earnings.date);
    Fundamentals {
        eps_ttm,
        eps_forward,
        pe_ratio: pe(eps_ttm),
        forward_pe: pe(eps_forward),
        market_cap: known.and_then(|known| known.market_cap),
        dividend_yield: known.and_then(|known| known.dividend_yield),
        dividend_amount: known.and_then(|known| known.dividend_amount),
        ex_dividend_date: dividend.map(|dividend| dividend.ex_date),
        dividend_payment_date: dividend.and_then(|dividend| dividend.payment_date),
        next_earnings_date: earnings.filter(|&date| date >= today).min(),
        beta: known.and_then(|known| known.beta),
        updated_at: known.map(|known| known.as_of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use market::records::{DividendRow, EarningsRow, EarningsTime};

    fn shown(today: Date) -> Fundamentals {
        let symbol: Symbol = "ACME".parse().unwrap();
        let dividend = |ex_date: Date| DividendRow {
            symbol,
            ex_date,
            payment_date: Some(ex_date.saturating_add(jiff::Span::new().days(10))),
            amount: None,
        };
        let earnings = |date| EarningsRow {
            symbol,
            date,
            time: EarningsTime::Unknown,
            eps_estimate: None,
        };
        let facts = StockFacts {
            fundamentals: None,
            earnings: vec![earnings(date(2024, 2, 1)), earnings(date(2024, 5, 2))],
            dividends: vec![dividend(date(2024, 2, 9)), dividend(date(2024, 5, 10))],
        };
        let eps = "-2".parse().ok();
        fundamentals(&facts, ("4".parse().ok(), eps), "189.20".parse().ok(), today)
    }

    #[test]
    fn next_dates_include_today() {
        let before = shown(date(2024, 5, 2));
        assert_eq!(before.next_earnings_date, Some(date(2024, 5, 2)));
        assert_eq!(before.ex_dividend_date, Some(date(2024, 5, 10)));
        assert_eq!(before.dividend_payment_date, Some(date(2024, 5, 20)));
    }

    #[test]
    fn past_dividend_is_shown_without_a_future_one_but_past_earnings_are_not() {
        let after = shown(date(2024, 5, 11));
        assert_eq!(after.next_earnings_date, None);
        assert_eq!(after.ex_dividend_date, Some(date(2024, 5, 10)));
    }

    #[test]
    fn loss_has_no_ratio() {
        let shown = shown(date(2024, 5, 2));
        assert_eq!(shown.pe_ratio.map(|pe| pe.to_string()).as_deref(), Some("47.3"));
        assert_eq!((shown.eps_forward, shown.forward_pe), ("-2".parse().ok(), None));
    }
}
