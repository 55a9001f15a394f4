//! Thousands of alerts on one stock, made, changed, deleted and fired in any order: the engine against the oracle.
//!
//! The invented worlds of `engine_oracle.rs` have few alerts a stock; here the ordered indexes fill up, are cut and joined, and
//! places in the registry are used again and again.

#[allow(dead_code, reason = "each of the tests that share it uses a part of it")]
mod common;
#[allow(dead_code, reason = "as above")]
mod oracle;

use alerts::condition::{Condition, Earnings, RsiDirection, Side, VolumeBaseline};
use alerts::{Alert, Revision};
use jiff::{Timestamp, ToSpan};
use market::{Bar, Calendar, Decimal, Price, SplitRatio, Symbol};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use common::bench::Bench;
use common::{alert, at, decimal, id};
use oracle::{Seen, Told};

struct Crowd {
    chance: ChaCha8Rng,
    bench: Bench,
    symbol: Symbol,
    alerts: u32,
    revision: u32,
    /// Half dollars.
    price: i64,
}

impl Crowd {
    fn new(seed: u64, alerts: u32) -> Self {
        let symbol = "CROWD".parse().expect("a symbol");
        let (bench, chance) = (Bench::new(Calendar::nyse()), ChaCha8Rng::seed_from_u64(seed));
        Self {
            chance,
            bench,
            symbol,
            alerts,
            revision: 0,
            price: 200,
        }
    }

    fn tell(&mut self, told: &Told, now: Timestamp) {
        self.bench.tell(told, now).unwrap_or_else(|why| panic!("{why}"));
    }

    fn step(&mut self) -> Price {
        self.price = (self.price + self.chance.random_range(-6..=6)).clamp(150, 250);
        Price::from_micros(self.price * 500_000).expect("a price")
    }

    fn wish(&mut self) -> Condition {
        let side = if self.chance.random() { Side::Above } else { Side::Below };
        let threshold = Decimal::from_units(self.chance.random_range(1..100)).expect("small");
        match self.chance.random_range(0..20) {
            0..10 => {
                let away = self.chance.random_range(-5..60) * side.pick(1, -1);
                let threshold = Price::from_micros((self.price + away) * 500_000).expect("a price");
                Condition::Price { side, threshold }
            }
            10..14 => Condition::PriceChange {
                side,
                percent: threshold,
            },
            14 => Condition::NewExtreme { side },
            15 => Condition::MaTouch {
                side,
                period: self.chance.random_range(2..8),
            },
            16 => Condition::PeRatio {
                side,
                earnings: Earnings::Trailing,
                threshold,
            },
            17 => Condition::VolumeChange {
                baseline: VolumeBaseline::Ma20,
                percent: threshold,
            },
            _ => {
                let direction = side.pick(RsiDirection::Above, RsiDirection::Both);
                Condition::Rsi { direction, threshold }
            }
        }
    }

    fn arm(&mut self, number: u32, now: Timestamp) {
        self.revision += 10;
        let initial_price = Price::from_micros(self.price * 500_000).ok();
        let condition = self.wish();
        let new = alert(number, self.symbol, condition, now);
        self.tell(
            &Told::Armed(Alert {
                revision: Revision(self.revision),
                initial_price,
                ..new
            }),
            now,
        );
    }

    fn session(&mut self, open: Timestamp) {
        let mut closed = Vec::new();
        for minute in (0_i64..390).step_by(30) {
            let now = open + minute.minutes();
            for _ in 0..self.chance.random_range(0..60) {
                let number = self.chance.random_range(0..self.alerts);
                match self.chance.random_range(0..4) {
                    0 => self.tell(&Told::Disarmed(id(number)), now),
                    _ => self.arm(number, now),
                }
            }
            let price = self.step();
            closed.push(price);
            let volume = self
                .chance
                .random_bool(0.5)
                .then(|| self.chance.random_range(0..2000) + minute);
            self.tell(
                &Told::Snapshot(vec![Seen {
                    symbol: self.symbol,
                    price,
                    volume,
                }]),
                now,
            );
            if self.chance.random_bool(0.2) {
                self.tell(&Told::Evaluate, now);
            }
        }
        let (high, low) = (*closed.iter().max().expect("some"), *closed.iter().min().expect("some"));
        let date = market::calendar::new_york_date(open);
        let bar = Bar {
            date,
            open: closed[0],
            high,
            low,
            close: closed[closed.len() - 1],
            volume: 1000,
        };
        self.tell(&Told::Bar(self.symbol, bar), open + 12.hours());
    }
}

fn play(seed: u64, alerts: u32, sessions: usize) -> usize {
    let mut crowd = Crowd::new(seed, alerts);
    let start = at("2024-01-01T12:00:00Z");
    let eps = [Some(decimal("3")), None];
    crowd.tell(&Told::Fundamentals(crowd.symbol, eps), start);
    for number in 0..alerts {
        crowd.arm(number, start);
    }
    let until = jiff::civil::date(2025, 1, 1);
    let opens: Vec<_> = Calendar::nyse()
        .sessions(jiff::civil::date(2024, 1, 2), until)
        .map(|session| session.open)
        .take(sessions)
        .collect();
    for (number, open) in opens.into_iter().enumerate() {
        if number == sessions / 2 {
            // Prices go on as they were, so the split looks like a doubling: nearly everything of one side fires at once.
            let ratio: SplitRatio = "2".parse().expect("a ratio");
            crowd.tell(&Told::Split(crowd.symbol, ratio), open - 2.hours());
            crowd.bench.restart().expect("the engine and the oracle agree");
        }
        crowd.session(open);
    }
    crowd.bench.firings.len()
}

#[test]
fn thousands_of_alerts_on_one_stock_fire_as_the_oracle_says() {
    let seed = std::env::var("CROWD_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let firings = play(seed, 4000, 25);
    assert!(firings > 4000, "only {firings} firings");
}

#[test]
fn a_few_hundred_alerts_that_change_all_the_time_fire_as_the_oracle_says() {
    for seed in 0..4 {
        let firings = play(seed, 300, 30);
        assert!(firings > 300, "only {firings} firings");
    }
}
