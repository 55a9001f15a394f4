//! A replay of 500 stocks over two years with four observations per day and 100,000 alerts. The baseline is a vectorised NumPy
//! scan (replay.py), which must find the same observation for every alert.

mod support;

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use alerts::condition::{EpsBasis, RsiDirection, Side};
use alerts::engine::{Decision, Engine, Event, Quote, StockIndex};
use alerts::metrics::FundamentalFigures;
use alerts::{Alert, AlertId, Condition};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use jiff::{SignedDuration, Timestamp};
use market::{Bar, Calendar, Decimal, Price, Session};
use support::market::{MONDAY, Market, alert, price, rng};
use support::mix::{bars, earnings_per_share, market_condition, sessions_before};
use support::timing::{nanos, processor_stopwatch};
use support::{size, target};

/// The number of sessions before the replay, for the indicators.
const WARM_UP_SESSIONS: usize = 450;
const OBSERVATIONS_PER_SESSION: usize = 4;

/// The replayed data, in memory.
struct ReplayFixture {
    market: Market,
    eps: Vec<Decimal>,
    /// The sessions of the whole span, starting with the warm-up.
    sessions: Vec<Session>,
    /// Bars by stock.
    bars: Vec<Vec<Bar>>,
    alerts: Vec<Alert>,
}

/// The durations of the parts of a replay, and the observation at which each alert fired.
struct ReplayTimings {
    warm_up: Duration,
    arming: Duration,
    replay: Duration,
    first: HashMap<AlertId, i64>,
}

impl ReplayFixture {
    fn new() -> Self {
        let rng = &mut rng(31);
        let mut market = Market::new(size(500, 20), rng);
        let days = sessions_before(MONDAY, WARM_UP_SESSIONS + size(504, 60));
        let calendar = Calendar::nyse();
        let bars: Vec<_> = market.prices.iter().map(|&price| bars(&days, price, rng)).collect();
        for (now, bars) in market.prices.iter_mut().zip(&bars) {
            *now = bars[WARM_UP_SESSIONS - 1].close.micros();
        }
        let eps: Vec<_> = market
            .prices
            .iter()
            .map(|&price| earnings_per_share(price, rng))
            .collect();
        let alerts = market
            .watched(size(100_000, 2_000), rng)
            .into_iter()
            .map(|stock| {
                let (symbol, now) = (market.symbols[stock as usize], market.prices[stock as usize]);
                let condition = market_condition(now, eps[stock as usize], rng);
                Alert {
                    initial_price: Some(price(now)),
                    ..alert(symbol, condition, rng)
                }
            })
            .collect();
        Self {
            market,
            eps,
            sessions: days.iter().filter_map(|&day| calendar.session(day)).collect(),
            bars,
            alerts,
        }
    }

    fn observations(&self) -> usize {
        (self.sessions.len() - WARM_UP_SESSIONS) * OBSERVATIONS_PER_SESSION
    }

    /// Returns a new engine that has processed the warm-up.
    fn warmed_up(&self) -> (Engine, Vec<StockIndex>) {
        let (mut engine, stock_indices) = self.market.engine();
        let mut out = Vec::new();
        for (stock, &symbol) in self.market.symbols.iter().enumerate() {
            for (bar, session) in self.bars[stock][..WARM_UP_SESSIONS].iter().zip(&self.sessions) {
                process(&mut engine, Event::Bar { symbol, bar: *bar }, session.close, &mut out);
            }
            let fundamentals = Event::Fundamentals {
                symbol,
                figures: FundamentalFigures {
                    trailing_eps: Some(self.eps[stock]),
                    ..FundamentalFigures::default()
                },
            };
            process(
                &mut engine,
                fundamentals,
                self.sessions[WARM_UP_SESSIONS - 1].close,
                &mut out,
            );
        }
        (engine, stock_indices)
    }

    fn arm(&self, engine: &mut Engine) {
        for alert in &self.alerts {
            process(
                engine,
                Event::Armed(alert),
                self.sessions[WARM_UP_SESSIONS - 1].close,
                &mut Vec::new(),
            );
        }
    }

    /// Processes four observations per session, then its bars. Returns the decisions with the number of their observation.
    fn replay(&self, engine: &mut Engine, stock_indices: &[StockIndex]) -> Vec<(i64, Decision)> {
        let (mut out, mut decided) = (Vec::new(), Vec::new());
        let mut quotes = Vec::with_capacity(stock_indices.len());
        let mut observation = 0;
        for (day, session) in self.sessions.iter().enumerate().skip(WARM_UP_SESSIONS) {
            for part in 0..OBSERVATIONS_PER_SESSION {
                let now = instant(session, part);
                quotes.clear();
                quotes.extend(stock_indices.iter().zip(&self.bars).map(|(&index, bars)| {
                    let (price, volume) = observed(&bars[day], part);
                    Quote::new(index, price).with_volume(volume)
                }));
                process(engine, Event::Clock, now, &mut out);
                process(engine, Event::Snapshot(&quotes), now, &mut out);
                process(engine, Event::Evaluate, now, &mut out);
                decided.extend(out.drain(..).map(|decision| (observation, decision)));
                observation += 1;
            }
            for (&symbol, bars) in self.market.symbols.iter().zip(&self.bars) {
                let bar = bars[day];
                process(engine, Event::Bar { symbol, bar }, session.close, &mut out);
            }
        }
        decided
    }

    fn run(&self) -> ReplayTimings {
        let (warm_up, (mut engine, stock_indices)) = processor_stopwatch(|| self.warmed_up());
        let (arming, ()) = processor_stopwatch(|| self.arm(&mut engine));
        let (replay, decided) = processor_stopwatch(|| self.replay(&mut engine, &stock_indices));
        ReplayTimings {
            warm_up,
            arming,
            replay,
            first: decided.iter().map(|(at, decision)| (decision.alert, *at)).collect(),
        }
    }

    /// Writes all data as raw 64-bit integers for NumPy.
    fn write(&self, directory: &Path) {
        let write = |name: &str, numbers: Vec<i64>| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            fs::write(directory.join(name), bytes).expect("space for a few megabytes");
        };
        let of_bars = |figure: &dyn Fn(&Bar) -> i64| self.bars.iter().flatten().map(figure).collect();
        write("high", of_bars(&|bar| bar.high.micros()));
        write("low", of_bars(&|bar| bar.low.micros()));
        write("close", of_bars(&|bar| bar.close.micros()));
        write("volume", of_bars(&|bar| bar.volume));
        let day = |session: &Session| i64::from(market::day::day_number(session.date));
        write("day", self.sessions.iter().map(day).collect());
        let of_observations = |figure: &dyn Fn(&Bar, usize) -> i64| {
            let replayed = self.bars.iter().flat_map(|bars| &bars[WARM_UP_SESSIONS..]);
            replayed
                .flat_map(|bar| (0..OBSERVATIONS_PER_SESSION).map(|part| figure(bar, part)))
                .collect()
        };
        write("price", of_observations(&|bar, part| observed(bar, part).0.micros()));
        write("traded", of_observations(&|bar, part| observed(bar, part).1));
        let stocks: HashMap<_, i64> = self.market.symbols.iter().zip(0..).collect();
        let row = |alert: &Alert| {
            let stock = stocks[&alert.symbol];
            let at = usize::try_from(stock).expect("it was a position");
            let initial = alert.initial_price.map_or(0, Price::micros);
            row(&alert.condition, stock, initial, self.eps[at].micros())
        };
        write("alerts", self.alerts.iter().flat_map(row).collect());
    }
}

fn process(engine: &mut Engine, event: Event<'_>, now: Timestamp, out: &mut Vec<Decision>) {
    engine.process(event, now, out).expect("taken");
}

/// Returns the instant of the `part`-th observation of a session: the first at the open, the last at the close.
fn instant(session: &Session, part: usize) -> Timestamp {
    let seconds = session.close.as_second() - session.open.as_second();
    session.open + SignedDuration::from_secs(seconds * part as i64 / 3)
}

/// Returns the `part`-th price of a bar: the open, the extremes (the one against the day's direction first), the close.
fn observed(bar: &Bar, part: usize) -> (Price, i64) {
    let (first, second) = if bar.close >= bar.open {
        (bar.low, bar.high)
    } else {
        (bar.high, bar.low)
    };
    let prices = [bar.open, first, second, bar.close];
    (prices[part], bar.volume * [5, 35, 70, 100][part] / 100)
}

/// Encodes an alert for replay.py: stock, kind, side, and two numbers.
fn row(condition: &Condition, stock: i64, initial: i64, eps: i64) -> [i64; 5] {
    let way = |side: Side| side.pick(1, -1);
    let (kind, side, a, b) = match *condition {
        Condition::Price { side, threshold } => (0, way(side), threshold.micros(), 0),
        Condition::PriceChange { side, percent } => (1, way(side), percent.micros(), initial),
        Condition::NewExtreme { side } => (2, way(side), 0, 0),
        Condition::MaCrossover { side } => (3, way(side), 0, 0),
        Condition::MaTouch { side, period } => (4, way(side), i64::from(period), 0),
        Condition::Rsi { direction, threshold } => {
            let above = direction == RsiDirection::Above;
            (5, if above { 1 } else { -1 }, threshold.micros(), 0)
        }
        Condition::VolumeChange { baseline, percent } => (6, 1, percent.micros(), i64::from(baseline.sessions())),
        Condition::PeRatio {
            side,
            earnings: EpsBasis::Trailing,
            threshold,
        } => (7, way(side), threshold.micros(), eps),
        _ => unreachable!("no such alert was made"),
    };
    [stock, kind, side, a, b]
}

/// Runs replay.py. Returns its best times and the first observation of each alert. If it cannot run, prints the cause and
/// returns `None`.
fn numpy(fixture: &ReplayFixture, directory: &Path) -> Option<(f64, f64, Vec<i64>)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/replay.py");
    let numbers = [
        size(5, 1),
        fixture.market.len(),
        fixture.sessions.len(),
        WARM_UP_SESSIONS,
    ];
    let ran = Command::new("python3")
        .arg(script)
        .arg(directory)
        .args(numbers.map(|number| number.to_string()))
        .output();
    let ran = match ran {
        Ok(ran) if ran.status.success() => ran,
        Ok(ran) => {
            let said = String::from_utf8_lossy(&ran.stderr);
            println!("replay.py did not run, is NumPy installed? {said}");
            return None;
        }
        Err(error) => {
            println!("python3 is not installed ({error}): no comparison with NumPy");
            return None;
        }
    };
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let mut times = said.split_whitespace().map(|time| time.parse().expect("seconds"));
    let first = fs::read(directory.join("first")).expect("replay.py wrote it");
    let first = first.as_chunks().0.iter().map(|&it| i64::from_le_bytes(it)).collect();
    Some((times.next()?, times.next()?, first))
}

fn compare(fixture: &ReplayFixture) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    fixture.write(directory.path());
    let mut best: Option<ReplayTimings> = None;
    let (mut scanned, mut searched) = (f64::MAX, f64::MAX);
    for _ in 0..size(4, 1) {
        let run = fixture.run();
        if best.as_ref().is_none_or(|best| run.replay < best.replay) {
            best = Some(run);
        }
        let Some((scan, search, first)) = numpy(fixture, directory.path()) else {
            continue;
        };
        (scanned, searched) = (scanned.min(scan), searched.min(search));
        let ours = best.as_ref().map(|run| &run.first).expect("it ran");
        for (alert, &theirs) in fixture.alerts.iter().zip(&first) {
            let ours = ours.get(&alert.id).copied().unwrap_or(-1);
            assert_eq!(ours, theirs, "{alert:?} fires at another observation");
        }
    }
    let Some(run) = best else { return };
    println!(
        "\n{} stocks, {} observations each, {} alerts, of which {} fire",
        fixture.market.len(),
        fixture.observations(),
        fixture.alerts.len(),
        run.first.len()
    );
    let parts = [
        ("engine, the replay", run.replay),
        ("engine, the arming of all alerts", run.arming),
        ("engine, 450 sessions of history", run.warm_up),
    ];
    for (name, time) in parts {
        println!("  {name:<58} {:>12}", nanos(time.as_secs_f64() * 1e9));
    }
    if scanned == f64::MAX {
        return;
    }
    println!("  {:<58} {:>12}", "NumPy, scan", nanos(scanned * 1e9));
    println!(
        "  {:<58} {:>12}",
        "NumPy, search in running extremes",
        nanos(searched * 1e9)
    );
    println!("  NumPy and the engine agree on the first observation of every alert");
    let all = run.replay + run.arming + run.warm_up;
    for (what, time) in [("replay alone", run.replay), ("replay, arming and history", all)] {
        let times = scanned / time.as_secs_f64();
        target(
            &format!("at least 4 times faster than the NumPy scan in processor time, {what}"),
            format!("{times:.1} times"),
            times >= 4.0,
        );
    }
}

fn replay(criterion: &mut Criterion) {
    let fixture = ReplayFixture::new();
    compare(&fixture);
    let (mut engine, stock_indices) = fixture.warmed_up();
    fixture.arm(&mut engine);
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10);
    group.throughput(Throughput::Elements(
        (fixture.observations() * fixture.market.len()) as u64,
    ));
    group.bench_function("two years", |b| {
        b.iter_batched_ref(
            || engine.clone(),
            |engine| fixture.replay(engine, &stock_indices),
            BatchSize::PerIteration,
        )
    });
    group.finish();
}

criterion_group!(benches, replay);
criterion_main!(benches);
