//! Price performance over a period.
//!
//! It starts from the last close at the beginning of the period, so that nothing of the period is left out, or from
//! the first close of a stock that was listed later. Like candles, it is in today's shares, without dividends.

use jiff::civil::Date;
use market::{Decimal, Price, PriceChange, Symbol};

use super::sessions::session_of;
use crate::market::MarketOverview;
use crate::stocks::CandleRange;
use foundation::ServiceError;

/// A close or a last price, with its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatedPrice {
    /// The session's date.
    pub date: Date,
    /// The price in today's shares.
    pub price: Price,
}

/// The performance of a stock over a period.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockPerformance {
    /// The stock.
    pub symbol: Symbol,
    /// Its name.
    pub name: String,
    /// The price at the beginning; `None` without a bar.
    pub first: Option<DatedPrice>,
    /// Its last price; `None` while none is known.
    pub last: Option<DatedPrice>,
    /// The change between them in percent; `None` if they are of the same session.
    pub return_pct: Option<Decimal>,
}

impl MarketOverview {
    /// Returns the performance of stocks over a period. Unknown stocks are left out.
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
