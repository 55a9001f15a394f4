//! Random trades over recorded days.

use jiff::{Timestamp, ToSpan};
use market::calendar::new_york;
use market::{Price, Symbol};
use paper::{Direction, Fill, Trade};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

use crate::recorded::data::{Day, RecordedMarket};

/// Generates `count` trades of random stocks, in random directions, over random times: during sessions at prices of
/// the day, at closes, and before the open or at weekends at the previous close; some for a day or less, some still
/// open.
pub(crate) fn random(market: &RecordedMarket, count: u128, seed: u64) -> Vec<Trade> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let symbols: Vec<Symbol> = market.days.keys().copied().collect();
    (0..count)
        .map(|number| {
            let symbol = *symbols.choose(&mut rng).unwrap();
            let days = &market.days[&symbol];
            let entered = rng.random_range(0..days.len() - 1);
            let entry = fill(&days[entered], &mut rng);
            let direction = if rng.random() {
                Direction::Long
            } else {
                Direction::Short
            };
            let mut trade = Trade::open(Uuid::from_u128(number), symbol, direction, entry);
            let longest = match rng.random_range(0..4) {
                0 => 3,
                1 => 40,
                _ => 700,
            };
            let left = entered + rng.random_range(0..longest);
            if let Some(day) = days.get(left) {
                let exit = fill(day, &mut rng);
                if entry.at < exit.at {
                    trade.close(exit.at, Some(exit.price)).unwrap();
                }
            }
            trade
        })
        .collect()
}

/// A price of a day, or its close at some hour between it and the next open.
fn fill(day: &Day, rng: &mut ChaCha8Rng) -> Fill {
    let noon = new_york(day.date, 12, 0);
    match rng.random_range(0..4) {
        0 => Fill {
            at: noon + 4.hours(),
            price: day.close,
        },
        // Up to 07:00 of the next day in New York, before a possible session opens.
        1 => Fill {
            at: noon + rng.random_range(5..19).hours(),
            price: day.close,
        },
        _ => Fill {
            at: during(noon, rng),
            price: Price::from_micros(rng.random_range(day.low.micros()..=day.high.micros())).unwrap(),
        },
    }
}

/// An instant of the session, which may close early.
fn during(noon: Timestamp, rng: &mut ChaCha8Rng) -> Timestamp {
    noon + rng.random_range(-150..60).minutes()
}
