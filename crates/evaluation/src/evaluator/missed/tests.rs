//! Compares an engine that received every observation with one that missed a period and evaluated it late.

mod crash;
mod scenario;

use std::collections::{BTreeMap, HashMap};

use ::alerts::condition::{EpsBasis, RsiDirection, Side, VolumeBaseline};
use ::alerts::engine::{AlertAction, Decision, EngineConfig, Event, InsiderTrade, Quote, QuoteDetails};
use ::alerts::lifecycle::{Lifecycle, Phase};
use ::alerts::metrics::MetricDependency;
use ::alerts::options::TriggerPrice;
use ::alerts::request::{ParseContext, parse_create};
use ::alerts::transition::{self, OwnerVerification, PriceAvailability};
use ::alerts::{Channel, Condition, Revision};
use ::market::{Bar, Calendar, Decimal};
use jiff::SignedDuration;
use jiff::civil::date;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use uuid::Uuid;

use super::facts::{Fact, FactTimeline};
use super::*;
use scenario::*;

const STOCKS: [&str; 2] = ["AAPL", "MSFT"];

/// The live engine of one of the two runs, with all its decisions and the alerts as stored.
struct LiveEngine {
    engine: Engine,
    decisions: Vec<Decision>,
    alerts: HashMap<AlertId, Alert>,
    facts: FactTimeline,
}

/// Stores the effect of a decision with its alert. Returns whether the alert stays active.
fn store(alerts: &mut HashMap<AlertId, Alert>, decision: &Decision) -> bool {
    let Some(alert) = alerts.get_mut(&decision.alert) else {
        return false;
    };
    match &decision.action {
        AlertAction::SetRsiSide { side } => alert.rsi_side = Some(*side),
        AlertAction::SetLifecycle { state } => alert.lifecycle = Some(state.clone()),
        AlertAction::FireRule { state, is_last, .. } => {
            alert.lifecycle = Some(state.clone());
            alert.revision = decision.revision.next();
            return !is_last;
        }
        AlertAction::Fire { .. } | AlertAction::Expire { .. } => return false,
        AlertAction::Adjust { .. } => {}
    }
    true
}

impl LiveEngine {
    fn process(&mut self, event: Event<'_>, at: Timestamp) {
        let known = self.decisions.len();
        self.engine.process(event, at, &mut self.decisions).unwrap();
        for decision in &self.decisions[known..] {
            store(&mut self.alerts, decision);
        }
    }

    fn observe(&mut self, (stock, observation): &StockObservation) {
        let at = observation.at;
        while let Some((symbol, fact)) = self.facts.next_until(at) {
            fact.process(symbol, |event| self.process(event, at));
        }
        let stock = self.engine.stock(symbol(*stock));
        let quote = Quote::new(stock, observation.price);
        let quote = observation.volume.map_or(quote, |volume| quote.with_volume(volume));
        self.process(Event::Clock, at);
        let &MissedObservation { bid, ask, vwap, .. } = observation;
        if bid.or(vwap).is_some() {
            self.process(Event::QuoteDetails(&[QuoteDetails { stock, bid, ask, vwap }]), at);
        }
        self.process(Event::Snapshot(&[quote]), at);
    }

    /// Returns the gaps of some missed observations, as the service does.
    fn gaps(&self, missed: &[StockObservation]) -> Vec<Gap> {
        let mut stocks: BTreeMap<usize, Vec<MissedObservation>> = BTreeMap::new();
        for &(stock, observation) in missed {
            stocks.entry(stock).or_default().push(observation);
        }
        let gaps = (0..STOCKS.len()).map(|stock| Gap {
            symbol: symbol(stock),
            observations: stocks.remove(&stock).unwrap_or_default(),
            history: self.engine.history(symbol(stock)).cloned().unwrap_or_default(),
            session: self.engine.observed_session(symbol(stock)),
            is_complete: true,
        });
        gaps.collect()
    }

    /// Returns the stored alerts that are evaluated at observations of some gaps.
    fn active_alerts(&self, gaps: &[Gap]) -> Vec<Alert> {
        let active = self
            .alerts
            .values()
            .filter(|alert| self.engine.revision(alert.id).is_some());
        let observed = |symbol: Symbol| {
            let mut gaps = gaps.iter().filter(|gap| !gap.observations.is_empty());
            gaps.any(|gap| gap.symbol == symbol)
        };
        let affected = active.filter(|alert| AlertInputs::of(alert).stocks().any(observed));
        affected.cloned().collect()
    }

    /// Evaluates the missed observations as the service does.
    fn evaluate_missed(&mut self, missed: &[StockObservation], now: Timestamp) {
        let gaps = self.gaps(missed);
        let result = evaluate(&gaps, self.active_alerts(&gaps), now);
        let (_, late) = merge::merge(&mut self.engine, result, now);
        for decision in late.in_time.iter().chain(late.in_order()) {
            store(&mut self.alerts, decision);
            self.decisions.push(decision.clone());
        }
    }

    /// Returns the firings of some alerts, in order.
    fn fired(&self, is_compared: impl Fn(&Alert) -> bool) -> Vec<(AlertId, Timestamp)> {
        let compared = |decision: &&Decision| is_compared(&self.alerts[&decision.alert]);
        firings(self.decisions.iter().filter(compared))
    }
}

/// Returns the state of a rule after the scenario. A cooldown ends at the first judgement after it, and a quiet observation is none.
fn at_the_end(alert: &Alert) -> Option<Lifecycle> {
    let state = alert.lifecycle.as_deref()?.clone();
    let phase = match state.phase {
        Phase::Cooling { until, was_left: true } if until <= end_of_scenario() => Phase::Armed,
        Phase::Cooling { until, was_left: false } if until <= end_of_scenario() => Phase::WaitingToRearm,
        phase => phase,
    };
    Some(Lifecycle { phase, ..state })
}

fn evaluate(gaps: &[Gap], alerts: Vec<Alert>, until: Timestamp) -> RerunResult {
    let inputs = RerunInputs {
        alerts,
        facts: FactTimeline::new(facts()),
        until,
        stale_after: EngineConfig::default().stale_after,
    };
    rerun(Engine::new(Calendar::nyse(), EngineConfig::default()), gaps, inputs)
}

fn firings<'a>(decisions: impl IntoIterator<Item = &'a Decision>) -> Vec<(AlertId, Timestamp)> {
    let fires = |action: &AlertAction| matches!(action, AlertAction::Fire { .. } | AlertAction::FireRule { .. });
    let fired = decisions.into_iter().filter(|decision| fires(&decision.action));
    let mut fired: Vec<_> = fired.map(|decision| (decision.alert, decision.at)).collect();
    fired.sort_unstable();
    fired
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
fn live(scenario: &Scenario, missed: &Missed) -> LiveEngine {
    let stream = scenario.stream();
    let mut live = LiveEngine {
        engine: scenario.engine(),
        decisions: Vec::new(),
        alerts: HashMap::new(),
        facts: FactTimeline::new(facts()),
    };
    let alerts = scenario.alerts(&stream);
    let mut bars_due = Vec::new();
    let mut has_evaluated_missed = missed.range.is_empty();
    for place in 0..=stream.len() {
        let begins = stream.get(place).map(|(_, observation)| observation.session);
        let ended = place.checked_sub(1).map(|last| stream[last].1.session);
        if let Some(ended) = ended.filter(|ended| Some(*ended) != begins) {
            bars_due.extend(bars(&stream, ended));
        }
        let now = stream
            .get(place)
            .map_or_else(end_of_scenario, |(_, observation)| observation.at);
        let is_missed = stream.get(place).is_some_and(|(stock, _)| missed.has(place, *stock));
        if !is_missed {
            if scenario.bars_come_first && !bars_due.is_empty() {
                process_bars(&mut live, &mut bars_due, now);
            }
            if !has_evaluated_missed && place >= missed.range.end {
                live.evaluate_missed(&missed.quotes(scenario), now);
                has_evaluated_missed = true;
            }
            process_bars(&mut live, &mut bars_due, now);
        }
        for (_, alert) in alerts.iter().filter(|(after, _)| *after == place) {
            live.alerts.insert(alert.id, alert.clone());
            live.process(Event::Armed(alert), alert.armed_at);
        }
        if place == missed.range.start && !missed.range.is_empty() {
            // The closes before the gap are evaluated in time.
            live.process(Event::Clock, now);
        }
        if let Some(quote) = stream.get(place).filter(|_| !is_missed) {
            live.observe(quote);
        }
    }
    // The clock of the live engine runs without quotes, too.
    live.process(Event::Clock, end_of_scenario());
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
        let missed = scenario.missed();
        let (whole, patched) = (live(&scenario, &Missed::NONE), live(&scenario, &missed));
        let is_judgeable = |alert: &Alert| scenario.is_judgeable(alert);
        prop_assert_eq!(patched.fired(is_judgeable), whole.fired(is_judgeable));
        for stock in STOCKS {
            let stock = stock.parse().unwrap();
            let session = |live: &LiveEngine| live.engine.observed_session(stock).map(|session| ObservedSession {
                volume: session.volume.filter(|_| scenario.has_gap_volumes),
                // Those of before the gap are not known any more.
                bid: None,
                ask: None,
                vwap: None,
                ..session
            });
            prop_assert_eq!(session(&patched), session(&whole));
        }
        for (id, alert) in whole.alerts.iter().filter(|(_, alert)| is_judgeable(alert)) {
            prop_assert_eq!((id, patched.engine.revision(*id)), (id, whole.engine.revision(*id)));
            prop_assert_eq!(at_the_end(&patched.alerts[id]), at_the_end(alert));
        }
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
            bid: None,
            ask: None,
            vwap: None,
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
            is_complete: true,
        };
        let (baseline, percent) = (VolumeBaseline::Ma20, Decimal::from_units(10).unwrap());
        let alert = Alert {
            condition: Condition::VolumeChange { baseline, percent },
            armed_at,
            ..alert(0, 0, Condition::NewExtreme { side: Side::Above })
        };
        evaluate(&[gap], vec![alert], armed_at + SignedDuration::from_mins(1))
            .decisions
            .len()
    };
    assert_eq!(volume(None), 0);
    assert_eq!(volume(Some(1_000)), 1);
}

#[test]
fn scenarios_have_firings_of_every_rule_in_their_gaps() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut late: HashMap<AlertId, usize> = HashMap::new();
    for _ in 0..300 {
        let scenario = scenarios().new_tree(&mut runner).unwrap().current();
        let missed = scenario.missed();
        let quotes = missed.quotes(&scenario);
        let Some((from, to)) = quotes.first().zip(quotes.last()) else {
            continue;
        };
        let (from, to) = (from.1.at, to.1.at);
        let fired = live(&scenario, &missed).fired(|alert| scenario.is_judgeable(alert));
        for (alert, at) in fired {
            *late.entry(alert).or_default() += usize::from((from..=to).contains(&at));
        }
    }
    let total: usize = late.values().sum();
    assert!(total > 400, "{total}");
    let first = conditions().len() * STOCKS.len();
    for (number, rule) in (first..).zip(RULES) {
        let id = AlertId(Uuid::from_u128(number as u128));
        let has_books = rule.1.contains("bid");
        assert!(has_books || late.get(&id).is_some_and(|fired| *fired > 0), "{rule:?}");
    }
}
