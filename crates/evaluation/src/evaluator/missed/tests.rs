//! Compares an engine that received every observation with one that missed a period and evaluated it late.

mod scenario;

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
use scenario::*;

const STOCKS: [&str; 2] = ["AAPL", "MSFT"];

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
                (&decision.action, self.alerts.get_mut(&decision.alert))
            {
                alert.rsi_side = Some(*side);
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
                bid: None,
                ask: None,
                vwap: None,
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
