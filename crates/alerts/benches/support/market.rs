//! A generated market with alerts, identical in every run.

use std::sync::LazyLock;

use alerts::condition::Side;
use alerts::engine::{Engine, EngineConfig, Quote, StockIndex};
use alerts::{Alert, AlertId, Channel, Condition, Revision, Status};
use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, Price, Session, Symbol};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use uuid::Uuid;

/// The session of the observations: an ordinary Monday.
pub(crate) const MONDAY: Date = date(2024, 3, 11);

/// Rounds a price down to whole cents.
pub(crate) const fn cents(price: i64) -> i64 {
    price / 10_000 * 10_000
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn session() -> Session {
    Calendar::nyse().session(MONDAY).expect("the NYSE trades")
}

pub(crate) fn price(micros: i64) -> Price {
    Price::from_micros(micros).expect("a price")
}

/// Stocks and their prices, in millionths.
#[derive(Clone)]
pub(crate) struct Market {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) prices: Vec<i64>,
    /// The stocks by the number of their alerts, most first.
    ranking: Vec<u32>,
}

/// A price level of an alert.
#[derive(Clone, Copy)]
pub(crate) struct Level {
    pub(crate) stock: u32,
    pub(crate) side: Side,
    pub(crate) price: i64,
}

impl Market {
    /// Generates prices from 5 to 500 dollars, uniform on a logarithmic scale, in whole cents.
    pub(crate) fn new(stocks: usize, rng: &mut impl Rng) -> Self {
        let symbols = (0..stocks)
            .map(|at| format!("S{at}").parse().expect("a symbol"))
            .collect();
        let prices = (0..stocks)
            .map(|_| cents(moved(5_000_000, 100_f64.powf(rng.random()) - 1.0)))
            .collect();
        let mut ranking: Vec<_> = (0..).take(stocks).collect();
        ranking.shuffle(rng);
        Self {
            symbols,
            prices,
            ranking,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Returns the stocks of `alerts` alerts in random order. The stock of rank r has a share of 1 ÷ (r + 3): of 10,000 stocks
    /// the most watched has 4 %.
    pub(crate) fn watched(&self, alerts: usize, rng: &mut impl Rng) -> Vec<u32> {
        let weight = |rank: usize| 1_000_000_000_000 / (rank + 3);
        let all: usize = (0..self.len()).map(weight).sum();
        let mut stocks = Vec::with_capacity(alerts);
        for (rank, &stock) in self.ranking.iter().enumerate() {
            let share = weight(rank) * alerts / all;
            stocks.extend(std::iter::repeat_n(stock, share));
        }
        let rest = alerts - stocks.len();
        stocks.extend(self.ranking.iter().cycle().take(rest));
        stocks.shuffle(rng);
        stocks
    }

    pub(crate) fn most_watched(&self) -> u32 {
        self.ranking[0]
    }

    /// Generates levels in whole cents, 5 to 30 % from the price.
    pub(crate) fn levels(&self, alerts: usize, rng: &mut impl Rng) -> Vec<Level> {
        self.watched(alerts, rng)
            .into_iter()
            .map(|stock| self.level(stock, rng))
            .collect()
    }

    pub(crate) fn level(&self, stock: u32, rng: &mut impl Rng) -> Level {
        let side = if rng.random() { Side::Above } else { Side::Below };
        let away = rng.random_range(0.05..0.30) * side.pick(1.0, -1.0);
        Level {
            stock,
            side,
            price: cents(moved(self.prices[stock as usize], away)),
        }
    }

    /// Moves every price by up to ±0.1 %.
    pub(crate) fn step(&mut self, rng: &mut impl Rng) {
        for price in &mut self.prices {
            *price = moved(*price, rng.random_range(-0.001..0.001));
        }
    }

    /// Creates an engine with all stocks.
    pub(crate) fn engine(&self) -> (Engine, Vec<StockIndex>) {
        let mut engine = Engine::new(Calendar::nyse(), EngineConfig::default());
        let stock_indices = self.symbols.iter().map(|&s| engine.stock(s)).collect();
        (engine, stock_indices)
    }
}

/// Creates an observation of every stock.
pub(crate) fn quotes(stock_indices: &[StockIndex], prices: &[i64]) -> Vec<Quote> {
    stock_indices
        .iter()
        .zip(prices)
        .map(|(&index, &micros)| Quote::new(index, price(micros)).with_volume(1_000))
        .collect()
}

/// Returns a price moved by a fraction of itself.
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

/// Creates an active alert with a random id.
pub(crate) fn alert(symbol: Symbol, condition: Condition, rng: &mut impl Rng) -> Alert {
    let before = session().open - SignedDuration::from_hours(2);
    Alert {
        id: AlertId(Uuid::from_u128(rng.random())),
        revision: Revision(1),
        symbol,
        condition,
        notification: Channel::Email,
        parameters: None,
        note: None,
        tags: alerts::Tags::default(),
        options: alerts::options::AlertOptions::default(),
        routing: alerts::Routing::default(),
        lifecycle: None,
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

/// Returns the `millis`-th millisecond of the session.
pub(crate) fn moment(millis: i64) -> Timestamp {
    // Cached, because the calendar is slower than much of the measured code.
    static OPEN: LazyLock<Timestamp> = LazyLock::new(|| session().open);
    *OPEN + SignedDuration::from_millis(millis)
}
