//! A quiet snapshot: 10,000 stocks are observed and no level is reached. The baselines are a scan of flat arrays and Redis.

mod support;

use std::cell::{Cell, RefCell};
use std::hint::black_box;

use alerts::engine::{Engine, Event, EventError, Quote};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use support::flat::Flat;
use support::market::{Level, Market, alert, moment, price, quotes, rng, session};
use support::redis::{Commands, Redis};
use support::timing::{Candidate, Figure, measure_in_turn, stopwatch};
use support::{measuring, size, target};

/// The number of different snapshots, observed in turn. Such a walk stays within 2 %, and no level is nearer than 5 %.
const SNAPSHOTS: usize = 16;

/// The prices that all candidates use.
struct PriceWalk {
    market: Market,
    prices: Vec<Vec<i64>>,
}

/// An engine with its alerts, and the walk as quotes.
struct ObservedEngine {
    engine: Engine,
    snapshots: Vec<Vec<Quote>>,
    observed: usize,
}

impl PriceWalk {
    fn new() -> Self {
        let rng = &mut rng(1);
        let market = Market::new(size(10_000, 50), rng);
        let mut walking = market.clone();
        let prices = (0..SNAPSHOTS)
            .map(|_| {
                walking.step(rng);
                walking.prices.clone()
            })
            .collect();
        Self { market, prices }
    }
}

impl ObservedEngine {
    fn new(walk: &PriceWalk, levels: &[Level]) -> Self {
        let rng = &mut rng(2);
        let (mut engine, stock_indices) = walk.market.engine();
        let mut out = Vec::new();
        for level in levels {
            let symbol = walk.market.symbols[level.stock as usize];
            let alert = alert(symbol, level.condition(), rng);
            engine
                .process(Event::Armed(&alert), moment(0), &mut out)
                .expect("taken");
        }
        let mut new = Self {
            engine,
            snapshots: walk
                .prices
                .iter()
                .map(|prices| quotes(&stock_indices, prices))
                .collect(),
            observed: 0,
        };
        new.observe(1);
        new
    }

    /// Observes the next snapshots, a millisecond apart.
    fn observe(&mut self, times: usize) {
        let mut out = Vec::new();
        for _ in 0..times {
            let quotes = &self.snapshots[self.observed % SNAPSHOTS];
            self.observed += 1;
            let now = moment(self.observed as i64);
            let taken = self.engine.process(Event::Snapshot(black_box(quotes)), now, &mut out);
            assert_eq!(taken, Ok(()), "the session is open");
        }
        assert!(black_box(&out).is_empty(), "it is quiet");
    }

    /// Checks that the observations were recorded, that the market is closed at night, and that a reached price fires.
    fn check(mut self, walk: &PriceWalk, levels: &[Level]) {
        self.observe(2 * SNAPSHOTS);
        let last = &walk.prices[(self.observed - 1) % SNAPSHOTS];
        for (at, &symbol) in walk.market.symbols.iter().enumerate() {
            let seen = self.engine.observed_session(symbol).expect("observed");
            let of_stock = || walk.prices.iter().map(|prices| prices[at]);
            assert_eq!(Some(seen.high.micros()), of_stock().max());
            assert_eq!(Some(seen.low.micros()), of_stock().min());
            assert_eq!((seen.last.micros(), seen.volume), (last[at], Some(1_000)));
        }
        let mut out = Vec::new();
        let night = session().close + jiff::SignedDuration::from_secs(1);
        let rejected = self
            .engine
            .process(Event::Snapshot(&self.snapshots[0]), night, &mut out);
        assert_eq!((rejected, out.len()), (Err(EventError::MarketClosed), 0));
        let level = levels[0];
        let index = self.engine.stock(walk.market.symbols[level.stock as usize]);
        let reaching = [Quote::new(index, price(level.price))];
        let now = moment(self.observed as i64 + 1);
        self.engine
            .process(Event::Snapshot(&reaching), now, &mut out)
            .expect("taken");
        assert!(!out.is_empty(), "a price that is reached fires");
    }
}

/// Touches far more memory than the caches hold.
fn empty_caches(waste: &mut [u64]) {
    waste.iter_mut().step_by(8).for_each(|word| *word += 1);
    black_box(waste);
}

fn compare(walk: &PriceWalk, million: &mut ObservedEngine, ten: &mut ObservedEngine, levels: &[Level]) {
    let stocks = walk.market.len();
    let next = Cell::new(0);
    let prices = || {
        next.set(next.get() + 1);
        &walk.prices[next.get() % SNAPSHOTS]
    };
    let flat = Flat::new(stocks, &levels[..levels.len() / 10]);
    let flat_ten = Flat::new(stocks, levels);
    let bands = flat.bands();
    let times = size(300, 1);
    let rounds = size(25, 1);
    let mut waste = vec![0; size(32 << 20, 1 << 10)];
    let (million, ten) = (RefCell::new(million), RefCell::new(ten));
    let mut cold = |observed: &RefCell<&mut ObservedEngine>| {
        empty_caches(&mut waste);
        stopwatch(|| observed.borrow_mut().observe(1)).0
    };
    let mut redis = Redis::start();
    let commands: Vec<_> = walk.prices.iter().map(|prices| Commands::for_prices(prices)).collect();
    let mut candidates = vec![
        Candidate::new("engine, 1 million alerts", times * stocks, || {
            million.borrow_mut().observe(times)
        }),
        Candidate::new("engine, 10 million alerts", times * stocks, || {
            ten.borrow_mut().observe(times)
        }),
        Candidate::new("bare comparison with two prices a stock", times * stocks, || {
            for _ in 0..times {
                let outside = |(&(lo, hi), &price): (&(i64, i64), &i64)| usize::from(price <= lo || price >= hi);
                let outside: usize = bands.iter().zip(prices()).map(outside).sum();
                assert_eq!(black_box(outside), 0);
            }
        }),
        Candidate::new("scan of 1 million in flat arrays", stocks, || {
            assert_eq!(black_box(flat.scan(prices())), 0)
        }),
        Candidate::new("scan of 10 million in flat arrays", stocks, || {
            assert_eq!(black_box(flat_ten.scan(prices())), 0)
        }),
    ];
    if let Some(redis) = &mut redis {
        redis.fill(&levels[..levels.len() / 10]);
        candidates.push(Candidate::new("Redis, 1 million alerts", stocks, || {
            assert_eq!(redis.send(&commands[next.get() % SNAPSHOTS]), 0)
        }));
    }
    let figures = measure_in_turn("A quiet observation", rounds, candidates);
    let candidates = vec![Candidate::timing_itself(
        "engine, 1 million alerts, caches empty",
        stocks,
        || cold(&million),
    )];
    measure_in_turn("The same, once a minute", rounds, candidates);
    report(&figures);
}

fn report(figures: &[Figure]) {
    let (million, ten) = (&figures[0], &figures[1]);
    let best = ten.best / million.best;
    let median = ten.median / million.median;
    target(
        "10 million alerts cost at most 1.3 times what 1 million cost",
        format!("{best:.2} times ({median:.2} by the medians)"),
        best <= 1.3,
    );
    if let Some(redis) = figures.get(5) {
        let best = redis.best / million.best;
        let median = redis.median / million.median;
        target(
            "at least 2,000 times faster than Redis",
            format!("{best:.0} times ({median:.0} by the medians)"),
            best >= 2000.0,
        );
    }
}

fn quiet(criterion: &mut Criterion) {
    let walk = PriceWalk::new();
    let levels = walk.market.levels(size(10_000_000, 10_000), &mut rng(3));
    let mut million = ObservedEngine::new(&walk, &levels[..levels.len() / 10]);
    let mut ten = ObservedEngine::new(&walk, &levels);
    compare(&walk, &mut million, &mut ten, &levels);
    let mut group = criterion.benchmark_group("quiet snapshot");
    group.throughput(Throughput::Elements(walk.market.len() as u64));
    group.bench_function("1 million alerts", |b| b.iter(|| million.observe(1)));
    group.bench_function("10 million alerts", |b| b.iter(|| ten.observe(1)));
    group.finish();
    million.check(&walk, &levels);
    if measuring() {
        println!("checked: quotes taken in, market closed at night, a reached price fires");
    }
}

criterion_group!(benches, quiet);
criterion_main!(benches);
