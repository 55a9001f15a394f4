//! One minute of 10,000 stocks with alerts of all families, including all indicators. The baseline is Redis, which only looks up
//! the price levels.

mod support;

use std::hint::black_box;
use std::time::Duration;

use alerts::condition::Side;
use alerts::engine::{Decision, Engine, Event, Quote};
use alerts::{Alert, Condition};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rand::Rng;
use support::market::{Level, Market, moment, moved, price, rng};
use support::mix;
use support::redis::{Commands, Redis};
use support::timing::{Candidate, measure_in_turn, stopwatch};
use support::{size, target};

const MILLIS_PER_MINUTE: i64 = 60_000;

/// An engine before the session, and the observations of the session.
struct SessionFixture {
    market: Market,
    alerts: Vec<Alert>,
    before_open: Engine,
    minutes: Vec<Vec<Quote>>,
    prices: Vec<Vec<i64>>,
}

impl SessionFixture {
    fn new() -> Self {
        let rng = &mut rng(11);
        let mut market = Market::new(size(10_000, 50), rng);
        let (mut engine, stock_indices) = market.engine();
        let eps = mix::load_facts(&mut engine, &mut market, rng);
        let alerts = mix::alerts(&market, &eps, size(1_000_000, 5_000), rng);
        let mut out = Vec::new();
        for alert in &alerts {
            engine
                .process(Event::Armed(alert), alert.armed_at, &mut out)
                .expect("taken");
        }
        assert_eq!(engine.armed_alerts(), alerts.len());
        let minutes = size(390, 20);
        let (mut walking, mut volumes) = (market.clone(), vec![0; market.len()]);
        let usual: Vec<i64> = (0..market.len()).map(|_| rng.random_range(200..6_000)).collect();
        let (mut all_quotes, mut all_prices) = (Vec::new(), Vec::new());
        for _ in 0..minutes {
            walking.step(rng);
            for (volume, &usual) in volumes.iter_mut().zip(&usual) {
                *volume += moved(usual, rng.random_range(-1.0..1.0));
            }
            let quote = |((&index, &micros), &volume)| Quote::new(index, price(micros)).with_volume(volume);
            let observed = stock_indices.iter().zip(&walking.prices).zip(&volumes);
            all_quotes.push(observed.map(quote).collect());
            all_prices.push(walking.prices.clone());
        }
        Self {
            market,
            alerts,
            before_open: engine,
            minutes: all_quotes,
            prices: all_prices,
        }
    }

    /// Returns the price levels of price and percent-change alerts, which Redis can look up.
    fn levels(&self) -> Vec<Level> {
        let stock_indices: std::collections::HashMap<_, _> = self.market.symbols.iter().zip(0..).collect();
        let level = |alert: &Alert| {
            let (side, price) = match alert.condition {
                Condition::Price { side, threshold } => (side, threshold.micros()),
                Condition::PriceChange { side, percent } => {
                    let by = percent.as_f64() / 100.0 * side.pick(1.0, -1.0);
                    (side, moved(alert.initial_price?.micros(), by))
                }
                _ => return None,
            };
            Some(Level {
                stock: stock_indices[&alert.symbol],
                side,
                price,
            })
        };
        self.alerts.iter().filter_map(level).collect()
    }
}

/// Processes one minute like the service.
fn process_minute(engine: &mut Engine, quotes: &[Quote], minute: i64, out: &mut Vec<Decision>) {
    let now = moment(minute * MILLIS_PER_MINUTE);
    for event in [Event::Clock, Event::Snapshot(black_box(quotes)), Event::Evaluate] {
        engine.process(event, now, out).expect("taken");
    }
}

/// Reads every stock's averages and RSI with its last price as today's close.
fn read_indicators(engine: &Engine, market: &Market) -> f64 {
    let read = |&symbol| {
        let last = engine.last_price(symbol)?.micros();
        let history = engine.history(symbol)?;
        Some(history.sma_at(50, last)? + history.sma_at(200, last)? + history.rsi().value_at(last)?)
    };
    market.symbols.iter().filter_map(read).sum()
}

/// The timings and firings of one session.
struct SessionTimings {
    opening: Duration,
    later: Vec<Duration>,
    indicators: Duration,
    fired: usize,
    fired_at_open: usize,
}

fn time_session(session: &SessionFixture) -> SessionTimings {
    let mut engine = session.before_open.clone();
    let mut out = Vec::new();
    let (opening, ()) = stopwatch(|| process_minute(&mut engine, &session.minutes[0], 0, &mut out));
    let fired_at_open = out.len();
    let later = (1..)
        .zip(&session.minutes[1..])
        .map(|(minute, quotes)| stopwatch(|| process_minute(&mut engine, quotes, minute, &mut out)).0)
        .collect();
    let (indicators, sum) = stopwatch(|| read_indicators(&engine, &session.market));
    assert!(sum > 0.0);
    SessionTimings {
        opening,
        later,
        indicators,
        fired: out.len(),
        fired_at_open,
    }
}

fn compare(session: &SessionFixture) {
    let levels = session.levels();
    let above = levels.iter().filter(|it| it.side == Side::Above).count();
    println!(
        "\n{} alerts of all families on {} stocks; Redis holds {} price levels ({above} above)",
        session.alerts.len(),
        session.market.len(),
        levels.len(),
    );
    let last = std::cell::RefCell::new(None);
    let of_last = |figure: &dyn Fn(&SessionTimings) -> Duration| last.borrow().as_ref().map_or(Duration::ZERO, figure);
    let mut redis = Redis::start();
    let mut candidates = vec![
        Candidate::timing_itself(
            "engine, a minute (mean of the session after its first)",
            session.minutes.len() - 1,
            || {
                *last.borrow_mut() = Some(time_session(session));
                of_last(&|timings| timings.later.iter().sum())
            },
        ),
        Candidate::timing_itself("engine, the slowest minute but the first", 1, || {
            of_last(&|timings| timings.later.iter().copied().max().unwrap_or_default())
        }),
        Candidate::timing_itself("engine, the first minute: 10,000 sessions begin", 1, || {
            of_last(&|timings| timings.opening)
        }),
        Candidate::timing_itself("reading SMA 50, SMA 200 and RSI of every stock", 1, || {
            of_last(&|timings| timings.indicators)
        }),
    ];
    if let Some(redis) = &mut redis {
        redis.fill(&levels);
        let commands: Vec<_> = session
            .prices
            .iter()
            .take(8)
            .map(|prices| Commands::for_prices(prices))
            .collect();
        candidates.push(Candidate::new(
            "Redis, the price levels of a minute",
            commands.len(),
            move || {
                commands.iter().for_each(|commands| {
                    black_box(redis.send(commands));
                })
            },
        ));
    }
    let figures = measure_in_turn("A minute of 10,000 stocks", size(9, 1), candidates);
    if let Some(timings) = last.borrow().as_ref() {
        println!(
            "  decisions: {} at the first minute, {} later",
            timings.fired_at_open,
            timings.fired - timings.fired_at_open
        );
    }
    if let Some(redis) = figures.get(4) {
        let share = |figure: f64| figure / redis.best * 100.0;
        target(
            "a minute takes at most 1.5 % of what Redis takes for the price levels",
            format!("{:.2} %", share(figures[0].best)),
            share(figures[0].best) <= 1.5,
        );
        let both = figures[0].best + figures[3].best;
        target(
            "the same with every stock's indicators read as well",
            format!("{:.2} %", share(both)),
            share(both) <= 1.5,
        );
    }
}

fn minute(criterion: &mut Criterion) {
    let session = SessionFixture::new();
    compare(&session);
    let mut group = criterion.benchmark_group("minute");
    let minutes = session.minutes.len();
    group.throughput(Throughput::Elements((session.market.len() * minutes) as u64));
    group.sample_size(10);
    group.bench_function("a session of all families", |b| {
        b.iter_batched_ref(
            || (session.before_open.clone(), Vec::new()),
            |(engine, out)| {
                for (minute, quotes) in (0..).zip(&session.minutes) {
                    process_minute(engine, quotes, minute, out);
                }
            },
            BatchSize::PerIteration,
        )
    });
    group.finish();
}

criterion_group!(benches, minute);
criterion_main!(benches);
