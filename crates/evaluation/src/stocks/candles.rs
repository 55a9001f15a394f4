//! Daily candles.
//!
//! Bars are stored as delivered, in the shares of their day. A chart needs one scale, so candles are in today's
//! shares.

use jiff::civil::Date;
use jiff::{Span, Timestamp};
use market::calendar::new_york_date;
use market::{Bar, Symbol};

use crate::market::sessions::bar_of;
use crate::stocks::Stocks;
use foundation::ServiceError;

/// Earlier than any bar.
const EARLIEST_BAR_DATE: Date = Date::constant(1800, 1, 1);

/// The range of candles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CandleRange {
    /// One month.
    Month1,
    /// Three months.
    Month3,
    /// Six months.
    Month6,
    /// One year.
    Year1,
    /// Five years.
    Year5,
    /// All candles.
    Max,
}

impl CandleRange {
    /// Returns the first day of the range that ends today.
    pub(crate) fn from(self, now: Timestamp) -> Date {
        let today = new_york_date(now);
        let back = match self {
            Self::Month1 => Span::new().months(1),
            Self::Month3 => Span::new().months(3),
            Self::Month6 => Span::new().months(6),
            Self::Year1 => Span::new().years(1),
            Self::Year5 => Span::new().years(5),
            Self::Max => return EARLIEST_BAR_DATE,
        };
        today.saturating_sub(back)
    }
}

impl Stocks {
    /// Returns a stock's daily candles in today's shares, oldest first. The last one is the running session's, as of
    /// now.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a stock that is not in the catalog.
    pub async fn candles(&self, symbol: Symbol, range: CandleRange) -> Result<Vec<Bar>, ServiceError> {
        self.prices.require_stock_to_read(symbol).await?;
        self.prices.note_read(symbol).await;
        let now = self.ports.clock.now();
        let mut bars = self.ports.store.bars(symbol, range.from(now)).await?;
        for bar in &mut bars {
            *bar = self.evaluator.in_todays_shares(symbol, *bar);
        }
        let running = self.running_candle(symbol);
        let newer = |bar: &Bar| bars.last().is_none_or(|last| last.date < bar.date);
        bars.extend(running.filter(newer));
        Ok(bars)
    }

    fn running_candle(&self, symbol: Symbol) -> Option<Bar> {
        self.evaluator.read(|engine| {
            let is_running = engine.is_session_running(symbol);
            is_running.then(|| engine.observed_session(symbol).as_ref().map(bar_of))?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn month_before_the_end_of_march_is_the_end_of_february() {
        let now = "2024-03-31T16:00:00Z".parse().unwrap();
        assert_eq!(CandleRange::Month1.from(now), date(2024, 2, 29));
        assert_eq!(CandleRange::Year5.from(now), date(2019, 3, 31));
        assert_eq!(CandleRange::Max.from(now), EARLIEST_BAR_DATE);
    }
}
