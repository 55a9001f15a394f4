//! How far prices moved over a period.
//!
//! From the last close there was when the period began, so that nothing of the period is left out; a stock that came later
//! is followed from its first close on. In shares of today, without dividends: as candles show it.

use jiff::civil::Date;
use market::{Decimal, Price, PriceChange, Symbol};

use super::listed::session_of;
use crate::ServiceError;
use crate::market::MarketOverview;
use crate::stocks::CandleRange;

/// A close or a last price, with its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatedPrice {
    /// The session's date.
    pub date: Date,
    /// The price in shares of today.
    pub price: Price,
}

/// How far a stock moved over a period.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockPerformance {
    /// The stock.
    pub symbol: Symbol,
    /// Its name.
    pub name: String,
    /// Where it came from; `None` without a bar.
    pub first: Option<DatedPrice>,
    /// Its last price; `None` while none is known.
    pub last: Option<DatedPrice>,
    /// From the one to the other in percent; `None` unless a session lies between them.
    pub return_pct: Option<Decimal>,
}

impl MarketOverview {
    /// How far stocks moved over a period; one that is unknown is left out.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn stock_performance(
        &self,
        symbols: &[Symbol],
        period: CandleRange,
    ) -> Result<Vec<StockPerformance>, ServiceError> {
        let mut found = Vec::with_capacity(symbols.len());
        for &symbol in symbols {
            if self.prices.is_listed(symbol) {
                found.push(self.performance_of(symbol, period).await?);
            }
        }
        Ok(found)
    }

    async fn performance_of(&self, symbol: Symbol, period: CandleRange) -> Result<StockPerformance, ServiceError> {
        let begins = period.from(self.ports.clock.now());
        let bar = self.ports.store.bar_at(symbol, begins).await?;
        let first = bar.map(|bar| DatedPrice {
            date: bar.date,
            price: self.evaluator.in_todays_shares(symbol, bar).close,
        });
        let quote = self.stocks.figures().quote(symbol);
        let calendar = &self.settings.calendar;
        let session = quote.at.and_then(|at| session_of(calendar, at));
        let last = session.zip(quote.price).map(|(date, price)| DatedPrice { date, price });
        let moved = first.zip(last).filter(|(first, last)| first.date < last.date);
        Ok(StockPerformance {
            symbol,
            name: self.stocks.stock_row(symbol).name,
            first,
            last,
            return_pct: moved.map(|(first, last)| PriceChange::between(first.price, last.price).percent),
        })
    }
}
