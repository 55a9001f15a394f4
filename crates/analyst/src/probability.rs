//! The probability that a price reaches a level, for a random walk without drift.
//!
//! The probability is a yardstick, not a forecast: it puts levels of calm and volatile stocks on one scale and tells
//! the reader how far a level is. `docs/analyst.md` compares it with recorded prices.

/// The horizon of an analysis in sessions: about a month.
pub const HORIZON_SESSIONS: u32 = 20;

/// The probability, 0–1, that a random walk without drift moves at least `distance` within `sessions`. `distance` is
/// the natural logarithm of a ratio of prices; its sign does not matter. `sigma_day` is the standard deviation of the
/// daily logarithmic change. Formula: 2 × (1 − Φ(distance ÷ (sigma_day × √sessions))).
///
/// Source: the reflection principle of Brownian motion, e.g. Karatzas and Shreve, *Brownian Motion and Stochastic
/// Calculus* (2nd ed. 1991), section 2.6. Volatility grows with the square root of time: Hull, *Options, Futures, and
/// Other Derivatives*, chapter on the Black–Scholes–Merton model. A walk that is observed only at a few moments a day
/// touches slightly less often.
#[must_use]
pub fn touch_probability(distance: f64, sigma_day: f64, sessions: u32) -> f64 {
    let spread = sigma_day * f64::from(sessions).sqrt();
    if spread <= 0.0 {
        return if distance == 0.0 { 1.0 } else { 0.0 };
    }
    (2.0 * upper_tail(distance.abs() / spread)).clamp(0.0, 1.0)
}

/// 1 − Φ(x) for x ≥ 0, with an error below 10⁻⁷.
///
/// Source: Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964), formula 26.2.17.
fn upper_tail(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let t = 1.0 / (1.0 + 0.231_641_9 * x);
    let polynomial = COEFFICIENTS
        .iter()
        .rev()
        .fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    density * polynomial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_tail_matches_published_tables() {
        for (x, tail) in [(0.0, 0.5), (1.0, 0.158_655), (1.96, 0.024_998), (3.0, 0.001_350)] {
            assert!((upper_tail(x) - tail).abs() < 1e-6, "{x}: {}", upper_tail(x));
        }
    }

    #[test]
    fn level_one_deviation_away_is_touched_in_32_percent_of_cases() {
        let spread = 0.02 * f64::from(HORIZON_SESSIONS).sqrt();
        for distance in [spread, -spread] {
            assert!((touch_probability(distance, 0.02, HORIZON_SESSIONS) - 0.317_31).abs() < 1e-4);
        }
        assert!((touch_probability(0.0, 0.02, HORIZON_SESSIONS) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn zero_volatility_reaches_no_level() {
        assert_eq!(touch_probability(0.01, 0.0, 20).to_bits(), 0.0_f64.to_bits());
    }
}
