//! Support and resistance: prices at which a stock has turned before.
//!
//! A **swing point** is a bar whose high (low) exceeds those of the five bars on either side. It is known five
//! sessions later, never sooner. Swing points within half an average true range of one another are touches of one
//! **level**. Highs and lows count alike, because a broken support acts as a resistance and vice versa. The strength
//! of a level is the sum of the weights of its touches. A touch weighs more the higher the session's volume is
//! against the average, and less the older it is.
//!
//! Sources: support, resistance and their change of roles: Edwards and Magee, *Technical Analysis of Stock Trends*
//! (1948), chapter 13, which also names volume and the number of touches as the weight of a level. Swing points as
//! extremes among their neighbours: Bill Williams, *Trading Chaos* (1995), with two bars on either side; on a year of
//! daily bars that yields too many. The half-life of a touch (126 sessions, half a year) and the bounds on the weight
//! of volume are this crate's own choice.

use jiff::civil::Date;
use market::{Bar, History, Price};

use crate::tick;
use crate::volatility::Volatility;

/// The number of sessions searched for levels: a year.
pub const LOOKBACK_SESSIONS: usize = 252;
/// The number of bars on either side that a swing point exceeds.
const SWING_REACH_BARS: usize = 5;
/// The maximum distance between the touches of one level, in average true ranges.
const LEVEL_WIDTH_RANGES: f64 = 0.5;
/// The age at which a touch weighs half, in sessions.
const HALF_LIFE_SESSIONS: f64 = 126.0;
/// The minimum and maximum weight of a session's volume, relative to the average volume.
const VOLUME_BOUNDS: (f64, f64) = (0.25, 4.0);
/// The maximum number of levels on either side of the price.
pub const MAX_LEVELS_PER_SIDE: usize = 6;

/// A price at which the stock has turned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// The weighted mean of the touches, rounded to a quoted price.
    pub price: Price,
    /// The number of swing points at this level.
    pub touches: u32,
    /// The sum of the weights of the touches.
    pub strength: f64,
    /// The mean volume of the touching sessions, relative to the average volume; `None` if no volume is known.
    pub volume_ratio: Option<f64>,
    /// The session of the latest touch.
    pub last_touch: Date,
}

/// The levels of a stock around its price.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Levels {
    /// The levels strictly below the price, nearest first.
    pub supports: Vec<Level>,
    /// The levels strictly above the price, nearest first.
    pub resistances: Vec<Level>,
}

/// One touch of a level.
#[derive(Clone, Copy)]
struct Swing {
    dollars: f64,
    weight: f64,
    volume_ratio: Option<f64>,
    date: Date,
}

impl Levels {
    /// Finds the levels in the last [`LOOKBACK_SESSIONS`] completed sessions and keeps the [`MAX_LEVELS_PER_SIDE`]
    /// strongest on either side of `price`.
    #[must_use]
    pub fn of(history: &History, price: Price, volatility: &Volatility) -> Self {
        let bars: Vec<&Bar> = history.bars().rev().take(LOOKBACK_SESSIONS).collect();
        // The range is relative to the last close, so a price that has jumped since then does not widen old levels.
        let Some(last) = bars.first() else {
            return Self::default();
        };
        let width = LEVEL_WIDTH_RANGES * volatility.range_day * last.close.as_f64();
        let levels = merged(swings(&bars), width);
        let strongest = |side: &dyn Fn(&Level) -> bool| {
            let mut chosen: Vec<Level> = levels.iter().copied().filter(side).collect();
            chosen.sort_by(|a, b| b.strength.total_cmp(&a.strength));
            chosen.truncate(MAX_LEVELS_PER_SIDE);
            chosen
        };
        let mut supports = strongest(&|level| level.price < price);
        let mut resistances = strongest(&|level| level.price > price);
        supports.sort_by_key(|level| std::cmp::Reverse(level.price));
        resistances.sort_by_key(|level| level.price);
        Self { supports, resistances }
    }
}

/// The swing points of bars, newest first. One bar can be both a high and a low.
fn swings(bars: &[&Bar]) -> Vec<Swing> {
    let volumes: f64 = bars.iter().map(|bar| bar.volume as f64).sum();
    let usual = volumes / bars.len().max(1) as f64;
    let mut found = Vec::new();
    for at in SWING_REACH_BARS..bars.len().saturating_sub(SWING_REACH_BARS) {
        let bar = bars[at];
        let (later, earlier) = (&bars[at - SWING_REACH_BARS..at], &bars[at + 1..=at + SWING_REACH_BARS]);
        // Of equally high bars the earliest counts, so a stock that does not move has no swing points.
        let is_high =
            earlier.iter().all(|other| other.high < bar.high) && later.iter().all(|other| other.high <= bar.high);
        let is_low = earlier.iter().all(|other| other.low > bar.low) && later.iter().all(|other| other.low >= bar.low);
        let volume_ratio = (usual > 0.0).then(|| bar.volume as f64 / usual);
        let of_volume = volume_ratio.map_or(1.0, |ratio| ratio.clamp(VOLUME_BOUNDS.0, VOLUME_BOUNDS.1));
        let weight = of_volume * 0.5_f64.powf(at as f64 / HALF_LIFE_SESSIONS);
        let turns = [(is_high, bar.high), (is_low, bar.low)];
        found.extend(
            turns
                .into_iter()
                .filter(|(is_turn, _)| *is_turn)
                .map(|(_, price)| Swing {
                    dollars: price.as_f64(),
                    weight,
                    volume_ratio,
                    date: bar.date,
                }),
        );
    }
    found
}

/// Groups swing points into levels from the lowest upwards, none wider than `width` dollars.
fn merged(mut swings: Vec<Swing>, width: f64) -> Vec<Level> {
    swings.sort_by(|a, b| a.dollars.total_cmp(&b.dollars));
    let mut levels: Vec<Level> = Vec::new();
    let mut rest = swings.as_slice();
    while let Some(lowest) = rest.first() {
        let (touches, others) = rest.split_at(rest.partition_point(|swing| swing.dollars <= lowest.dollars + width));
        rest = others;
        // Two levels with the same quoted price are one.
        let Some(level) = level(touches).filter(|level| levels.last().is_none_or(|last| last.price < level.price))
        else {
            continue;
        };
        levels.push(level);
    }
    levels
}

fn level(touches: &[Swing]) -> Option<Level> {
    let strength: f64 = touches.iter().map(|touch| touch.weight).sum();
    let weighted: f64 = touches.iter().map(|touch| touch.weight * touch.dollars).sum();
    let ratios: Vec<f64> = touches.iter().filter_map(|touch| touch.volume_ratio).collect();
    Some(Level {
        price: tick::nearest(weighted / strength)?,
        touches: u32::try_from(touches.len()).ok()?,
        strength,
        volume_ratio: (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64),
        last_touch: touches.iter().map(|touch| touch.date).max()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{history_of_closes, history_of_volumes, price};
    use jiff::civil::date;

    fn levels(history: &History, at: &str) -> Levels {
        Levels::of(history, price(at), &Volatility::of(history))
    }

    fn prices(levels: &[Level]) -> Vec<String> {
        levels.iter().map(|level| level.price.to_string()).collect()
    }

    /// A close that moves from 100 to 110 and back, repeatedly.
    fn waves(days: i32) -> impl Iterator<Item = f64> {
        (0..days).map(|day| 100.0 + f64::from((day % 20 - 10).abs()))
    }

    #[test]
    fn swings_between_two_prices_make_a_level_at_each() {
        let found = levels(&history_of_closes(waves(100)), "105");
        assert_eq!(
            (prices(&found.supports), prices(&found.resistances)),
            (vec!["100".into()], vec!["110".into()])
        );
        // Lows on days 10, 30, 50, 70 and 90; highs on days 20, 40, 60 and 80.
        assert_eq!((found.supports[0].touches, found.resistances[0].touches), (5, 4));
        assert_eq!(found.supports[0].last_touch, date(2020, 3, 31));
    }

    #[test]
    fn broken_resistance_becomes_support() {
        let found = levels(&history_of_closes(waves(100)), "112");
        assert_eq!(prices(&found.supports), ["110", "100"]);
        assert!(found.resistances.is_empty());
    }

    #[test]
    fn swing_point_is_known_after_five_sessions() {
        let until = |days| levels(&history_of_closes(waves(days)), "105").supports.len();
        assert_eq!((until(15), until(16)), (0, 1));
    }

    #[test]
    fn touch_weighs_more_with_volume_and_less_with_age() {
        let quiet = levels(&history_of_volumes(waves(40).map(|close| (close, 1000))), "105");
        let busy = levels(
            &history_of_volumes(waves(40).map(|close| (close, if close < 101.0 { 3000 } else { 1000 }))),
            "105",
        );
        assert!(busy.supports[0].strength > 2.0 * quiet.supports[0].strength);
        assert!(busy.supports[0].volume_ratio.unwrap() > 2.0);
        let later = waves(40).chain((0..60).map(|_| 105.0));
        assert!(levels(&history_of_closes(later), "105").supports[0].strength < quiet.supports[0].strength);
    }

    #[test]
    fn touches_without_volume_weigh_by_age() {
        let found = levels(&history_of_volumes(waves(40).map(|close| (close, 0))), "105");
        assert_eq!(found.supports[0].volume_ratio, None);
        assert!(found.supports[0].strength > 0.0);
    }

    #[test]
    fn flat_or_rising_price_has_no_level() {
        assert_eq!(
            levels(&history_of_closes((0..300).map(|_| 5.0)), "5"),
            Levels::default()
        );
        assert_eq!(
            levels(&history_of_closes((0..300).map(|day| 5.0 + f64::from(day))), "305"),
            Levels::default()
        );
        assert_eq!(levels(&History::default(), "5"), Levels::default());
    }

    #[test]
    fn swings_within_half_a_range_are_one_level() {
        let ranges = 4.0;
        let swing = |dollars, day| Swing {
            dollars,
            weight: 1.0,
            volume_ratio: None,
            date: date(2020, 1, day),
        };
        let near = merged(vec![swing(100.0, 1), swing(102.0, 2)], LEVEL_WIDTH_RANGES * ranges);
        assert_eq!((near.len(), near[0].price, near[0].touches), (1, price("101"), 2));
        let far = merged(vec![swing(102.01, 2), swing(100.0, 1)], LEVEL_WIDTH_RANGES * ranges);
        assert_eq!(far.len(), 2);
    }
}
