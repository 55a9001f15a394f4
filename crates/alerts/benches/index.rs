//! The ordered indexes with 10 million alerts: their memory, making and deleting among 400,000 alerts of one stock, and a
//! snapshot in which a million alerts fire. Against a `BTreeSet` for each stock and side.

mod support;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::time::Duration;

use alerts::engine::{Decision, Engine, Event, StockIx};
use alerts::{Alert, AlertId};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::seq::SliceRandom;
use support::race::{Contender, nanos, race, stopwatch};
use support::world::{Level, Market, alert, chance, moment, moved, quotes};
use support::{size, target};
use uuid::Uuid;

/// The engine with all alerts; alert number `n` has `n` in the low half of its id.
struct World {
    market: Market,
    levels: Vec<Level>,
    engine: Engine,
    places: Vec<StockIx>,
    millis: i64,
    out: Vec<Decision>,
}

/// What somebody who trusts the standard library writes: levels in order, and where each alert's level is.
#[derive(Default)]
struct Sets {
    /// For each stock the levels above and, negated, those below, with the alerts' numbers.
    sides: Vec<[BTreeSet<(i64, u32)>; 2]>,
    places: HashMap<AlertId, (Level, u32)>,
}

fn id(number: usize) -> AlertId {
    let number = number as u64;
    // The other half must not be a pattern that a hash could profit from.
    AlertId(Uuid::from_u64_pair(number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number))
}

fn number(id: AlertId) -> usize {
    usize::try_from(id.0.as_u64_pair().1).expect("it was a usize")
}

fn key(level: &Level) -> i64 {
    level.side.pick(level.price, -level.price)
}

impl World {
    fn new() -> Self {
        let chance = &mut chance(21);
        let market = Market::new(size(10_000, 50), chance);
        let levels = market.levels(size(10_000_000, 10_000), chance);
        let (engine, places) = market.engine();
        let mut world = Self {
            market,
            levels,
            engine,
            places,
            millis: 0,
            out: Vec::new(),
        };
        for number in 0..world.levels.len() {
            world.arm(number);
        }
        world.observe(0.0);
        world
    }

    fn alert(&self, number: usize, level: &Level) -> Alert {
        let symbol = self.market.symbols[level.stock as usize];
        Alert {
            id: id(number),
            ..alert(symbol, level.condition(), &mut chance(0))
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

    /// Every stock `by` a share of its price away from where it began; how long it took.
    fn observe(&mut self, by: f64) -> Duration {
        let prices: Vec<_> = self.market.prices.iter().map(|&it| moved(it, by)).collect();
        let quotes = quotes(&self.places, &prices);
        stopwatch(|| self.process(Event::Snapshot(&quotes))).0
    }

    /// Lets the alerts fire that a fall of all prices by `by` reaches, and makes them anew. How many they were, how long the
    /// snapshot and the clean-up after it took.
    fn crash(&mut self, by: f64) -> (usize, Duration, Duration) {
        self.out.clear();
        let fired_in = self.observe(-by);
        let fired = std::mem::take(&mut self.out);
        let cleaned_in = stopwatch(|| self.process(Event::Clock)).0;
        self.observe(0.0);
        let mut numbers: Vec<_> = fired.iter().map(|it| number(it.alert)).collect();
        numbers.shuffle(&mut chance(22));
        numbers.into_iter().for_each(|number| self.arm(number));
        self.process(Event::Evaluate);
        assert!(self.out.is_empty(), "only the crash fires");
        let count = fired.len();
        self.out = fired;
        self.out.clear();
        (count, fired_in, cleaned_in)
    }
}

impl Sets {
    fn new(world: &World) -> Self {
        let mut sets = Self::default();
        sets.sides.resize_with(world.market.len(), Default::default);
        for (number, level) in (0..).zip(&world.levels) {
            sets.of(level).insert((key(level), number));
            sets.places.insert(id(number as usize), (*level, number));
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

fn create_and_delete(world: &mut World, sets: &mut Sets) {
    let chance = &mut chance(23);
    let most_watched = world.market.most_watched();
    let count = size(20_000, 200);
    let first = world.levels.len();
    let new: Vec<_> = (0..count).map(|_| world.market.level(most_watched, chance)).collect();
    let alerts: Vec<_> = (first..)
        .zip(&new)
        .map(|(number, level)| world.alert(number, level))
        .collect();
    let mut order: Vec<u32> = (0..).take(count).collect();
    order.shuffle(chance);
    let (world, sets) = (RefCell::new(world), RefCell::new(sets));
    let numbered = || (0_u32..).zip(&new).map(|(at, level)| (at + 10_000_000, level));
    let contenders = vec![
        Contender::new("engine, create", count, || {
            let world = &mut *world.borrow_mut();
            alerts.iter().for_each(|alert| world.process(Event::Armed(alert)));
        }),
        Contender::new("engine, delete (the next minute's clean-up included)", count, || {
            let world = &mut *world.borrow_mut();
            for &at in &order {
                world.process(Event::Disarmed(alerts[at as usize].id));
            }
            world.process(Event::Clock);
        }),
        Contender::new("BTreeSet alone, insert", count, || {
            let sets = &mut *sets.borrow_mut();
            numbered().for_each(|(number, level)| {
                sets.of(level).insert((key(level), number));
            });
        }),
        Contender::new("BTreeSet alone, remove by its key", count, || {
            let sets = &mut *sets.borrow_mut();
            for &at in &order {
                let level = &new[at as usize];
                sets.of(level).remove(&(key(level), at + 10_000_000));
            }
        }),
        Contender::new("BTreeSet and HashMap by id, create", count, || {
            let sets = &mut *sets.borrow_mut();
            for ((number, level), alert) in numbered().zip(&alerts) {
                sets.of(level).insert((key(level), number));
                sets.places.insert(alert.id, (*level, number));
            }
        }),
        Contender::new("BTreeSet and HashMap by id, delete by id", count, || {
            let sets = &mut *sets.borrow_mut();
            for &at in &order {
                let id = alerts[at as usize].id;
                let (level, number) = sets.places.remove(&id).expect("it was created");
                sets.of(&level).remove(&(key(&level), number));
            }
        }),
    ];
    let figures = race(
        "Making and deleting among 4 % of all alerts, each",
        size(15, 1),
        contenders,
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

fn fire(world: &mut World, sets: &Sets) {
    println!("\nFiring k of {} alerts", world.levels.len());
    for share in [0.0002, 0.002, 0.02] {
        let (count, fired, cleaned) = world.crash(0.05 + 0.25 * share);
        println!(
            "  {count:>8} fire in {:>10}, {:.1} ns each; the clean-up after it {}",
            nanos(fired.as_secs_f64() * 1e9),
            fired.as_secs_f64() * 1e9 / count as f64,
            nanos(cleaned.as_secs_f64() * 1e9),
        );
    }
    let by = 0.05 + 0.25 * 0.2;
    let reached: Vec<_> = world.market.prices.iter().map(|&price| moved(price, -by)).collect();
    let matching = |stock: usize| sets.matching(stock, reached[stock]);
    let stocks = world.market.len();
    let flat: Vec<(i64, u32)> = (0..stocks).flat_map(matching).copied().collect();
    let count = world.crash(by).0;
    assert_eq!(count, flat.len(), "the engine fires what the sets find");
    let sum = |(key, number): &(i64, u32)| *key ^ i64::from(*number);
    let cleaned = RefCell::new(Duration::ZERO);
    let contenders = vec![
        Contender::timing_itself("engine, a snapshot in which they fire", 1, || {
            let (_, fired_in, cleaned_in) = world.crash(by);
            *cleaned.borrow_mut() = cleaned_in;
            fired_in
        }),
        Contender::timing_itself("engine, giving their places back a minute later", 1, || {
            *cleaned.borrow()
        }),
        Contender::new("iterating over them in BTreeSets", 1, || {
            black_box((0..stocks).flat_map(matching).map(sum).fold(0, |a, b| a ^ b));
        }),
        Contender::new("iterating over them in one flat array", 1, || {
            black_box(flat.iter().map(sum).fold(0, |a, b| a ^ b));
        }),
        Contender::new("taking them out of a copy of the flat array", 1, || {
            black_box(black_box(&flat).clone());
        }),
    ];
    let figures = race(&format!("{count} alerts fire at once"), size(7, 1), contenders);
    for at in [2, 3] {
        let times = figures[0].best / figures[at].best;
        target(
            &format!("firing takes under 10 times what {} takes", figures[at].name),
            format!("{times:.1} times"),
            times < 10.0,
        );
    }
}

fn index(criterion: &mut Criterion) {
    let mut world = World::new();
    let bytes = world.engine.index_bytes() as f64 / world.levels.len() as f64;
    println!("\nindex_bytes: {bytes:.2} for each of {} alerts", world.levels.len());
    target(
        "at most 28 bytes of hot index an alert",
        format!("{bytes:.2}"),
        bytes <= 28.0,
    );
    let mut sets = Sets::new(&world);
    let of_one = sets.sides[world.market.most_watched() as usize]
        .each_ref()
        .map(BTreeSet::len);
    println!("the most watched stock has {of_one:?} alerts above and below");
    create_and_delete(&mut world, &mut sets);
    fire(&mut world, &sets);
    drop(sets);

    let mut group = criterion.benchmark_group("index of 10 million");
    let level = world.market.level(world.market.most_watched(), &mut chance(24));
    let alert = world.alert(world.levels.len(), &level);
    group.bench_function("create and delete one", |b| {
        b.iter(|| {
            world.process(Event::Armed(&alert));
            world.process(Event::Disarmed(alert.id));
            world.process(Event::Clock);
        })
    });
    group.throughput(Throughput::Elements(size(100_000, 100) as u64));
    group.sample_size(10);
    group.bench_function("fire 1 % of them", |b| {
        b.iter_custom(|times| (0..times).map(|_| world.crash(0.05 + 0.25 * 0.02).1).sum())
    });
    group.finish();
}

criterion_group!(benches, index);
criterion_main!(benches);
