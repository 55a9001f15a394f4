//! Whether the engine got slower: short runs of its main operations, as ratios to a fixed computation of the same run.
//!
//! A ratio hardly depends on the machine, so it can be compared with the stored ones in `benches/baseline.json`. The program is
//! started by `scripts/bench`; with `--save` it stores its ratios as the new baseline.

mod support;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use alerts::Alert;
use alerts::engine::{Decision, Engine, Event, Quote};
use alerts::request::{ParseContext, parse_create};
use market::Calendar;
use rand::Rng;
use support::market::{Market, alert, moment, moved, quotes, rng};
use support::timing::{Candidate, Figure, measure_in_turn, stopwatch};
use support::{measuring, mix, size};

/// The ratio to the baseline above which an operation counts as slower.
const SLOWER: f64 = 1.15;
/// The rounds in which the candidates are measured in turn.
const ROUNDS: usize = 15;

/// The candidate to which the others are compared.
const CALIBRATION: &str = "calibration: sort of 200,000 integers";

/// An engine before the open of a session, its alerts, and the observations of the first minutes.
struct Fixture {
    engine: Engine,
    alerts: Vec<Alert>,
    minutes: Vec<Vec<Quote>>,
    /// Every price 30 % lower, so that most alerts below the price fire.
    crash: Vec<Quote>,
    market: Market,
}

impl Fixture {
    fn new() -> Self {
        let rng = &mut rng(31);
        let mut market = Market::new(size(1_000, 20), rng);
        let (mut engine, stock_indices) = market.engine();
        let eps = mix::load_facts(&mut engine, &mut market, rng);
        let alerts = mix::alerts(&market, &eps, size(100_000, 1_000), rng);
        let mut out = Vec::new();
        for alert in &alerts {
            process(&mut engine, Event::Armed(alert), 0, &mut out);
        }
        let mut walking = market.clone();
        let minutes = (0..size(30, 3))
            .map(|_| {
                walking.step(rng);
                quotes(&stock_indices, &walking.prices)
            })
            .collect();
        let fallen: Vec<i64> = market.prices.iter().map(|&price| moved(price, -0.3)).collect();
        let crash = quotes(&stock_indices, &fallen);
        Self {
            engine,
            alerts,
            minutes,
            crash,
            market,
        }
    }

    /// Returns the duration of the first minutes of a session, as the service processes them.
    fn minutes(&self) -> Duration {
        let mut engine = self.engine.clone();
        let mut out = Vec::new();
        let (duration, ()) = stopwatch(|| {
            for (minute, quotes) in (0..).zip(&self.minutes) {
                for event in [Event::Clock, Event::Snapshot(quotes), Event::Evaluate] {
                    process(&mut engine, event, minute * 60_000, &mut out);
                }
            }
        });
        black_box(out);
        duration
    }

    /// Returns the duration of an observation at which thousands of alerts fire.
    fn crash(&self) -> Duration {
        let mut engine = self.engine.clone();
        let mut out = Vec::new();
        let (duration, ()) = stopwatch(|| process(&mut engine, Event::Snapshot(&self.crash), 1, &mut out));
        assert!(
            out.len() > self.alerts.len() / 10,
            "many alerts fire, not {}",
            out.len()
        );
        duration
    }
}

fn process(engine: &mut Engine, event: Event<'_>, millis: i64, out: &mut Vec<Decision>) {
    engine
        .process(event, moment(millis), out)
        .expect("the event is accepted");
}

/// An engine whose observations stay quiet.
struct QuietEngine {
    engine: Engine,
    quotes: Vec<Quote>,
}

impl QuietEngine {
    fn new() -> Self {
        let rng = &mut rng(32);
        let market = Market::new(size(10_000, 50), rng);
        let (mut engine, stock_indices) = market.engine();
        let mut out = Vec::new();
        for level in market.levels(size(100_000, 500), rng) {
            let alert = alert(market.symbols[level.stock as usize], level.condition(), rng);
            process(&mut engine, Event::Armed(&alert), 0, &mut out);
        }
        let mut quiet = Self {
            engine,
            quotes: quotes(&stock_indices, &market.prices),
        };
        quiet.observe(1);
        quiet
    }

    fn observe(&mut self, times: usize) {
        let mut out = Vec::new();
        for _ in 0..times {
            process(&mut self.engine, Event::Snapshot(black_box(&self.quotes)), 1, &mut out);
        }
        assert!(out.is_empty(), "no alert fires");
    }
}

fn measure() -> Vec<Figure> {
    let fixture = Fixture::new();
    let mut quiet = QuietEngine::new();
    let numbers: Vec<u64> = rng(33).random_iter().take(size(200_000, 100)).collect();
    let observations = size(200, 1);
    let calendar = Calendar::nyse();
    let context = ParseContext {
        now: moment(0),
        time_zone: &jiff::tz::TimeZone::UTC,
        calendar: &calendar,
    };
    let body = serde_json::json!({"symbol": "AAPL", "condition": "insider_transactions", "threshold": 250_000,
                                  "parameters": {"direction": "buy", "minExecutives": 2}});
    let bodies = size(2_000, 10);
    let mut changed = fixture.engine.clone();
    let candidates = vec![
        Candidate::new(CALIBRATION, numbers.len(), || {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            black_box(sorted);
        }),
        Candidate::new("quiet observation", quiet.quotes.len() * observations, || {
            quiet.observe(observations)
        }),
        Candidate::timing_itself(
            "observation with alerts of all families",
            fixture.market.len() * fixture.minutes.len(),
            || fixture.minutes(),
        ),
        Candidate::timing_itself("firings of a crash", fixture.alerts.len(), || fixture.crash()),
        Candidate::new("arm and disarm an alert", fixture.alerts.len() / 10, || {
            let mut out = Vec::new();
            for alert in fixture.alerts.iter().step_by(10) {
                process(&mut changed, Event::Disarmed(alert.id), 0, &mut out);
                process(&mut changed, Event::Armed(alert), 0, &mut out);
            }
            black_box(out);
        }),
        Candidate::new("read a request", bodies, || {
            for _ in 0..bodies {
                black_box(parse_create(black_box(&body), &context).expect("a valid body"));
            }
        }),
    ];
    measure_in_turn("Regression", size(ROUNDS, 1), candidates)
}

/// Returns the best time of each operation as a multiple of the calibration's.
fn ratios(figures: &[Figure]) -> BTreeMap<String, f64> {
    let unit = figures[0].best;
    let rounded = |ratio: f64| (ratio * 1e4).round() / 1e4;
    let operations = figures[1..].iter();
    operations
        .map(|figure| (figure.name.clone(), rounded(figure.best / unit)))
        .collect()
}

/// Prints the change of each operation since the baseline, and returns whether one got slower.
fn compare(found: &BTreeMap<String, f64>, baseline: &BTreeMap<String, f64>) -> bool {
    println!("\nratio to the calibration: now, baseline, change");
    let mut is_slower = false;
    for (name, &ratio) in found {
        let Some(&before) = baseline.get(name) else {
            println!("  {name:<45} {ratio:>10.3}   not in the baseline; run scripts/bench --save");
            continue;
        };
        let change = ratio / before;
        is_slower |= change > SLOWER;
        let verdict = if change > SLOWER { "SLOWER" } else { "" };
        println!(
            "  {name:<45} {ratio:>10.3} {before:>10.3} {:>+7.1} % {verdict}",
            (change - 1.0) * 100.0
        );
    }
    is_slower
}

fn baseline_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/baseline.json")
}

fn main() -> ExitCode {
    let found = ratios(&measure());
    if !measuring() {
        return ExitCode::SUCCESS;
    }
    let path = baseline_file();
    if std::env::args().any(|argument| argument == "--save") {
        let text = serde_json::to_string_pretty(&found).expect("ratios are JSON") + "\n";
        std::fs::write(&path, text).expect("the baseline can be written");
        println!("\nstored {}", path.display());
        return ExitCode::SUCCESS;
    }
    let text = std::fs::read_to_string(&path).expect("the baseline can be read; run scripts/bench --save");
    let baseline = serde_json::from_str(&text).expect("the baseline is an object of ratios");
    if compare(&found, &baseline) {
        eprintln!("error: an operation got more than 15 % slower than benches/baseline.json");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
