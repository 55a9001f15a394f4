//! 100,000 alerts with expressions on 500 stocks, and a minute of quotes. The baseline evaluates each expression at each observation
//! of its stock with the interpreter `evalexpr`: compiled once, in the favour of the baseline without the time to compute indicators.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may fail so")]

mod support;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Duration;

use alerts::engine::{AlertAction, Decision, Engine, Event, Quote};
use alerts::expression::Expression;
use alerts::lifecycle::Lifecycle;
use alerts::{Alert, Condition};
use evalexpr::{ContextWithMutableVariables, HashMapContext, Node, Value, build_operator_tree};
use market::History;
use market::indicators::{Ema, Macd};
use rand::Rng;
use support::market::{MONDAY, Market, alert, cents, moment, moved, price, rng};
use support::mix::{bars, sessions_before};
use support::timing::{Candidate, measure_in_turn, nanos, stopwatch};
use support::{is_short, measuring, size, target};

/// The first observation of each stock, and one every second of the minute after it.
const SECONDS: i64 = 61;
/// The sessions before the bench, enough for `sma(200)`.
const SESSIONS: usize = 260;

/// An expression in both languages.
struct Written {
    ours: String,
    theirs: String,
}

/// The metrics, by their names in the language of the interpreter.
const NAMES: [&str; 7] = ["price", "open", "rsi", "sma200", "ema20", "macd", "macd_signal"];

/// Returns a random expression on a stock at `now`, most of them 5 to 30 % from being true.
fn written(now: i64, rng: &mut impl Rng) -> Written {
    let dollars = |micros: i64| format!("{}.{:02}", micros / 1_000_000, micros / 10_000 % 100);
    let above = dollars(cents(moved(now, rng.random_range(0.05..0.30))));
    let below = dollars(cents(moved(now, -rng.random_range(0.05..0.30))));
    let rsi = rng.random_range(10..25);
    let ours = match rng.random_range(0..6) {
        0 => format!("price < {below} and rsi(14) < {rsi}"),
        1 => format!("price > {above} or price < {below}"),
        2 => format!("price > {above} and price > sma(200)"),
        3 => format!("price < {below} or rsi(14) < {rsi}"),
        4 => format!("price > ema(20) and macd > macd_signal and price > {above}"),
        _ => format!("price <= {below} and price < 0.95 * open"),
    };
    let mut theirs = ours.clone();
    for (name, other) in [
        ("rsi(14)", "rsi"),
        ("sma(200)", "sma200"),
        ("ema(20)", "ema20"),
        (" and ", " && "),
        (" or ", " || "),
    ] {
        theirs = theirs.replace(name, other);
    }
    // The interpreter does not compare whole numbers with floats.
    theirs = theirs.replace(&format!("rsi < {rsi}"), &format!("rsi < {rsi}.0"));
    Written { ours, theirs }
}

/// The values of the metrics in the order of [`NAMES`].
fn values(history: &History, open: i64, now: i64) -> [f64; 7] {
    let dollars = |micros: f64| micros / 1e6;
    let macd = history.indicator(Macd::new(12, 26, 9)).with(now).unwrap();
    [
        dollars(now as f64),
        dollars(open as f64),
        history.rsi().value_at(now).unwrap(),
        history.sma_at(200, now).unwrap(),
        dollars(history.indicator(Ema::new(20)).with(now).unwrap()),
        dollars(macd.line),
        dollars(macd.signal),
    ]
}

/// An expression of the interpreter and the index of its alert.
type Interpreted = (Node, usize);

struct Fixture {
    engine: Engine,
    alerts: Vec<Alert>,
    /// The quotes of each second.
    quotes: Vec<Vec<Quote>>,
    /// The values of the metrics of each stock in each second.
    values: Vec<Vec<[f64; 7]>>,
    /// The expressions of each stock.
    interpreted: Vec<Vec<Interpreted>>,
}

impl Fixture {
    fn new() -> Self {
        let rng = &mut rng(5);
        let mut market = Market::new(size(500, 20), rng);
        let (mut engine, indices) = market.engine();
        let days = sessions_before(MONDAY, SESSIONS);
        let mut out = Vec::new();
        for (at, symbol) in market.symbols.clone().into_iter().enumerate() {
            for bar in bars(&days, market.prices[at], rng) {
                market.prices[at] = bar.close.micros();
                engine
                    .process(Event::Bar { symbol, bar }, moment(-60_000), &mut out)
                    .unwrap();
            }
        }
        let (mut alerts, mut interpreted) = (Vec::new(), Vec::new());
        let per_stock = size(200, 10);
        for (&symbol, &now) in market.symbols.iter().zip(&market.prices) {
            let mut of_stock = Vec::new();
            for _ in 0..per_stock {
                let text = written(now, rng);
                let expression: Expression = text.ours.parse().unwrap();
                of_stock.push((build_operator_tree(&text.theirs).unwrap(), alerts.len()));
                let mut made = alert(symbol, Condition::expression(expression, None), rng);
                made.lifecycle = Some(Box::new(Lifecycle::new(made.armed_at, None, None)));
                alerts.push(made);
            }
            interpreted.push(of_stock);
        }
        for alert in &alerts {
            engine.process(Event::Armed(alert), alert.armed_at, &mut out).unwrap();
        }
        assert_eq!(engine.armed_alerts(), alerts.len());
        let opens = market.prices.clone();
        let (mut quotes, mut all_values) = (Vec::new(), Vec::new());
        for _ in 0..SECONDS {
            let observed = indices.iter().zip(&market.prices);
            quotes.push(
                observed
                    .map(|(&index, &micros)| Quote::new(index, price(micros)).with_volume(1_000))
                    .collect(),
            );
            let stocks = market.symbols.iter().zip(&opens).zip(&market.prices);
            all_values.push(
                stocks
                    .map(|((&symbol, &open), &now)| values(engine.history(symbol).unwrap(), open, now))
                    .collect(),
            );
            market.step(rng);
        }
        Self {
            engine,
            alerts,
            quotes,
            values: all_values,
            interpreted,
        }
    }

    /// Processes the quotes with the engine.
    fn run_engine(&self) -> EngineRun {
        let mut engine = self.engine.clone();
        let mut decisions: Vec<Decision> = Vec::new();
        let mut process = |second: usize, decisions: &mut Vec<Decision>| {
            let now = moment(i64::try_from(second).unwrap() * 1_000);
            engine.process(Event::Clock, now, decisions).unwrap();
            let quotes = black_box(&self.quotes[second]);
            engine.process(Event::Snapshot(quotes), now, decisions).unwrap();
        };
        let (first, ()) = stopwatch(|| process(0, &mut decisions));
        let (minute, ()) = stopwatch(|| (1..self.quotes.len()).for_each(|second| process(second, &mut decisions)));
        let index_of = |decision: &Decision| self.alerts.iter().position(|alert| alert.id == decision.alert);
        let fired = decisions
            .iter()
            .filter(|decision| matches!(decision.action, AlertAction::FireRule { .. }));
        EngineRun {
            first,
            minute,
            fired: fired.filter_map(index_of).collect(),
        }
    }

    /// Evaluates each expression at each observation with the interpreter. Returns the time of the minute and the alerts that
    /// were true.
    fn run_interpreter(&self) -> (Duration, BTreeSet<usize>) {
        let mut contexts: Vec<HashMapContext> = self.interpreted.iter().map(|_| HashMapContext::new()).collect();
        let mut fired = BTreeSet::new();
        let mut evaluate = |values: &[[f64; 7]]| {
            for ((context, values), interpreted) in contexts.iter_mut().zip(values).zip(&self.interpreted) {
                for (name, value) in NAMES.iter().zip(values) {
                    context.set_value((*name).to_owned(), Value::Float(*value)).unwrap();
                }
                for (expression, alert) in interpreted {
                    if black_box(expression).eval_boolean_with_context(context).unwrap() {
                        fired.insert(*alert);
                    }
                }
            }
        };
        evaluate(&self.values[0]);
        let (time, ()) = stopwatch(|| self.values[1..].iter().for_each(|values| evaluate(values)));
        (time, fired)
    }
}

/// The times of the first observation and of the minute after it, and the alerts that fired.
struct EngineRun {
    first: Duration,
    minute: Duration,
    fired: BTreeSet<usize>,
}

fn main() {
    let fixture = Fixture::new();
    let by_engine = fixture.run_engine().fired;
    let (_, by_interpreter) = fixture.run_interpreter();
    assert_eq!(by_engine, by_interpreter, "both must find the same alerts");
    println!("\n{} expressions, {} fire", fixture.alerts.len(), by_engine.len());
    let mut observed = fixture.engine.clone();
    let mut decisions = Vec::new();
    observed
        .process(Event::Snapshot(&fixture.quotes[0]), moment(0), &mut decisions)
        .unwrap();
    let explained = &fixture.alerts[..size(1_000, 10)];
    let figures = measure_in_turn(
        "A minute of quotes of 500 stocks with 100,000 expressions",
        if is_short() { 1 } else { size(5, 1) },
        vec![
            Candidate::timing_itself("engine", 1, || fixture.run_engine().minute),
            Candidate::timing_itself("evalexpr, each expression at each observation", 1, || {
                fixture.run_interpreter().0
            }),
            Candidate::timing_itself("engine, the first observation of the session", 1, || {
                fixture.run_engine().first
            }),
            Candidate::new("engine, the explanation of an alert", explained.len(), || {
                for alert in explained {
                    black_box(observed.explain(alert.id, moment(1_000)));
                }
            }),
        ],
    );
    if measuring() {
        let ratio = figures[1].best / figures[0].best;
        target(
            "the engine is at least 50 times as fast",
            format!("{ratio:.0} times"),
            ratio >= 50.0,
        );
        let explanation = figures[3].best;
        target(
            "an explanation takes at most 5 ms",
            nanos(explanation),
            explanation <= 5e6,
        );
    }
}
