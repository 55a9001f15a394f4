//! The trend of a stock, by its moving averages.
//!
//! Sources: the order of price, 50-day and 200-day average and the direction of the average as signs of a trend: John
//! J. Murphy, *Technical Analysis of the Financial Markets* (1999), chapter 9. The results of such rules on a century
//! of the Dow: Brock, Lakonishok and LeBaron, "Simple Technical Trading Rules and the Stochastic Properties of Stock
//! Returns", *Journal of Finance* 47 (1992). Whether such rules predict anything is disputed; `docs/analyst.md`
//! reports what followed the alerts based on them.
//!
//! As everywhere in this workspace, the current price stands in for today's close.

use market::{History, Price};

/// The number of sessions of the faster average.
pub const FAST_SESSIONS: u16 = 50;
/// The number of sessions of the slower average.
pub const SLOW_SESSIONS: u16 = 200;
/// The number of sessions over which the slope of the faster average is measured.
const SLOPE_SESSIONS: usize = 20;
/// The slope over [`SLOPE_SESSIONS`] below which an average counts as flat: 1 %.
const FLAT_SLOPE: f64 = 0.01;

/// The direction of a trend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrendDirection {
    /// Up: the price is above a rising average, which is above the slower average, if there is one.
    Up,
    /// Down: the opposite.
    Down,
    /// No clear trend: the signs contradict one another or are flat.
    Mixed,
    /// There are too few sessions for the faster average.
    Unknown,
}

impl TrendDirection {
    /// The name in JSON.
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

/// The averages of a stock and the trend that they show.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trend {
    /// The direction.
    pub direction: TrendDirection,
    /// The average of 50 sessions in dollars.
    pub sma_fast: Option<f64>,
    /// The average of 200 sessions in dollars.
    pub sma_slow: Option<f64>,
    /// The relative change of the faster average over 20 sessions; 0.01 is 1 %.
    pub slope: Option<f64>,
}

impl Trend {
    /// Computes the trend from the completed sessions and the price.
    #[must_use]
    pub fn of(history: &History, price: Price) -> Self {
        let (fast, slow) = (usize::from(FAST_SESSIONS), usize::from(SLOW_SESSIONS));
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

    /// The relative distance of the faster average above the slower one.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some(self.sma_fast? / self.sma_slow? - 1.0)
    }
}

/// The average of `period` closes as of `back` sessions ago, counted from the running session.
fn sma_back(history: &History, period: usize, back: usize) -> Option<f64> {
    let closes = history.bars().rev().skip(back.checked_sub(1)?).take(period);
    let closes: Vec<f64> = closes.map(|bar| bar.close.as_f64()).collect();
    (closes.len() == period).then(|| closes.iter().sum::<f64>() / period as f64)
}

fn direction(price: f64, fast: Option<f64>, slow: Option<f64>, slope: Option<f64>) -> TrendDirection {
    let Some(fast) = fast else {
        return TrendDirection::Unknown;
    };
    let (rises, falls) = (
        slope.is_none_or(|slope| slope > FLAT_SLOPE),
        slope.is_none_or(|slope| slope < -FLAT_SLOPE),
    );
    if price > fast && rises && slow.is_none_or(|slow| fast > slow) {
        TrendDirection::Up
    } else if price < fast && falls && slow.is_none_or(|slow| fast < slow) {
        TrendDirection::Down
    } else {
        TrendDirection::Mixed
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
    fn steady_rise_is_up_and_steady_fall_is_down() {
        assert_eq!(
            Trend::of(&steps(252, 100.0, 0.5), price("226")).direction,
            TrendDirection::Up
        );
        assert_eq!(
            Trend::of(&steps(252, 200.0, -0.5), price("74")).direction,
            TrendDirection::Down
        );
    }

    #[test]
    fn flat_price_has_no_trend() {
        let trend = Trend::of(&steps(252, 100.0, 0.0), price("100"));
        assert_eq!((trend.direction, trend.gap()), (TrendDirection::Mixed, Some(0.0)));
    }

    #[test]
    fn trend_is_known_from_forty_nine_sessions_and_today() {
        assert_eq!(
            Trend::of(&steps(48, 100.0, 1.0), price("150")).direction,
            TrendDirection::Unknown
        );
        assert_eq!(
            Trend::of(&steps(49, 100.0, 1.0), price("150")).direction,
            TrendDirection::Up
        );
    }

    #[test]
    fn break_below_the_average_ends_an_upward_trend() {
        assert_eq!(
            Trend::of(&steps(252, 100.0, 0.5), price("200")).direction,
            TrendDirection::Mixed
        );
    }

    #[test]
    fn slope_is_the_change_of_the_average_over_twenty_sessions() {
        let trend = Trend::of(&steps(252, 100.0, 0.5), price("226"));
        // Today is day 252: the average of days 203–252 against that of days 183–232.
        let expected = (100.0 + 0.5 * 227.5) / (100.0 + 0.5 * 207.5) - 1.0;
        assert!((trend.slope.unwrap() - expected).abs() < 1e-9);
    }
}
