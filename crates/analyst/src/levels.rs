//! Support and resistance: prices at which a stock has turned before.
//!
//! A **swing point** is a bar whose high (low) is beyond those of the five bars on either side, so it is known five
//! sessions later and never sooner. Swing points that lie within half an average true range of one another are
//! touches of one **level**; whether they were highs or lows makes no difference, for a support that was broken is
//! taken for a resistance and the other way round. A level is as strong as its touches together, and a touch weighs as
//! much as the session's volume compares with the usual one, and less the longer ago it was.
//!
//! Sources: support, resistance and how they change roles: Edwards and Magee, *Technical Analysis of Stock Trends*
//! (1948), chapter 13, which also names volume and the number of touches as what gives a level its weight; swing points
//! as extremes among their neighbours: Bill Williams, *Trading Chaos* (1995), with two bars on either side, of which
//! there would be too many on daily bars of a year. The half-life of a touch (126 sessions, half a year) and the bounds
//! on the weight of volume are this room's own.

use jiff::civil::Date;
use market::{Bar, History, Price};

use crate::tick;
use crate::volatility::Volatility;

/// How many sessions back levels are looked for: a year.
pub const LOOK_BACK: usize = 252;
/// How many bars on either side a swing point is beyond.
const REACH: usize = 5;
/// How far apart the touches of one level may lie, in average true ranges.
const WIDTH_RANGES: f64 = 0.5;
/// After so many sessions a touch weighs half.
const HALF_LIFE_SESSIONS: f64 = 126.0;
/// How little and how much the volume of a session may weigh, compared with the usual one.
const VOLUME_BOUNDS: (f64, f64) = (0.25, 4.0);
/// How many levels are kept on either side of the price.
pub const KEPT: usize = 6;

/// A price at which the stock has turned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// The weighted mean of the touches, as the exchange would quote it.
    pub price: Price,
    /// How many swing points lie there.
    pub touches: u32,
    /// The weights of the touches together.
    pub strength: f64,
    /// The mean volume of the touching sessions, as a multiple of the usual one; `None` where no volume is known.
    pub volume_ratio: Option<f64>,
    /// The session of the latest touch.
    pub last_touch: Date,
}

/// The levels of a stock around its price.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Levels {
    /// Those strictly below the price, the nearest first.
    pub supports: Vec<Level>,
    /// Those strictly above the price, the nearest first.
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
    /// Of the last [`LOOK_BACK`] completed sessions; of those on either side of `price` the [`KEPT`] strongest.
    #[must_use]
    pub fn of(history: &History, price: Price, volatility: &Volatility) -> Self {
        let bars: Vec<&Bar> = history.bars().rev().take(LOOK_BACK).collect();
        // The range is a part of the last close, so a price that has leapt since then does not widen old levels.
        let Some(last) = bars.first() else {
            return Self::default();
        };
        let width = WIDTH_RANGES * volatility.range_day * last.close.as_f64();
        let levels = merged(swings(&bars), width);
        let strongest = |side: &dyn Fn(&Level) -> bool| {
            let mut chosen: Vec<Level> = levels.iter().copied().filter(side).collect();
            chosen.sort_by(|a, b| b.strength.total_cmp(&a.strength));
            chosen.truncate(KEPT);
            chosen
        };
        let mut supports = strongest(&|level| level.price < price);
        let mut resistances = strongest(&|level| level.price > price);
        supports.sort_by_key(|level| std::cmp::Reverse(level.price));
        resistances.sort_by_key(|level| level.price);
        Self { supports, resistances }
    }
}

/// The swing points of bars, newest first; a bar can be both a high and a low.
fn swings(bars: &[&Bar]) -> Vec<Swing> {
    let volumes: f64 = bars.iter().map(|bar| bar.volume as f64).sum();
    let usual = volumes / bars.len().max(1) as f64;
    let mut found = Vec::new();
    for at in REACH..bars.len().saturating_sub(REACH) {
        let bar = bars[at];
        let (later, earlier) = (&bars[at - REACH..at], &bars[at + 1..=at + REACH]);
        // Of bars of one height the earliest counts; so a stock that stands still never turns.
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

/// Swing points gathered into levels from the lowest up, none wider than `width` dollars.
fn merged(mut swings: Vec<Swing>, width: f64) -> Vec<Level> {
    swings.sort_by(|a, b| a.dollars.total_cmp(&b.dollars));
    let mut levels: Vec<Level> = Vec::new();
    let mut rest = swings.as_slice();
    while let Some(lowest) = rest.first() {
        let (touches, others) = rest.split_at(rest.partition_point(|swing| swing.dollars <= lowest.dollars + width));
        rest = others;
        // Two levels that are quoted at one price are one.
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

    /// From 100 up to 110 and back, again and again.
    fn waves(days: i32) -> impl Iterator<Item = f64> {
        (0..days).map(|day| 100.0 + f64::from((day % 20 - 10).abs()))
    }

    #[test]
    fn a_price_that_swings_between_two_prices_has_a_level_at_each() {
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
    fn a_resistance_that_the_price_has_passed_is_a_support() {
        let found = levels(&history_of_closes(waves(100)), "112");
        assert_eq!(prices(&found.supports), ["110", "100"]);
        assert!(found.resistances.is_empty());
    }

    #[test]
    fn a_turn_is_known_five_sessions_later_and_no_sooner() {
        let until = |days| levels(&history_of_closes(waves(days)), "105").supports.len();
        assert_eq!((until(15), until(16)), (0, 1));
    }

    #[test]
    fn a_touch_on_much_volume_weighs_more_and_an_older_one_less() {
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
    fn without_any_volume_touches_weigh_by_their_age_alone() {
        let found = levels(&history_of_volumes(waves(40).map(|close| (close, 0))), "105");
        assert_eq!(found.supports[0].volume_ratio, None);
        assert!(found.supports[0].strength > 0.0);
    }

    #[test]
    fn what_stands_still_or_only_rises_has_no_level() {
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
    fn turns_within_half_a_range_are_one_level_and_farther_ones_are_two() {
        let ranges = 4.0;
        let swing = |dollars, day| Swing {
            dollars,
            weight: 1.0,
            volume_ratio: None,
            date: date(2020, 1, day),
        };
        let near = merged(vec![swing(100.0, 1), swing(102.0, 2)], WIDTH_RANGES * ranges);
        assert_eq!((near.len(), near[0].price, near[0].touches), (1, price("101"), 2));
        let far = merged(vec![swing(102.01, 2), swing(100.0, 1)], WIDTH_RANGES * ranges);
        assert_eq!(far.len(), 2);
    }
}
