//! Chance that can be asked for in any order.
//!
//! Each draw has a generator of its own, made from the seed and from what the draw is for. So the news of a day do not
//! depend on how many prices were drawn before, and a market that is started anew has the same calendar of events.

use jiff::civil::Date;
use market::day::day_number;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a draw is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Topic {
    Invention,
    Gap,
    Motion,
    Trend,
    Quarter,
    Split,
    Insiders,
    Excitement,
    Talk,
    Happening,
}

/// Whose draw it is: the market's own are number 0, those of the companies follow.
pub(super) type Who = u64;

/// The generator for `topic` of `who` at `moment`, which is whatever tells the draws apart.
pub(super) fn of(seed: u64, topic: Topic, who: Who, moment: i64) -> ChaCha8Rng {
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let stream = [topic as u64, who, moment.cast_unsigned()]
        .into_iter()
        .fold(0, |mixed, part| mix(mixed ^ part));
    chance.set_stream(stream);
    chance
}

/// The generator for `topic` of `who` on `date`.
pub(super) fn on(seed: u64, topic: Topic, who: Who, date: Date) -> ChaCha8Rng {
    of(seed, topic, who, day_number(date).into())
}

/// Scatters the bits of a number, one to one. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators" (2014), the finaliser of SplitMix64.
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A number of the standard normal distribution, by the method of Box and Muller.
pub(super) fn normal(chance: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (chance.random_range(f64::MIN_POSITIVE..1.0), chance.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Whether something that happens `rate` times a unit on average happens within `units`.
pub(super) fn happens(chance: &mut impl Rng, rate: f64, units: f64) -> bool {
    chance.random::<f64>() < 1.0 - (-rate * units).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_depends_on_what_it_is_for_and_on_nothing_else() {
        let draw = |topic, who, moment| of(7, topic, who, moment).random::<u64>();
        assert_eq!(draw(Topic::Gap, 1, 5), draw(Topic::Gap, 1, 5));
        let others = [
            draw(Topic::Talk, 1, 5),
            draw(Topic::Gap, 2, 5),
            draw(Topic::Gap, 1, 6),
            draw(Topic::Gap, 5, 1),
        ];
        assert!(!others.contains(&draw(Topic::Gap, 1, 5)));
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_deviation_one() {
        let mut chance = of(1, Topic::Motion, 0, 0);
        let draws: Vec<f64> = (0..20_000).map(|_| normal(&mut chance)).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
