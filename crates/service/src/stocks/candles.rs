//! Daily candles.
//!
//! Bars are kept as they were delivered, in the shares of their day. Whoever looks at a chart wants one scale, so
//! candles are brought into today's shares.

use jiff::civil::Date;
use jiff::{Span, Timestamp};
use market::calendar::new_york_date;
use market::records::SplitRow;
use market::{Bar, Symbol};

use crate::{Service, ServiceError};

/// No bar is older.
const BEFORE_EVERYTHING: Date = Date::constant(1800, 1, 1);

/// How far back candles go.
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
    /// All there is.
    Max,
}

impl CandleRange {
    /// The first day of the range that ends today.
    fn from(self, now: Timestamp) -> Date {
        let today = new_york_date(now);
        let back = match self {
            Self::Month1 => Span::new().months(1),
            Self::Month3 => Span::new().months(3),
            Self::Month6 => Span::new().months(6),
            Self::Year1 => Span::new().years(1),
            Self::Year5 => Span::new().years(5),
            Self::Max => return BEFORE_EVERYTHING,
        };
        today.saturating_sub(back)
    }
}

impl Service {
    /// A stock's daily candles in today's shares, oldest first; the last one is the running session's, as far as it
    /// has come.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a stock that is not in the catalog.
    pub async fn candles(&self, symbol: Symbol, range: CandleRange) -> Result<Vec<Bar>, ServiceError> {
        self.require_stock(symbol)?;
        let now = self.0.ports.clock.now();
        let mut bars = self.0.ports.store.bars(symbol, range.from(now)).await?;
        let splits = self.0.ports.store.splits().await?;
        // One that is not applied yet does not count yet: the last price is still in the old shares.
        let applied = splits
            .iter()
            .filter(|(_, is_applied)| *is_applied)
            .map(|(split, _)| split);
        let of_stock: Vec<_> = applied.filter(|split| split.symbol == symbol).copied().collect();
        for bar in &mut bars {
            *bar = in_todays_shares(*bar, &of_stock);
        }
        let running = self.running_candle(symbol);
        let newer = |bar: &Bar| bars.last().is_none_or(|last| last.date < bar.date);
        bars.extend(running.filter(newer));
        Ok(bars)
    }

    fn running_candle(&self, symbol: Symbol) -> Option<Bar> {
        let so_far = self.0.evaluator.read(|engine| {
            let is_running = engine.is_session_running(symbol);
            is_running.then(|| engine.session_so_far(symbol)).flatten()
        })?;
        Some(Bar {
            date: so_far.date,
            open: so_far.open,
            high: so_far.high,
            low: so_far.low,
            close: so_far.last,
            volume: so_far.volume.unwrap_or(0),
        })
    }
}

/// A bar of its day's shares in today's: `splits`, those of its stock in the order of their dates, that came after it
/// are applied to it.
fn in_todays_shares(bar: Bar, splits: &[SplitRow]) -> Bar {
    let later = splits.iter().filter(|split| split.date > bar.date);
    later.fold(bar, |bar, split| bar.after_split(split.ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn bar(date: Date) -> Bar {
        let price = |text: &str| text.parse().unwrap();
        Bar {
            date,
            open: price("600"),
            high: price("640"),
            low: price("560"),
            close: price("612.60"),
            volume: 1_000,
        }
    }

    fn splits() -> Vec<SplitRow> {
        let split = |date, ratio: &str| SplitRow {
            symbol: "ACME".parse().unwrap(),
            date,
            ratio: ratio.parse().unwrap(),
        };
        vec![split(date(2021, 7, 20), "4"), split(date(2024, 6, 10), "10")]
    }

    #[test]
    fn a_bar_is_divided_by_every_split_that_came_after_it() {
        let shown = |day| {
            let bar = in_todays_shares(bar(day), &splits());
            (bar.close.to_string(), bar.volume)
        };
        assert_eq!(shown(date(2021, 7, 19)), ("15.315".to_owned(), 40_000));
        assert_eq!(shown(date(2024, 6, 7)), ("61.26".to_owned(), 10_000));
    }

    #[test]
    fn the_first_session_in_new_shares_is_left_as_it_is() {
        let shown = |day| in_todays_shares(bar(day), &splits()).close.to_string();
        assert_eq!(shown(date(2021, 7, 20)), "61.26");
        assert_eq!(shown(date(2024, 6, 10)), "612.6");
    }

    #[test]
    fn a_month_back_from_the_end_of_march_is_the_end_of_february() {
        let now = "2024-03-31T16:00:00Z".parse().unwrap();
        assert_eq!(CandleRange::Month1.from(now), date(2024, 2, 29));
        assert_eq!(CandleRange::Year5.from(now), date(2019, 3, 31));
        assert_eq!(CandleRange::Max.from(now), BEFORE_EVERYTHING);
    }
}
