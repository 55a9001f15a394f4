//! Generated scenarios of missed quotes.

use super::*;
use ::alerts::metrics::FundamentalFigures;

/// A random walk of two stocks over three sessions, with alerts and a gap.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    /// The moves of the closes of the sessions before, in quarters of a dollar.
    pub(super) past: Vec<i64>,
    /// For each session: seconds since the previous quote, the stock, and its price move in quarters of a dollar.
    pub(super) quotes: [Vec<(i64, usize, i64)>; 3],
    pub(super) has_volumes: bool,
    /// For each alert the number of quotes before it; 0 for most.
    pub(super) armed_after: Vec<usize>,
    /// The missed quotes: the first one and their number.
    pub(super) gap: (usize, usize),
    /// Whether the bars of missed sessions arrive before the late evaluation.
    pub(super) bars_come_first: bool,
}

pub(super) fn scenarios() -> impl Strategy<Value = Scenario> {
    let session = || prop::collection::vec((1_i64..600, 0..STOCKS.len(), -3_i64..=3), 1..25);
    let armed_after = prop_oneof![4 => Just(0), 1 => 0_usize..40];
    (
        prop::collection::vec(-2_i64..=2, 215),
        [session(), session(), session()],
        any::<bool>(),
        prop::collection::vec(armed_after, conditions().len() * STOCKS.len()),
        (0_usize..40, 1_usize..50),
        any::<bool>(),
    )
        .prop_map(
            |(past, quotes, has_volumes, armed_after, gap, bars_come_first)| Scenario {
                past,
                quotes,
                has_volumes,
                armed_after,
                gap,
                bars_come_first,
            },
        )
}

/// Conditions of each kind around a price of 10.
pub(super) fn conditions() -> Vec<Condition> {
    let whole = |units| Decimal::from_units(units).unwrap();
    let mut conditions = Vec::new();
    for side in [Side::Above, Side::Below] {
        for quarters in [28, 36, 39, 40, 41, 44, 52] {
            let threshold = quarter(quarters);
            conditions.push(Condition::Price { side, threshold });
        }
        for percent in [5, 10, 20] {
            let percent = whole(percent);
            conditions.push(Condition::PriceChange { side, percent });
        }
        conditions.push(Condition::NewExtreme { side });
        conditions.push(Condition::MaCrossover { side });
        for period in [2, 3, 20, 200] {
            conditions.push(Condition::MaTouch { side, period });
        }
        let (earnings, threshold) = (EpsBasis::Trailing, whole(11));
        conditions.push(Condition::PeRatio {
            side,
            earnings,
            threshold,
        });
    }
    for direction in [RsiDirection::Above, RsiDirection::Below, RsiDirection::Both] {
        for threshold in [45, 55] {
            let threshold = whole(threshold);
            conditions.push(Condition::Rsi { direction, threshold });
        }
    }
    for percent in [10, 50, 100] {
        let (baseline, percent) = (VolumeBaseline::Ma20, whole(percent));
        conditions.push(Condition::VolumeChange { baseline, percent });
    }
    conditions
}

pub(super) fn quarter(quarters: i64) -> Price {
    Price::from_micros(quarters * 250_000).unwrap()
}

pub(super) fn symbol(stock: usize) -> Symbol {
    STOCKS[stock].parse().unwrap()
}

pub(super) fn session_dates() -> [Date; 3] {
    // Wednesday, Friday (Thursday has no quotes) and Monday.
    [date(2024, 3, 6), date(2024, 3, 8), date(2024, 3, 11)]
}

/// A quote with its stock.
pub(super) type StockObservation = (usize, MissedObservation);

impl Scenario {
    pub(super) fn stream(&self) -> Vec<StockObservation> {
        let mut prices = [40_i64; STOCKS.len()];
        let mut stream = Vec::new();
        for (date, quotes) in session_dates().into_iter().zip(&self.quotes) {
            let session = Calendar::nyse().session(date).unwrap();
            let (mut at, mut volume) = (session.open, [20_i64; STOCKS.len()]);
            for &(later, stock, step) in quotes {
                at += SignedDuration::from_secs(later);
                prices[stock] = (prices[stock] + step).clamp(28, 52);
                volume[stock] += later / 20;
                let observation = MissedObservation {
                    at,
                    session: date,
                    price: quarter(prices[stock]),
                    volume: self.has_volumes.then_some(volume[stock]),
                };
                stream.push((stock, observation));
            }
        }
        stream
    }

    /// Returns the range of missed quotes.
    pub(super) fn missed(&self, stream: usize) -> std::ops::Range<usize> {
        let from = self.gap.0 % stream;
        from..(from + self.gap.1).min(stream)
    }

    pub(super) fn engine(&self) -> Engine {
        let mut engine = Engine::new(Calendar::nyse(), EngineConfig::default());
        let now = Calendar::nyse().session(session_dates()[0]).unwrap().open;
        let calendar = Calendar::nyse();
        let before = calendar.sessions(date(2023, 4, 3), date(2024, 3, 5));
        let mut close = 40;
        for (session, step) in before.zip(&self.past) {
            close = (close + step).clamp(30, 50);
            let bar = Bar {
                date: session.date,
                open: quarter(close),
                high: quarter(close + 1),
                low: quarter(close - 1),
                close: quarter(close),
                volume: 60 + close,
            };
            for stock in 0..STOCKS.len() {
                let symbol = symbol(stock);
                engine
                    .process(Event::Bar { symbol, bar }, now, &mut Vec::new())
                    .unwrap();
            }
        }
        for row in earnings() {
            let event = Event::Fundamentals {
                symbol: row.symbol,
                figures: FundamentalFigures::of(&row),
            };
            engine.process(event, now, &mut Vec::new()).unwrap();
        }
        engine
    }

    /// Returns the alerts with the number of quotes before each.
    pub(super) fn alerts(&self, stream: &[StockObservation]) -> Vec<(usize, Alert)> {
        let start = Calendar::nyse().session(session_dates()[0]).unwrap().open;
        let all = (0..STOCKS.len()).flat_map(|stock| conditions().into_iter().map(move |condition| (stock, condition)));
        all.enumerate()
            .map(|(number, (stock, condition))| {
                // The side of an RSI alert for both directions depends on the data at its creation.
                let is_decided =
                    matches!(condition, Condition::Rsi { direction, .. } if direction == RsiDirection::Both);
                let after = if is_decided {
                    0
                } else {
                    self.armed_after[number] % stream.len()
                };
                let armed_at = match after.checked_sub(1) {
                    Some(before) => stream[before].1.at,
                    None => start,
                };
                let alert = Alert {
                    // Made just after a quote.
                    armed_at: armed_at + SignedDuration::from_millis(1),
                    ..alert(number, stock, condition)
                };
                (after, alert)
            })
            .collect()
    }
}

pub(super) fn alert(number: usize, stock: usize, condition: Condition) -> Alert {
    Alert {
        id: AlertId(Uuid::from_u128(number as u128)),
        revision: Revision::default(),
        symbol: symbol(stock),
        condition,
        notification: Channel::default(),
        parameters: None,
        note: None,
        tags: ::alerts::Tags::default(),
        options: ::alerts::options::AlertOptions::default(),
        lifecycle: None,
        status: Status::Active,
        initial_price: Some(quarter(40)),
        created_at: Timestamp::UNIX_EPOCH,
        armed_at: Timestamp::UNIX_EPOCH,
        threshold_set_at: Timestamp::UNIX_EPOCH,
        initial_price_set_at: Timestamp::UNIX_EPOCH,
        rsi_side: None,
        triggered_at: None,
    }
}

/// Returns a deterministic scenario.
pub(super) fn scenario() -> Scenario {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    scenarios().new_tree(&mut runner).unwrap().current()
}

pub(super) fn earnings() -> impl Iterator<Item = FundamentalsRow> {
    (0..STOCKS.len()).map(|stock| FundamentalsRow {
        symbol: symbol(stock),
        as_of: date(2024, 3, 1),
        eps_ttm: Decimal::from_units(1),
        eps_forward: None,
        market_cap: None,
        dividend_yield: None,
        dividend_amount: None,
        beta: None,
    })
}
