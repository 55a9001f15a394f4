//! Where a stock is going, by its moving averages.
//!
//! Sources: the order of price, 50-day and 200-day average and the direction of the average as signs of a trend: John
//! J. Murphy, *Technical Analysis of the Financial Markets* (1999), chapter 9; how rules of this kind did on a century
//! of the Dow: Brock, Lakonishok and LeBaron, "Simple Technical Trading Rules and the Stochastic Properties of Stock
//! Returns", *Journal of Finance* 47 (1992). That such rules say anything about what comes is disputed; what followed
//! the alerts made of them is in `docs/analyst.md`.
//!
//! As everywhere in this house the current price stands in for today's close.

use market::{History, Price};

/// The sessions of the faster average.
pub const FAST: u16 = 50;
/// The sessions of the slower average.
pub const SLOW: u16 = 200;
/// Over how many sessions the direction of the faster average is taken.
const SLOPE_SESSIONS: usize = 20;
/// An average that moved by less than this in [`SLOPE_SESSIONS`] is flat: 1 %.
const FLAT: f64 = 0.01;

/// Where a stock is going.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Up: the price is above an average that rises, and that one above the slower, where there is one.
    Up,
    /// Down: the other way round.
    Down,
    /// Neither: the signs contradict one another, or there is nothing to see.
    Mixed,
    /// There are too few sessions for the faster average.
    Unknown,
}

impl Direction {
    /// The name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
        }
    }
}

/// The averages of a stock and what they say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trend {
    /// What they say.
    pub direction: Direction,
    /// The average of 50 sessions in dollars.
    pub sma_fast: Option<f64>,
    /// The average of 200 sessions in dollars.
    pub sma_slow: Option<f64>,
    /// By what part the faster average has changed in 20 sessions; 0.01 is 1 %.
    pub slope: Option<f64>,
}

impl Trend {
    /// Of the completed sessions of a stock and its price.
    #[must_use]
    pub fn of(history: &History, price: Price) -> Self {
        let (fast, slow) = (usize::from(FAST), usize::from(SLOW));
        let sma_fast = history.sma_at(fast, price.micros());
        let sma_slow = history.sma_at(slow, price.micros());
        let slope = sma_fast
            .zip(sma_back(history, fast, SLOPE_SESSIONS))
            .map(|(now, before)| now / before - 1.0);
        Self {
            direction: direction(price.as_f64(), sma_fast, sma_slow, slope),
            sma_fast,
            sma_slow,
            slope,
        }
    }

    /// By what part the faster average is above the slower one.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some(self.sma_fast? / self.sma_slow? - 1.0)
    }
}

/// The average of `period` closes as it was `back` sessions ago, counted from a session that is going on.
fn sma_back(history: &History, period: usize, back: usize) -> Option<f64> {
    let closes = history.bars().rev().skip(back.checked_sub(1)?).take(period);
    let closes: Vec<f64> = closes.map(|bar| bar.close.as_f64()).collect();
    (closes.len() == period).then(|| closes.iter().sum::<f64>() / period as f64)
}

fn direction(price: f64, fast: Option<f64>, slow: Option<f64>, slope: Option<f64>) -> Direction {
    let Some(fast) = fast else {
        return Direction::Unknown;
    };
    let (rises, falls) = (
        slope.is_none_or(|slope| slope > FLAT),
        slope.is_none_or(|slope| slope < -FLAT),
    );
    if price > fast && rises && slow.is_none_or(|slow| fast > slow) {
        Direction::Up
    } else if price < fast && falls && slow.is_none_or(|slow| fast < slow) {
        Direction::Down
    } else {
        Direction::Mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{history_of_closes, price};

    fn steps(count: i32, from: f64, step: f64) -> History {
        history_of_closes((0..count).map(|day| from + step * f64::from(day)))
    }

    #[test]
    fn a_price_that_rises_for_a_year_is_in_an_upward_trend_and_one_that_falls_in_a_downward_one() {
        assert_eq!(
            Trend::of(&steps(252, 100.0, 0.5), price("226")).direction,
            Direction::Up
        );
        assert_eq!(
            Trend::of(&steps(252, 200.0, -0.5), price("74")).direction,
            Direction::Down
        );
    }

    #[test]
    fn a_price_that_stands_still_has_no_trend() {
        let trend = Trend::of(&steps(252, 100.0, 0.0), price("100"));
        assert_eq!((trend.direction, trend.gap()), (Direction::Mixed, Some(0.0)));
    }

    #[test]
    fn without_fifty_sessions_the_trend_is_unknown_and_with_forty_nine_and_today_it_is_known() {
        assert_eq!(
            Trend::of(&steps(48, 100.0, 1.0), price("150")).direction,
            Direction::Unknown
        );
        assert_eq!(Trend::of(&steps(49, 100.0, 1.0), price("150")).direction, Direction::Up);
    }

    #[test]
    fn a_break_below_the_average_ends_an_upward_trend() {
        assert_eq!(
            Trend::of(&steps(252, 100.0, 0.5), price("200")).direction,
            Direction::Mixed
        );
    }

    #[test]
    fn the_slope_is_that_of_the_average_over_twenty_sessions() {
        let trend = Trend::of(&steps(252, 100.0, 0.5), price("226"));
        // Today is day 252: the average of days 203–252 against that of days 183–232.
        let expected = (100.0 + 0.5 * 227.5) / (100.0 + 0.5 * 207.5) - 1.0;
        assert!((trend.slope.unwrap() - expected).abs() < 1e-9);
    }
}
