//! Trades made up at random over recorded days.

use jiff::{Timestamp, ToSpan};
use market::calendar::new_york;
use market::{Price, Symbol};
use paper::{Direction, Fill, Trade};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

use crate::data::{Day, Market};

/// `count` trades of random stocks, in random directions, over random times: during sessions at prices of the day, at
/// closes, before the open and at weekends at the close of before; some for a day or less, some still open.
pub(crate) fn random(market: &Market, count: u128, seed: u64) -> Vec<Trade> {
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let symbols: Vec<Symbol> = market.days.keys().copied().collect();
    (0..count)
        .map(|number| {
            let symbol = *symbols.choose(&mut chance).unwrap();
            let days = &market.days[&symbol];
            let entered = chance.random_range(0..days.len() - 1);
            let entry = fill(&days[entered], &mut chance);
            let direction = if chance.random() {
                Direction::Long
            } else {
                Direction::Short
            };
            let mut trade = Trade::open(Uuid::from_u128(number), symbol, direction, entry);
            let longest = match chance.random_range(0..4) {
                0 => 3,
                1 => 40,
                _ => 700,
            };
            let left = entered + chance.random_range(0..longest);
            if let Some(day) = days.get(left) {
                let exit = fill(day, &mut chance);
                if entry.at < exit.at {
                    trade.close(exit.at, Some(exit.price)).unwrap();
                }
            }
            trade
        })
        .collect()
}

/// A price of a day, or its close at some hour after it and before the next session opens.
fn fill(day: &Day, chance: &mut ChaCha8Rng) -> Fill {
    let noon = new_york(day.date, 12, 0);
    match chance.random_range(0..4) {
        0 => Fill {
            at: noon + 4.hours(),
            price: day.close,
        },
        // Up to 07:00 of the next day in New York: before it opens, if it is a session at all.
        1 => Fill {
            at: noon + chance.random_range(5..19).hours(),
            price: day.close,
        },
        _ => Fill {
            at: during(noon, chance),
            price: Price::from_micros(chance.random_range(day.low.micros()..=day.high.micros())).unwrap(),
        },
    }
}

/// An instant of the session, which may close early.
fn during(noon: Timestamp, chance: &mut ChaCha8Rng) -> Timestamp {
    noon + chance.random_range(-150..60).minutes()
}
