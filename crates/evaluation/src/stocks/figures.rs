//! A stock's figures, read from the engine.

use jiff::Timestamp;
use market::calendar::new_york_date;
use market::records::StockRow;
use market::{Decimal, Price, PriceChange, Symbol};

use super::{QuoteView, StockView};
use crate::evaluator::Evaluator;

/// Computes the figures of stocks.
pub struct Figures<'a> {
    pub(crate) evaluator: &'a Evaluator,
    pub(crate) now: Timestamp,
}

impl Figures<'_> {
    /// Returns a stock of the catalog with its figures.
    pub(crate) fn view(&self, row: StockRow) -> StockView {
        let symbol = row.symbol;
        let QuoteView {
            price: last_price,
            previous_close,
            change,
            change_percent,
            volume,
            at: updated_at,
            ..
        } = self.quote(symbol);
        let today = new_york_date(self.now);
        self.evaluator.read(|engine| {
            let (high_52w, low_52w) = engine.extremes_52_weeks(symbol, today).unzip();
            let volume_ma = |sessions: u16| {
                let sum = engine.history(symbol)?.sum_of_volumes(usize::from(sessions))?;
                mean(sum, sessions)
            };
            StockView {
                last_price,
                previous_close,
                change,
                change_percent,
                high_52w,
                low_52w,
                rsi: engine.current_rsi(symbol),
                ma_50: engine.current_average(symbol, 50),
                ma_200: engine.current_average(symbol, 200),
                volume,
                volume_ma_20: volume_ma(20),
                volume_ma_100: volume_ma(100),
                updated_at,
                row,
            }
        })
    }

    /// Returns a stock's last price, its change, and its volume.
    pub fn quote(&self, symbol: Symbol) -> QuoteView {
        let observed = self.evaluator.last_observed(symbol);
        let price = observed.map(|observed| observed.price);
        let previous_close = self.evaluator.previous_close(symbol);
        let change = previous_close
            .zip(price)
            .map(|(from, to)| PriceChange::between(from, to));
        QuoteView {
            symbol,
            price,
            previous_close,
            change: change.map(|change| change.absolute),
            change_percent: change.map(|change| change.percent),
            volume: self.volume(symbol),
            at: observed.map(|observed| observed.at),
        }
    }

    /// Returns the volume of the running session so far, or of the last session, in shares.
    fn volume(&self, symbol: Symbol) -> Option<i64> {
        self.evaluator.read(|engine| {
            if engine.is_session_running(symbol) {
                engine.observed_session(symbol)?.volume
            } else {
                Some(engine.history(symbol)?.last()?.volume)
            }
        })
    }
}

/// Returns `sum ÷ count` of shares, rounded to a millionth.
fn mean(sum: i64, count: u16) -> Option<Decimal> {
    let micros = i128::from(sum) * i128::from(market::MICROS_PER_UNIT);
    quotient(micros, i128::from(count))
}

/// Returns `price ÷ per_share`; `None` unless `per_share` is above zero.
pub fn ratio(price: Price, per_share: Decimal) -> Option<Decimal> {
    let micros = i128::from(price.micros()) * i128::from(market::MICROS_PER_UNIT);
    (per_share > Decimal::ZERO)
        .then(|| quotient(micros, i128::from(per_share.micros())))
        .flatten()
}

/// Returns the absolute distance between `from` and `to` in percent of `from`; `None` if it is not defined.
pub fn distance_pct(from: i128, to: i128) -> Option<Decimal> {
    let way = (to - from)
        .checked_abs()?
        .checked_mul(100 * i128::from(market::MICROS_PER_UNIT))?;
    quotient(way, from.checked_abs()?)
}

/// Returns `micros ÷ count`, rounded to the nearest, halves up, for nonnegative values; `None` for a count of zero
/// or a result out of range.
fn quotient(micros: i128, count: i128) -> Option<Decimal> {
    let rounded = micros.checked_add(count / 2)?.checked_div(count)?;
    i64::try_from(rounded).ok().map(Decimal::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn ratio_is_rounded_to_a_millionth_and_needs_positive_earnings() {
        let pe = |price: &str, eps: &str| ratio(price.parse().unwrap(), decimal(eps)).map(|ratio| ratio.to_string());
        assert_eq!(pe("100", "3").as_deref(), Some("33.333333"));
        assert_eq!(pe("200", "3").as_deref(), Some("66.666667"));
        assert_eq!(pe("100", "0"), None);
        assert_eq!(pe("100", "-2"), None);
    }

    #[test]
    fn distance_is_in_percent_of_the_present_value() {
        let distance = |from, to| distance_pct(from, to).map(|distance| distance.to_string());
        assert_eq!(distance(200, 210).as_deref(), Some("5"));
        assert_eq!(distance(210, 200).as_deref(), Some("4.761905"));
        assert_eq!(distance(-50, 50).as_deref(), Some("200"));
        assert_eq!(distance(0, 50), None);
    }
}
