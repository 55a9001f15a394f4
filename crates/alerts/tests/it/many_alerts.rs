//! Thousands of alerts on one stock, created, changed, deleted and fired in random order: the engine against the oracle.
//!
//! The scenarios of `engine_oracle.rs` have few alerts per stock. Here the chunks of the ordered indexes are filled, split and
//! merged, and slots of the registry are reused.

use crate::common;
use crate::oracle;

use alerts::condition::{Condition, EpsBasis, RsiDirection, Side, VolumeBaseline};
use alerts::{Alert, Revision};
use jiff::{Timestamp, ToSpan};
use market::{Bar, Calendar, Decimal, Price, SplitRatio, Symbol};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use common::comparison::EngineComparison;
use common::{alert, at, decimal, id};
use oracle::{OwnedEvent, TestQuote};

/// Seeds that once failed. They are replayed first.
const REGRESSION_SEEDS: [u64; 0] = [];

struct SingleStockTest {
    rng: ChaCha8Rng,
    comparison: EngineComparison,
    symbol: Symbol,
    alerts: u32,
    revision: u32,
    /// The price in half dollars.
    price: i64,
}

impl SingleStockTest {
    fn new(seed: u64, alerts: u32) -> Self {
        let symbol = "CROWD".parse().expect("a symbol");
        let (comparison, rng) = (EngineComparison::new(Calendar::nyse()), ChaCha8Rng::seed_from_u64(seed));
        Self {
            rng,
            comparison,
            symbol,
            alerts,
            revision: 0,
            price: 200,
        }
    }

    fn process(&mut self, event: &OwnedEvent, now: Timestamp) {
        self.comparison
            .process(event, now)
            .unwrap_or_else(|error| panic!("{error}"));
    }

    fn step(&mut self) -> Price {
        self.price = (self.price + self.rng.random_range(-6..=6)).clamp(150, 250);
        Price::from_micros(self.price * 500_000).expect("a price")
    }

    fn random_condition(&mut self) -> Condition {
        let side = if self.rng.random() { Side::Above } else { Side::Below };
        let threshold = Decimal::from_units(self.rng.random_range(1..100)).expect("small");
        match self.rng.random_range(0..20) {
            0..10 => {
                let away = self.rng.random_range(-5..60) * side.pick(1, -1);
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
                period: self.rng.random_range(2..8),
            },
            16 => Condition::PeRatio {
                side,
                earnings: EpsBasis::Trailing,
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
        let condition = self.random_condition();
        let new = alert(number, self.symbol, condition, now);
        self.process(
            &OwnedEvent::Armed(Box::new(Alert {
                revision: Revision(self.revision),
                initial_price,
                ..new
            })),
            now,
        );
    }

    fn session(&mut self, open: Timestamp) {
        let mut closed = Vec::new();
        for minute in (0_i64..390).step_by(30) {
            let now = open + minute.minutes();
            for _ in 0..self.rng.random_range(0..60) {
                let number = self.rng.random_range(0..self.alerts);
                match self.rng.random_range(0..4) {
                    0 => self.process(&OwnedEvent::Disarmed(id(number)), now),
                    _ => self.arm(number, now),
                }
            }
            let price = self.step();
            closed.push(price);
            let volume = self
                .rng
                .random_bool(0.5)
                .then(|| self.rng.random_range(0..2000) + minute);
            self.process(
                &OwnedEvent::Snapshot(vec![TestQuote {
                    symbol: self.symbol,
                    price,
                    volume,
                }]),
                now,
            );
            if self.rng.random_bool(0.2) {
                self.process(&OwnedEvent::Evaluate, now);
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
        self.process(&OwnedEvent::Bar(self.symbol, bar), open + 12.hours());
    }
}

fn run(seed: u64, alerts: u32, sessions: usize) -> usize {
    let mut test = SingleStockTest::new(seed, alerts);
    let start = at("2024-01-01T12:00:00Z");
    let eps = [Some(decimal("3")), None];
    test.process(&OwnedEvent::Fundamentals(test.symbol, eps), start);
    for number in 0..alerts {
        test.arm(number, start);
    }
    let until = jiff::civil::date(2025, 1, 1);
    let opens: Vec<_> = Calendar::nyse()
        .sessions(jiff::civil::date(2024, 1, 2), until)
        .map(|session| session.open)
        .take(sessions)
        .collect();
    for (number, open) in opens.into_iter().enumerate() {
        if number == sessions / 2 {
            // Prices continue unchanged, so the split looks like a doubling, and nearly all alerts of one side fire at once.
            let ratio: SplitRatio = "2".parse().expect("a ratio");
            test.process(&OwnedEvent::Split(test.symbol, ratio), open - 2.hours());
            test.comparison.restart().expect("the engine and the oracle agree");
        }
        test.session(open);
    }
    test.comparison.firings.len()
}

#[test]
fn engine_matches_oracle_with_thousands_of_alerts_on_one_stock() {
    let seed = std::env::var("CROWD_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let firings = run(seed, 4000, 25);
    assert!(firings > 4000, "only {firings} firings");
}

#[test]
fn engine_matches_oracle_with_frequently_changed_alerts() {
    for seed in REGRESSION_SEEDS.into_iter().chain(0..4) {
        let firings = run(seed, 300, 30);
        assert!(firings > 300, "only {firings} firings");
    }
}
