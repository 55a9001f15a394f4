//! The volatility of a stock, which separates a level from daily noise.
//!
//! There are two measures. The **average true range** is the range of the price within a day; it measures distances
//! between levels and margins beyond them. The **standard deviation of daily logarithmic returns** grows with the
//! square root of time, so it scales targets some weeks ahead.
//!
//! Sources: the average true range: J. Welles Wilder, *New Concepts in Technical Trading Systems* (1978): the true
//! range is the largest of high − low, |high − previous close| and |low − previous close|; the first average is the
//! mean of fourteen, after that `average = (13 × average + today's) ÷ 14`. The standard deviation: Hull, *Options,
//! Futures, and Other Derivatives*, "Estimating volatility from historical data" (with the divisor n − 1), over 20
//! returns.
//!
//! Both are kept within bounds. A stock that does not trade gets no levels next to its price, and a stock with jumps
//! in its data (an unreported split, a halt) gets no levels far out of reach. [`VolatilityBasis`] says when a bound
//! applies.

use market::{Bar, History};

use crate::probability::HORIZON_SESSIONS;

/// The minimum number of completed sessions for a measurement: a deviation of 20 returns takes 21 closes.
pub const MIN_SESSIONS: usize = 21;

/// The number of true ranges in Wilder's average.
const ATR_PERIOD: u32 = 14;

/// The number of returns in the standard deviation.
const SIGMA_RETURNS: usize = 20;

/// The assumed daily deviation without enough history: about that of an average US stock.
const ASSUMED_SIGMA: f64 = 0.02;
/// The daily range for a deviation of one: √(8 ÷ π), the expected range of Brownian motion.
///
/// Source: Parkinson, "The Extreme Value Method for Estimating the Variance of the Rate of Return", *Journal of
/// Business* 53 (1980).
const RANGE_PER_SIGMA: f64 = 1.595_769_121_605_731;

/// The minimum and maximum daily deviation.
const SIGMA_BOUNDS: (f64, f64) = (0.0025, 0.10);
/// The minimum and maximum average true range, relative to the price.
const ATR_BOUNDS: (f64, f64) = (0.004, 0.16);

/// The volatility of a stock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Volatility {
    /// The standard deviation of a day's logarithmic return, within bounds; 0.02 is 2 %.
    pub sigma_day: f64,
    /// The average true range relative to the last close, within bounds.
    pub range_day: f64,
    /// The basis of the two figures.
    pub basis: VolatilityBasis,
}

/// The basis of volatility figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VolatilityBasis {
    /// Both are measured.
    Measured,
    /// The stock moves less than the minimum; the lower bound applies.
    Floored,
    /// The stock moves more than the maximum; the upper bound applies.
    Capped,
    /// There are too few sessions for a measurement; the values of an average stock are assumed.
    Assumed,
}

impl Volatility {
    /// Measures the volatility over the completed sessions.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let measured = sigma(history).zip(average_true_range(history));
        let Some((sigma, range)) = measured.filter(|_| history.len() >= MIN_SESSIONS) else {
            return Self {
                sigma_day: ASSUMED_SIGMA,
                range_day: ASSUMED_SIGMA * RANGE_PER_SIGMA,
                basis: VolatilityBasis::Assumed,
            };
        };
        let basis = if sigma > SIGMA_BOUNDS.1 || range > ATR_BOUNDS.1 {
            VolatilityBasis::Capped
        } else if sigma < SIGMA_BOUNDS.0 || range < ATR_BOUNDS.0 {
            VolatilityBasis::Floored
        } else {
            VolatilityBasis::Measured
        };
        Self {
            sigma_day: sigma.clamp(SIGMA_BOUNDS.0, SIGMA_BOUNDS.1),
            range_day: range.clamp(ATR_BOUNDS.0, ATR_BOUNDS.1),
            basis,
        }
    }

    /// The standard deviation over [`HORIZON_SESSIONS`], as a logarithm.
    #[must_use]
    pub fn sigma_horizon(&self) -> f64 {
        self.sigma_day * f64::from(HORIZON_SESSIONS).sqrt()
    }
}

/// The standard deviation of the last 20 daily logarithmic returns.
fn sigma(history: &History) -> Option<f64> {
    let closes: Vec<f64> = history.bars().rev().take(SIGMA_RETURNS + 1).map(close).collect();
    // Newest first: the sign of a return does not change the deviation.
    let returns: Vec<f64> = closes.windows(2).map(|pair| (pair[0] / pair[1]).ln()).collect();
    if returns.len() < SIGMA_RETURNS {
        return None;
    }
    let count = returns.len() as f64;
    let mean = returns.iter().sum::<f64>() / count;
    let squares: f64 = returns.iter().map(|r| (r - mean).powi(2)).sum();
    Some((squares / (count - 1.0)).sqrt())
}

/// Wilder's average true range over the kept bars, relative to the last close.
fn average_true_range(history: &History) -> Option<f64> {
    let period = f64::from(ATR_PERIOD);
    let (mut seen, mut average) = (0, 0.0);
    for (before, bar) in history.bars().zip(history.bars().skip(1)) {
        let range = true_range(close(before), bar);
        if seen < ATR_PERIOD {
            seen += 1;
            average += range / period;
        } else {
            average = (average * (period - 1.0) + range) / period;
        }
    }
    let last = history.last()?;
    (seen == ATR_PERIOD).then(|| average / close(last))
}

fn true_range(previous_close: f64, bar: &Bar) -> f64 {
    let (high, low) = (bar.high.as_f64(), bar.low.as_f64());
    (high - low)
        .max((high - previous_close).abs())
        .max((low - previous_close).abs())
}

fn close(bar: &Bar) -> f64 {
    bar.close.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{history_of_closes, history_of_ranges};

    #[test]
    fn alternating_factor_has_its_logarithm_as_deviation() {
        let closes = (0..40).map(|day| if day % 2 == 0 { 100.0 } else { 102.0 });
        let volatility = Volatility::of(&history_of_closes(closes));
        // Ten returns of +ln 1.02 and ten of −ln 1.02: mean 0, variance ln² × 20 ÷ 19.
        let expected = 1.02_f64.ln() * (20.0_f64 / 19.0).sqrt();
        assert!((volatility.sigma_day - expected).abs() < 1e-9);
        assert_eq!(volatility.basis, VolatilityBasis::Measured);
    }

    #[test]
    fn average_true_range_includes_gaps() {
        let steady = Volatility::of(&history_of_ranges((0..60).map(|_| (101.0, 99.0, 100.0))));
        assert!((steady.range_day - 0.02).abs() < 1e-12);
        // The last day opens far above: its true range reaches down to the previous close.
        let mut days = vec![(101.0, 99.0, 100.0); 60];
        days.push((112.0, 110.0, 111.0));
        let gap = Volatility::of(&history_of_ranges(days));
        assert!((gap.range_day - (13.0 * 2.0 + 12.0) / 14.0 / 111.0).abs() < 1e-12);
    }

    #[test]
    fn measurement_needs_twenty_one_closes() {
        let closes = |count: i32| (0..count).map(|day| 100.0 + f64::from(day % 3));
        assert_eq!(
            Volatility::of(&history_of_closes(closes(20))).basis,
            VolatilityBasis::Assumed
        );
        assert_eq!(
            Volatility::of(&history_of_closes(closes(21))).basis,
            VolatilityBasis::Measured
        );
    }

    #[test]
    fn flat_price_gets_the_floor_and_jumping_price_the_cap() {
        let still = Volatility::of(&history_of_closes((0..60).map(|_| 5.0)));
        assert_eq!(still.basis, VolatilityBasis::Floored);
        let leaps = (0..60).map(|day| if day % 2 == 0 { 10.0 } else { 100.0 });
        let wild = Volatility::of(&history_of_closes(leaps));
        assert_eq!(wild.basis, VolatilityBasis::Capped);
        assert!(still.sigma_day > 0.0 && wild.sigma_horizon() < 0.5);
    }
}
