//! How likely a level is to be reached, if prices wander without a direction.
//!
//! It is a yardstick, not a forecast: it puts levels of quiet and of wild stocks on one scale, and says in a
//! rationale how far "far" is. `docs/analyst.md` compares it with what happened.

/// How many sessions ahead the analyst looks: about a month.
pub const HORIZON_SESSIONS: u32 = 20;

/// The probability, 0–1, that a random walk without drift whose daily logarithmic change has the standard deviation
/// `sigma_day` comes at least `distance` (a natural logarithm of a ratio of prices, its sign does not matter) away
/// within `sessions`: 2 × (1 − Φ(distance ÷ (sigma_day × √sessions))).
///
/// Source: the reflection principle of Brownian motion, e.g. Karatzas and Shreve, *Brownian Motion and Stochastic
/// Calculus* (2nd ed. 1991), section 2.6; that volatility grows with the square root of time: Hull, *Options, Futures,
/// and Other Derivatives*, chapter on the Black–Scholes–Merton model. Seen only at a few moments a day, a walk touches
/// a little less.
#[must_use]
pub fn of_touch(distance: f64, sigma_day: f64, sessions: u32) -> f64 {
    let spread = sigma_day * f64::from(sessions).sqrt();
    if spread <= 0.0 {
        return if distance == 0.0 { 1.0 } else { 0.0 };
    }
    (2.0 * upper_tail(distance.abs() / spread)).clamp(0.0, 1.0)
}

/// 1 − Φ(x) for x ≥ 0, off by less than 10⁻⁷.
///
/// Source: Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964), formula 26.2.17.
fn upper_tail(x: f64) -> f64 {
    const FACTORS: [f64; 5] = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let t = 1.0 / (1.0 + 0.231_641_9 * x);
    let polynomial = FACTORS.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    density * polynomial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tails_of_the_normal_distribution_are_those_of_the_tables() {
        for (x, tail) in [(0.0, 0.5), (1.0, 0.158_655), (1.96, 0.024_998), (3.0, 0.001_350)] {
            assert!((upper_tail(x) - tail).abs() < 1e-6, "{x}: {}", upper_tail(x));
        }
    }

    #[test]
    fn a_level_one_spread_away_is_touched_in_32_of_100_cases_on_either_side() {
        let spread = 0.02 * f64::from(HORIZON_SESSIONS).sqrt();
        for distance in [spread, -spread] {
            assert!((of_touch(distance, 0.02, HORIZON_SESSIONS) - 0.317_31).abs() < 1e-4);
        }
        assert!((of_touch(0.0, 0.02, HORIZON_SESSIONS) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_does_not_move_reaches_nothing() {
        assert_eq!(of_touch(0.01, 0.0, 20).to_bits(), 0.0_f64.to_bits());
    }
}
