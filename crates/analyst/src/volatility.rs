//! How far a stock moves, so that a level can be told from a day's noise.
//!
//! Two measures, each where it is usually taken. The **average true range** says how far the price wanders within a
//! day; distances between levels and buffers beyond them are counted in it. The **standard deviation of daily
//! logarithmic returns** grows with the square root of time, so it scales targets some weeks away.
//!
//! Sources: the average true range: J. Welles Wilder, *New Concepts in Technical Trading Systems* (1978): the true
//! range is the largest of high − low, |high − previous close| and |low − previous close|; the first average is the
//! mean of fourteen, after that `average = (13 × average + today's) ÷ 14`. The standard deviation: Hull, *Options,
//! Futures, and Other Derivatives*, "Estimating volatility from historical data" (with the divisor n − 1), over 20
//! returns.
//!
//! Both are kept within bounds, so that a stock that does not trade gets no levels a hair from its price, and one
//! whose data jump (a split that nobody told, a halt) gets none beyond all reason. [`Basis`] says when that happened.

use market::{Bar, History};

use crate::chance::HORIZON_SESSIONS;

/// With fewer completed sessions nothing is measured: a deviation of 20 returns takes 21 closes.
pub const MIN_BARS: usize = 21;

/// How many true ranges Wilder averages.
const ATR_PERIOD: u32 = 14;

/// How many returns the deviation is taken of.
const SIGMA_RETURNS: usize = 20;

/// What is assumed while there is too little history: about what a middling US stock moves.
const ASSUMED_SIGMA: f64 = 0.02;
/// The range of a day that goes with a deviation of one: √(8 ÷ π), the expected range of Brownian motion.
///
/// Source: Parkinson, "The Extreme Value Method for Estimating the Variance of the Rate of Return", *Journal of
/// Business* 53 (1980).
const RANGE_PER_SIGMA: f64 = 1.595_769_121_605_731;

/// The least and the most that is taken for a daily deviation.
const SIGMA_BOUNDS: (f64, f64) = (0.0025, 0.10);
/// The least and the most that is taken for an average true range, as a part of the price.
const ATR_BOUNDS: (f64, f64) = (0.004, 0.16);

/// How far a stock moves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Volatility {
    /// The standard deviation of a day's logarithmic return, within bounds; 0.02 is 2 %.
    pub sigma_day: f64,
    /// The average true range as a part of the last close, within bounds.
    pub range_day: f64,
    /// Where the two come from.
    pub basis: Basis,
}

/// Where figures of volatility come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// They were measured.
    Measured,
    /// The stock moves less than anything that is taken; the lower bound stands in.
    Floored,
    /// The stock moves more than anything that is taken; the upper bound stands in.
    Capped,
    /// There are too few sessions to measure anything; a middling stock is assumed.
    Assumed,
}

impl Volatility {
    /// Of the completed sessions of a stock.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let measured = sigma(history).zip(average_true_range(history));
        let Some((sigma, range)) = measured.filter(|_| history.len() >= MIN_BARS) else {
            return Self {
                sigma_day: ASSUMED_SIGMA,
                range_day: ASSUMED_SIGMA * RANGE_PER_SIGMA,
                basis: Basis::Assumed,
            };
        };
        let basis = if sigma > SIGMA_BOUNDS.1 || range > ATR_BOUNDS.1 {
            Basis::Capped
        } else if sigma < SIGMA_BOUNDS.0 || range < ATR_BOUNDS.0 {
            Basis::Floored
        } else {
            Basis::Measured
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
    // Newest first: the sign of a return does not change how far they scatter.
    let returns: Vec<f64> = closes.windows(2).map(|pair| (pair[0] / pair[1]).ln()).collect();
    if returns.len() < SIGMA_RETURNS {
        return None;
    }
    let count = returns.len() as f64;
    let mean = returns.iter().sum::<f64>() / count;
    let squares: f64 = returns.iter().map(|r| (r - mean).powi(2)).sum();
    Some((squares / (count - 1.0)).sqrt())
}

/// Wilder's average true range over the kept bars, as a part of the last close.
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
    fn a_price_that_goes_up_and_down_by_the_same_factor_scatters_by_its_logarithm() {
        let closes = (0..40).map(|day| if day % 2 == 0 { 100.0 } else { 102.0 });
        let volatility = Volatility::of(&history_of_closes(closes));
        // Ten returns of +ln 1.02 and ten of −ln 1.02: mean 0, variance ln² × 20 ÷ 19.
        let expected = 1.02_f64.ln() * (20.0_f64 / 19.0).sqrt();
        assert!((volatility.sigma_day - expected).abs() < 1e-9);
        assert_eq!(volatility.basis, Basis::Measured);
    }

    #[test]
    fn a_constant_range_is_its_own_average_and_a_gap_counts_as_range() {
        let steady = Volatility::of(&history_of_ranges((0..60).map(|_| (101.0, 99.0, 100.0))));
        assert!((steady.range_day - 0.02).abs() < 1e-12);
        // The last day opens far above: its true range reaches down to the close of before.
        let mut days = vec![(101.0, 99.0, 100.0); 60];
        days.push((112.0, 110.0, 111.0));
        let gap = Volatility::of(&history_of_ranges(days));
        assert!((gap.range_day - (13.0 * 2.0 + 12.0) / 14.0 / 111.0).abs() < 1e-12);
    }

    #[test]
    fn twenty_closes_are_too_few_and_twenty_one_are_enough() {
        let closes = |count: i32| (0..count).map(|day| 100.0 + f64::from(day % 3));
        assert_eq!(Volatility::of(&history_of_closes(closes(20))).basis, Basis::Assumed);
        assert_eq!(Volatility::of(&history_of_closes(closes(21))).basis, Basis::Measured);
    }

    #[test]
    fn what_does_not_move_gets_the_floor_and_what_leaps_the_cap() {
        let still = Volatility::of(&history_of_closes((0..60).map(|_| 5.0)));
        assert_eq!(still.basis, Basis::Floored);
        let leaps = (0..60).map(|day| if day % 2 == 0 { 10.0 } else { 100.0 });
        let wild = Volatility::of(&history_of_closes(leaps));
        assert_eq!(wild.basis, Basis::Capped);
        assert!(still.sigma_day > 0.0 && wild.sigma_horizon() < 0.5);
    }
}
