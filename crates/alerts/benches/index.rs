//! The ordered indexes with 10 million alerts: memory, insertion and removal among 400,000 alerts of one stock, and a snapshot
//! in which a million alerts fire. The baseline is a `BTreeSet` for each stock and side.

mod support;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::time::Duration;

use alerts::engine::{Decision, Engine, Event, StockIndex};
use alerts::{Alert, AlertId};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::seq::SliceRandom;
use support::market::{Level, Market, alert, moment, moved, quotes, rng};
use support::timing::{Candidate, measure_in_turn, nanos, stopwatch};
use support::{size, target};
use uuid::Uuid;

/// The engine with all alerts; alert number `n` has `n` in the low half of its id.
struct IndexFixture {
    market: Market,
    levels: Vec<Level>,
    engine: Engine,
    stock_indices: Vec<StockIndex>,
    millis: i64,
    out: Vec<Decision>,
}

/// The baseline from the standard library: ordered levels, and the level of each alert by its id.
#[derive(Default)]
struct BTreeSetBaseline {
    /// The levels above and, negated, those below, with the alerts' numbers, for each stock.
    sides: Vec<[BTreeSet<(i64, u32)>; 2]>,
    by_id: HashMap<AlertId, (Level, u32)>,
}

fn id(number: usize) -> AlertId {
    let number = number as u64;
    // The other half is scrambled, so that hashing gains nothing from a regular pattern.
    AlertId(Uuid::from_u64_pair(number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number))
}

fn number(id: AlertId) -> usize {
    usize::try_from(id.0.as_u64_pair().1).expect("it was a usize")
}

fn key(level: &Level) -> i64 {
    level.side.pick(level.price, -level.price)
}

impl IndexFixture {
    fn new() -> Self {
        let rng = &mut rng(21);
        let market = Market::new(size(10_000, 50), rng);
        let levels = market.levels(size(10_000_000, 10_000), rng);
        let (engine, stock_indices) = market.engine();
        let mut fixture = Self {
            market,
            levels,
            engine,
            stock_indices,
            millis: 0,
            out: Vec::new(),
        };
        for number in 0..fixture.levels.len() {
            fixture.arm(number);
        }
        fixture.observe(0.0);
        fixture
    }

    fn alert(&self, number: usize, level: &Level) -> Alert {
        let symbol = self.market.symbols[level.stock as usize];
        Alert {
            id: id(number),
            ..alert(symbol, level.condition(), &mut rng(0))
        }
    }

    fn arm(&mut self, number: usize) {
        let alert = self.alert(number, &self.levels[number]);
        self.process(Event::Armed(&alert));
    }

    fn process(&mut self, event: Event<'_>) {
        self.millis += 1;
        self.engine
            .process(event, moment(self.millis / 100), &mut self.out)
            .expect("taken");
    }

    /// Observes every stock at its initial price moved by the fraction `by`. Returns the duration.
    fn observe(&mut self, by: f64) -> Duration {
        let prices: Vec<_> = self.market.prices.iter().map(|&it| moved(it, by)).collect();
        let quotes = quotes(&self.stock_indices, &prices);
        stopwatch(|| self.process(Event::Snapshot(&quotes))).0
    }

    /// Fires the alerts that a fall of all prices by the fraction `by` reaches, and arms them again. Returns their number, and
    /// the durations of the snapshot and of the clean-up after it.
    fn crash(&mut self, by: f64) -> (usize, Duration, Duration) {
        self.out.clear();
        let fired_in = self.observe(-by);
        let fired = std::mem::take(&mut self.out);
        let cleaned_in = stopwatch(|| self.process(Event::Clock)).0;
        self.observe(0.0);
        let mut numbers: Vec<_> = fired.iter().map(|it| number(it.alert)).collect();
        numbers.shuffle(&mut rng(22));
        numbers.into_iter().for_each(|number| self.arm(number));
        self.process(Event::Evaluate);
        assert!(self.out.is_empty(), "only the crash fires");
        let count = fired.len();
        self.out = fired;
        self.out.clear();
        (count, fired_in, cleaned_in)
    }
}

impl BTreeSetBaseline {
    fn new(fixture: &IndexFixture) -> Self {
        let mut sets = Self::default();
        sets.sides.resize_with(fixture.market.len(), Default::default);
        for (number, level) in (0..).zip(&fixture.levels) {
            sets.of(level).insert((key(level), number));
            sets.by_id.insert(id(number as usize), (*level, number));
        }
        sets
    }

    fn of(&mut self, level: &Level) -> &mut BTreeSet<(i64, u32)> {
        &mut self.sides[level.stock as usize][level.side.pick(0, 1)]
    }

    fn matching(&self, stock: usize, price: i64) -> impl Iterator<Item = &(i64, u32)> {
        self.sides[stock][1].range(through(-price))
    }
}

fn through(key: i64) -> RangeInclusive<(i64, u32)> {
    (i64::MIN, 0)..=(key, u32::MAX)
}

fn create_and_delete(fixture: &mut IndexFixture, sets: &mut BTreeSetBaseline) {
    let rng = &mut rng(23);
    let most_watched = fixture.market.most_watched();
    let count = size(20_000, 200);
    let first = fixture.levels.len();
    let new: Vec<_> = (0..count).map(|_| fixture.market.level(most_watched, rng)).collect();
    let alerts: Vec<_> = (first..)
        .zip(&new)
        .map(|(number, level)| fixture.alert(number, level))
        .collect();
    let mut order: Vec<u32> = (0..).take(count).collect();
    order.shuffle(rng);
    let (fixture, sets) = (RefCell::new(fixture), RefCell::new(sets));
    let numbered = || (0_u32..).zip(&new).map(|(at, level)| (at + 10_000_000, level));
    let candidates = vec![
        Candidate::new("engine, create", count, || {
            let fixture = &mut *fixture.borrow_mut();
            alerts.iter().for_each(|alert| fixture.process(Event::Armed(alert)));
        }),
        Candidate::new("engine, delete (the next minute's clean-up included)", count, || {
            let fixture = &mut *fixture.borrow_mut();
            for &at in &order {
                fixture.process(Event::Disarmed(alerts[at as usize].id));
            }
            fixture.process(Event::Clock);
        }),
        Candidate::new("BTreeSet alone, insert", count, || {
            let sets = &mut *sets.borrow_mut();
            numbered().for_each(|(number, level)| {
                sets.of(level).insert((key(level), number));
            });
        }),
        Candidate::new("BTreeSet alone, remove by its key", count, || {
            let sets = &mut *sets.borrow_mut();
            for &at in &order {
                let level = &new[at as usize];
                sets.of(level).remove(&(key(level), at + 10_000_000));
            }
        }),
        Candidate::new("BTreeSet and HashMap by id, create", count, || {
            let sets = &mut *sets.borrow_mut();
            for ((number, level), alert) in numbered().zip(&alerts) {
                sets.of(level).insert((key(level), number));
                sets.by_id.insert(alert.id, (*level, number));
            }
        }),
        Candidate::new("BTreeSet and HashMap by id, delete by id", count, || {
            let sets = &mut *sets.borrow_mut();
            for &at in &order {
                let id = alerts[at as usize].id;
                let (level, number) = sets.by_id.remove(&id).expect("it was created");
                sets.of(&level).remove(&(key(&level), number));
            }
        }),
    ];
    let figures = measure_in_turn(
        "Making and deleting among 4 % of all alerts, each",
        size(15, 1),
        candidates,
    );
    let both = |at: usize| figures[at].best + figures[at + 1].best;
    for (at, against) in [(2, "a BTreeSet alone"), (4, "a BTreeSet with ids")] {
        let speed = both(at) / both(0);
        target(
            &format!("create and delete at least half as fast as {against}"),
            format!("{speed:.2} times as fast"),
            speed >= 0.5,
        );
    }
}

fn fire(fixture: &mut IndexFixture, sets: &BTreeSetBaseline) {
    println!("\nFiring k of {} alerts", fixture.levels.len());
    for share in [0.0002, 0.002, 0.02] {
        let (count, fired, cleaned) = fixture.crash(0.05 + 0.25 * share);
        println!(
            "  {count:>8} fire in {:>10}, {:.1} ns each; the clean-up after it {}",
            nanos(fired.as_secs_f64() * 1e9),
            fired.as_secs_f64() * 1e9 / count as f64,
            nanos(cleaned.as_secs_f64() * 1e9),
        );
    }
    let by = 0.05 + 0.25 * 0.2;
    let reached: Vec<_> = fixture.market.prices.iter().map(|&price| moved(price, -by)).collect();
    let matching = |stock: usize| sets.matching(stock, reached[stock]);
    let stocks = fixture.market.len();
    let flat: Vec<(i64, u32)> = (0..stocks).flat_map(matching).copied().collect();
    let count = fixture.crash(by).0;
    assert_eq!(count, flat.len(), "the engine fires what the sets find");
    let sum = |(key, number): &(i64, u32)| *key ^ i64::from(*number);
    let cleaned = RefCell::new(Duration::ZERO);
    let candidates = vec![
        Candidate::timing_itself("engine, a snapshot in which they fire", 1, || {
            let (_, fired_in, cleaned_in) = fixture.crash(by);
            *cleaned.borrow_mut() = cleaned_in;
            fired_in
        }),
        Candidate::timing_itself("engine, releasing their slots a minute later", 1, || *cleaned.borrow()),
        Candidate::new("iterating over them in BTreeSets", 1, || {
            black_box((0..stocks).flat_map(matching).map(sum).fold(0, |a, b| a ^ b));
        }),
        Candidate::new("iterating over them in one flat array", 1, || {
            black_box(flat.iter().map(sum).fold(0, |a, b| a ^ b));
        }),
        Candidate::new("taking them out of a copy of the flat array", 1, || {
            black_box(black_box(&flat).clone());
        }),
    ];
    let figures = measure_in_turn(&format!("{count} alerts fire at once"), size(7, 1), candidates);
    for (at, goal) in [(2, 1.6), (3, 10.0)] {
        let times = figures[0].best / figures[at].best;
        target(
            &format!("firing takes at most {goal} times what {} takes", figures[at].name),
            format!("{times:.1} times"),
            times <= goal,
        );
    }
}

fn index(criterion: &mut Criterion) {
    let mut fixture = IndexFixture::new();
    let bytes = fixture.engine.index_bytes() as f64 / fixture.levels.len() as f64;
    println!("\nindex_bytes: {bytes:.2} for each of {} alerts", fixture.levels.len());
    target(
        "at most 28 bytes of hot index an alert",
        format!("{bytes:.2}"),
        bytes <= 28.0,
    );
    let mut sets = BTreeSetBaseline::new(&fixture);
    let of_one = sets.sides[fixture.market.most_watched() as usize]
        .each_ref()
        .map(BTreeSet::len);
    println!("the most watched stock has {of_one:?} alerts above and below");
    create_and_delete(&mut fixture, &mut sets);
    fire(&mut fixture, &sets);
    drop(sets);

    let mut group = criterion.benchmark_group("index of 10 million");
    let level = fixture.market.level(fixture.market.most_watched(), &mut rng(24));
    let alert = fixture.alert(fixture.levels.len(), &level);
    group.bench_function("create and delete one", |b| {
        b.iter(|| {
            fixture.process(Event::Armed(&alert));
            fixture.process(Event::Disarmed(alert.id));
            fixture.process(Event::Clock);
        })
    });
    group.throughput(Throughput::Elements(size(100_000, 100) as u64));
    group.sample_size(10);
    group.bench_function("fire 1 % of them", |b| {
        b.iter_custom(|times| (0..times).map(|_| fixture.crash(0.05 + 0.25 * 0.02).1).sum())
    });
    group.finish();
}

criterion_group!(benches, index);
criterion_main!(benches);
