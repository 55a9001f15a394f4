//! A market that is made up, and alerts on it: the same ones in every run.

use std::sync::LazyLock;

use alerts::condition::Side;
use alerts::engine::{Engine, Quote, Settings, StockIx};
use alerts::{Alert, AlertId, Channel, Condition, Revision, Status};
use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, Price, Session, Symbol};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

/// The session in which the benches observe: an ordinary Monday.
pub(crate) const MONDAY: Date = date(2024, 3, 11);

/// The price without fractions of a cent.
pub(crate) const fn cents(price: i64) -> i64 {
    price / 10_000 * 10_000
}

pub(crate) fn chance(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn session() -> Session {
    Calendar::nyse().session(MONDAY).expect("the NYSE trades")
}

pub(crate) fn price(micros: i64) -> Price {
    Price::from_micros(micros).expect("a price")
}

/// Stocks and what they cost, in millionths.
#[derive(Clone)]
pub(crate) struct Market {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) prices: Vec<i64>,
    /// The stocks by the number of their alerts, most of all first.
    ranking: Vec<u32>,
}

/// A price that somebody waits for.
#[derive(Clone, Copy)]
pub(crate) struct Level {
    pub(crate) stock: u32,
    pub(crate) side: Side,
    pub(crate) price: i64,
}

impl Market {
    /// Prices from 5 to 500 dollars, small ones and large ones equally often on a logarithmic scale, in whole cents.
    pub(crate) fn new(stocks: usize, chance: &mut impl Rng) -> Self {
        let symbols = (0..stocks)
            .map(|at| format!("S{at}").parse().expect("a symbol"))
            .collect();
        let prices = (0..stocks)
            .map(|_| cents(moved(5_000_000, 100_f64.powf(chance.random()) - 1.0)))
            .collect();
        let mut ranking: Vec<_> = (0..).take(stocks).collect();
        ranking.shuffle(chance);
        Self {
            symbols,
            prices,
            ranking,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Of which stocks `alerts` alerts are, in the order in which they are made. The stock of rank r has a share of
    /// 1 ÷ (r + 3): of 10,000 stocks the most watched has 4 %.
    pub(crate) fn watched(&self, alerts: usize, chance: &mut impl Rng) -> Vec<u32> {
        let weight = |rank: usize| 1_000_000_000_000 / (rank + 3);
        let all: usize = (0..self.len()).map(weight).sum();
        let mut stocks = Vec::with_capacity(alerts);
        for (rank, &stock) in self.ranking.iter().enumerate() {
            let share = weight(rank) * alerts / all;
            stocks.extend(std::iter::repeat_n(stock, share));
        }
        let rest = alerts - stocks.len();
        stocks.extend(self.ranking.iter().cycle().take(rest));
        stocks.shuffle(chance);
        stocks
    }

    pub(crate) fn most_watched(&self) -> u32 {
        self.ranking[0]
    }

    /// Levels in whole cents, 5 to 30 % from the price.
    pub(crate) fn levels(&self, alerts: usize, chance: &mut impl Rng) -> Vec<Level> {
        self.watched(alerts, chance)
            .into_iter()
            .map(|stock| self.level(stock, chance))
            .collect()
    }

    pub(crate) fn level(&self, stock: u32, chance: &mut impl Rng) -> Level {
        let side = if chance.random() { Side::Above } else { Side::Below };
        let away = chance.random_range(0.05..0.30) * side.pick(1.0, -1.0);
        Level {
            stock,
            side,
            price: cents(moved(self.prices[stock as usize], away)),
        }
    }

    /// Every price moves by up to ±0.1 %.
    pub(crate) fn step(&mut self, chance: &mut impl Rng) {
        for price in &mut self.prices {
            *price = moved(*price, chance.random_range(-0.001..0.001));
        }
    }

    /// An engine that has given every stock its place.
    pub(crate) fn engine(&self) -> (Engine, Vec<StockIx>) {
        let mut engine = Engine::new(Calendar::nyse(), Settings::default());
        let places = self.symbols.iter().map(|&s| engine.stock(s)).collect();
        (engine, places)
    }
}

/// An observation of every stock.
pub(crate) fn quotes(places: &[StockIx], prices: &[i64]) -> Vec<Quote> {
    places
        .iter()
        .zip(prices)
        .map(|(&place, &micros)| Quote::new(place, price(micros)).with_volume(1_000))
        .collect()
}

/// A price that moved by a share of itself.
#[expect(clippy::cast_possible_truncation, reason = "a price is far below 2^53")]
pub(crate) fn moved(price: i64, by: f64) -> i64 {
    (price as f64 * (1.0 + by)) as i64
}

impl Level {
    pub(crate) fn condition(&self) -> Condition {
        Condition::Price {
            side: self.side,
            threshold: price(self.price),
        }
    }
}

/// An active alert with an id by chance.
pub(crate) fn alert(symbol: Symbol, condition: Condition, chance: &mut impl Rng) -> Alert {
    let before = session().open - SignedDuration::from_hours(2);
    Alert {
        id: AlertId(Uuid::from_u128(chance.random())),
        revision: Revision(1),
        symbol,
        condition,
        notification: Channel::Email,
        parameters: None,
        status: Status::Active,
        initial_price: None,
        created_at: before,
        armed_at: before,
        threshold_set_at: before,
        initial_price_set_at: before,
        rsi_side: None,
        triggered_at: None,
    }
}

/// The `millis`-th millisecond of the session.
pub(crate) fn moment(millis: i64) -> Timestamp {
    // The calendar takes longer than much that is measured.
    static OPEN: LazyLock<Timestamp> = LazyLock::new(|| session().open);
    *OPEN + SignedDuration::from_millis(millis)
}
