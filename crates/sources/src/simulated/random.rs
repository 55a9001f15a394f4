//! Seeded random generators that can be used in any order.
//!
//! Each draw has its own generator, derived from the seed and the draw's purpose. So the news of a day does not depend on
//! the number of prices drawn before, and a restarted market has the same calendar of events.

use jiff::civil::Date;
use market::day::day_number;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The purpose of a draw.
#[derive(Debug, Clone, Copy)]
pub(super) enum DrawKind {
    CompanyProfile,
    OvernightGap,
    PriceStep,
    Trend,
    Quarter,
    Split,
    Insiders,
    MentionSpike,
    Mentions,
    MarketEvent,
}

/// The owner of a draw: 0 is the market, the stocks follow.
pub(super) type EntityId = u64;

/// Returns the generator for `kind` of `entity` at `moment`, a number that distinguishes the draws.
pub(super) fn of(seed: u64, kind: DrawKind, entity: EntityId, moment: i64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let stream = [kind as u64, entity, moment.cast_unsigned()]
        .into_iter()
        .fold(0, |mixed, part| mix(mixed ^ part));
    rng.set_stream(stream);
    rng
}

/// Returns the generator for `kind` of `entity` on `date`.
pub(super) fn on(seed: u64, kind: DrawKind, entity: EntityId, date: Date) -> ChaCha8Rng {
    of(seed, kind, entity, day_number(date).into())
}

/// Mixes the bits of a number with a bijection. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators" (2014), the finaliser of SplitMix64.
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Draws from the standard normal distribution with the Box–Muller method.
pub(super) fn normal(rng: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random_range(f64::MIN_POSITIVE..1.0), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Draws whether an event with an average rate of `rate` per unit occurs within `units`.
pub(super) fn happens(rng: &mut impl Rng, rate: f64, units: f64) -> bool {
    rng.random::<f64>() < 1.0 - (-rate * units).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draw_depends_only_on_kind_entity_and_moment() {
        let draw = |kind, entity, moment| of(7, kind, entity, moment).random::<u64>();
        assert_eq!(draw(DrawKind::OvernightGap, 1, 5), draw(DrawKind::OvernightGap, 1, 5));
        let others = [
            draw(DrawKind::Mentions, 1, 5),
            draw(DrawKind::OvernightGap, 2, 5),
            draw(DrawKind::OvernightGap, 1, 6),
            draw(DrawKind::OvernightGap, 5, 1),
        ];
        assert!(!others.contains(&draw(DrawKind::OvernightGap, 1, 5)));
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_deviation_one() {
        let mut rng = of(1, DrawKind::PriceStep, 0, 0);
        let draws: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
