//! Compares an engine that received every observation with one that missed a period and evaluated it late.

use std::collections::{BTreeMap, HashMap};

use ::alerts::condition::{EpsBasis, RsiDirection, Side, VolumeBaseline};
use ::alerts::engine::{AlertAction, Decision, EngineConfig, Event, Quote};
use ::alerts::{AlertId, Channel, Condition, Revision, Status};
use ::market::records::FundamentalsRow;
use ::market::{Bar, Calendar, Decimal};
use jiff::SignedDuration;
use jiff::civil::date;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use uuid::Uuid;

use super::*;

const STOCKS: [&str; 2] = ["AAPL", "MSFT"];

/// A random walk of two stocks over three sessions, with alerts and a gap.
#[derive(Clone, Debug)]
struct Scenario {
    /// The moves of the closes of the sessions before, in quarters of a dollar.
    past: Vec<i64>,
    /// For each session: seconds since the previous quote, the stock, and its price move in quarters of a dollar.
    quotes: [Vec<(i64, usize, i64)>; 3],
    has_volumes: bool,
    /// For each alert the number of quotes before it; 0 for most.
    armed_after: Vec<usize>,
    /// The missed quotes: the first one and their number.
    gap: (usize, usize),
    /// Whether the bars of missed sessions arrive before the late evaluation.
    bars_come_first: bool,
}

fn scenarios() -> impl Strategy<Value = Scenario> {
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
fn conditions() -> Vec<Condition> {
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

fn quarter(quarters: i64) -> Price {
    Price::from_micros(quarters * 250_000).unwrap()
}

fn symbol(stock: usize) -> Symbol {
    STOCKS[stock].parse().unwrap()
}

fn session_dates() -> [Date; 3] {
    // Wednesday, Friday (Thursday has no quotes) and Monday.
    [date(2024, 3, 6), date(2024, 3, 8), date(2024, 3, 11)]
}

/// A quote with its stock.
type StockObservation = (usize, MissedObservation);

impl Scenario {
    fn stream(&self) -> Vec<StockObservation> {
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
    fn missed(&self, stream: usize) -> std::ops::Range<usize> {
        let from = self.gap.0 % stream;
        from..(from + self.gap.1).min(stream)
    }

    fn engine(&self) -> Engine {
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
                eps_ttm: row.eps_ttm,
                eps_forward: row.eps_forward,
            };
            engine.process(event, now, &mut Vec::new()).unwrap();
        }
        engine
    }

    /// Returns the alerts with the number of quotes before each.
    fn alerts(&self, stream: &[StockObservation]) -> Vec<(usize, Alert)> {
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

fn alert(number: usize, stock: usize, condition: Condition) -> Alert {
    Alert {
        id: AlertId(Uuid::from_u128(number as u128)),
        revision: Revision::default(),
        symbol: symbol(stock),
        condition,
        notification: Channel::default(),
        parameters: None,
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
fn scenario() -> Scenario {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    scenarios().new_tree(&mut runner).unwrap().current()
}

fn earnings() -> impl Iterator<Item = FundamentalsRow> {
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

/// The live engine of one of the two runs, with all its decisions.
struct LiveEngine {
    engine: Engine,
    decisions: Vec<Decision>,
    alerts: HashMap<AlertId, Alert>,
}

impl LiveEngine {
    fn process(&mut self, event: Event<'_>, at: Timestamp) {
        self.engine.process(event, at, &mut self.decisions).unwrap();
        for decision in &self.decisions {
            if let (AlertAction::SetRsiSide { side }, Some(alert)) =
                (decision.action, self.alerts.get_mut(&decision.alert))
            {
                alert.rsi_side = Some(side);
            }
        }
    }

    fn observe(&mut self, (stock, observation): &StockObservation) {
        let quote = Quote::new(self.engine.stock(symbol(*stock)), observation.price);
        let quote = observation.volume.map_or(quote, |volume| quote.with_volume(volume));
        self.process(Event::Clock, observation.at);
        self.process(Event::Snapshot(&[quote]), observation.at);
    }

    /// Evaluates the missed observations as the service does.
    fn evaluate_missed(&mut self, missed: &[StockObservation], now: Timestamp) {
        let mut stocks: BTreeMap<usize, Vec<MissedObservation>> = BTreeMap::new();
        for &(stock, observation) in missed {
            stocks.entry(stock).or_default().push(observation);
        }
        let gaps = stocks.into_iter().map(|(stock, observations)| Gap {
            symbol: symbol(stock),
            observations,
            history: self.engine.history(symbol(stock)).cloned().unwrap_or_default(),
            session: self.engine.observed_session(symbol(stock)),
        });
        let gaps: Vec<Gap> = gaps.collect();
        let affected = |alert: &&Alert| gaps.iter().any(|gap| gap.symbol == alert.symbol);
        let active = self
            .alerts
            .values()
            .filter(|alert| self.engine.revision(alert.id).is_some());
        let alerts: Vec<Alert> = active.filter(affected).cloned().collect();
        let mut known = Earnings::new();
        for row in earnings() {
            known.entry(row.symbol).or_default().push(row);
        }
        let engine = Engine::new(Calendar::nyse(), EngineConfig::default());
        let result = rerun(engine, &gaps, known, alerts);
        let (_, late) = merge::merge(&mut self.engine, result, now);
        self.decisions.extend(late);
    }

    fn fired(&self) -> Vec<(AlertId, Timestamp)> {
        let fired = self
            .decisions
            .iter()
            .filter(|decision| matches!(decision.action, AlertAction::Fire { .. }));
        let mut fired: Vec<_> = fired.map(|decision| (decision.alert, decision.at)).collect();
        fired.sort_unstable();
        fired
    }
}

/// Returns the bars of a session's quotes.
fn bars(stream: &[StockObservation], date: Date) -> Vec<(Symbol, Bar)> {
    let of_stock = |stock: usize| {
        let seen = stream
            .iter()
            .filter(move |(of, observation)| (*of, observation.session) == (stock, date));
        let seen: Vec<MissedObservation> = seen.map(|(_, observation)| *observation).collect();
        let bar = Bar {
            date,
            open: seen.first()?.price,
            high: seen.iter().map(|observation| observation.price).max()?,
            low: seen.iter().map(|observation| observation.price).min()?,
            close: seen.last()?.price,
            volume: seen
                .iter()
                .filter_map(|observation| observation.volume)
                .max()
                .unwrap_or_default(),
        };
        Some((symbol(stock), bar))
    };
    (0..STOCKS.len()).filter_map(of_stock).collect()
}

/// Runs a scenario in an engine without the `missed` quotes.
fn live(scenario: &Scenario, missed: std::ops::Range<usize>) -> LiveEngine {
    let stream = scenario.stream();
    let mut live = LiveEngine {
        engine: scenario.engine(),
        decisions: Vec::new(),
        alerts: HashMap::new(),
    };
    let alerts = scenario.alerts(&stream);
    let mut bars_due = Vec::new();
    let mut has_evaluated_missed = missed.is_empty();
    for place in 0..=stream.len() {
        let begins = stream.get(place).map(|(_, observation)| observation.session);
        let ended = place.checked_sub(1).map(|last| stream[last].1.session);
        if let Some(ended) = ended.filter(|ended| Some(*ended) != begins) {
            bars_due.extend(bars(&stream, ended));
        }
        let now = stream
            .get(place)
            .map_or(Timestamp::MAX, |(_, observation)| observation.at);
        let is_missed = missed.contains(&place);
        if !is_missed {
            if scenario.bars_come_first && !bars_due.is_empty() {
                process_bars(&mut live, &mut bars_due, now);
            }
            if !has_evaluated_missed && place >= missed.end {
                live.evaluate_missed(&stream[missed.clone()], now);
                has_evaluated_missed = true;
            }
            process_bars(&mut live, &mut bars_due, now);
        }
        for (_, alert) in alerts.iter().filter(|(after, _)| *after == place) {
            live.alerts.insert(alert.id, alert.clone());
            live.process(Event::Armed(alert), alert.armed_at);
        }
        if let Some(quote) = stream.get(place).filter(|_| !is_missed) {
            live.observe(quote);
        }
    }
    live
}

fn process_bars(live: &mut LiveEngine, bars: &mut Vec<(Symbol, Bar)>, now: Timestamp) {
    for (symbol, bar) in bars.drain(..) {
        live.process(Event::Bar { symbol, bar }, now);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn late_evaluation_fires_the_same_alerts_at_the_same_instants(scenario in scenarios()) {
        let stream = scenario.stream();
        let missed = scenario.missed(stream.len());
        let (whole, patched) = (live(&scenario, 0..0), live(&scenario, missed));
        prop_assert_eq!(patched.fired(), whole.fired());
        for stock in STOCKS {
            let stock = stock.parse().unwrap();
            prop_assert_eq!(patched.engine.observed_session(stock), whole.engine.observed_session(stock));
        }
        prop_assert_eq!(patched.engine.armed_alerts(), whole.engine.armed_alerts());
    }
}

#[test]
fn volume_from_before_the_gap_fires_no_alert_in_it() {
    let armed_at: Timestamp = "2024-03-06T15:00:00Z".parse().unwrap();
    let volume = |volume| {
        let observation = MissedObservation {
            at: armed_at + SignedDuration::from_mins(1),
            session: session_dates()[0],
            price: quarter(40),
            volume,
        };
        let gap = Gap {
            symbol: symbol(0),
            observations: vec![observation],
            history: scenario().engine().history(symbol(0)).cloned().unwrap(),
            session: Some(ObservedSession {
                date: session_dates()[0],
                open: quarter(40),
                high: quarter(40),
                low: quarter(40),
                last: quarter(40),
                volume: Some(1_000),
                last_at: armed_at,
            }),
        };
        let (baseline, percent) = (VolumeBaseline::Ma20, Decimal::from_units(10).unwrap());
        let alert = Alert {
            condition: Condition::VolumeChange { baseline, percent },
            armed_at,
            ..alert(0, 0, Condition::NewExtreme { side: Side::Above })
        };
        let engine = Engine::new(Calendar::nyse(), EngineConfig::default());
        rerun(engine, &[gap], Earnings::new(), vec![alert]).decisions.len()
    };
    assert_eq!(volume(None), 0);
    assert_eq!(volume(Some(1_000)), 1);
}

#[test]
fn scenarios_have_firings_in_their_gaps() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut late = 0;
    for _ in 0..20 {
        let scenario = scenarios().new_tree(&mut runner).unwrap().current();
        let stream = scenario.stream();
        let missed = scenario.missed(stream.len());
        let (from, to) = (stream[missed.start].1.at, stream[missed.end - 1].1.at);
        let fired = live(&scenario, missed).fired();
        late += fired.iter().filter(|(_, at)| (from..=to).contains(at)).count();
    }
    assert!(late > 20, "{late}");
}
