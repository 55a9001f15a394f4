//! Measures a stream's bytes to filtered quotes, compared with `serde_json` reading the same bytes to a tree and to a
//! struct. The contenders run in turn, so that the ratio compares the same conditions.

use std::hint::black_box;
use std::time::Duration;

use clock::{Clock, ManualClock};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jiff::Timestamp;
use market::records::QuoteRow;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Deserialize;
use sources::freshness::{QuoteFilter, QuoteLimits};
use sources::provider::alpaca::{Alpaca, AlpacaConfig};
use sources::provider::http::AdapterSetup;
use sources::provider::stream::{StreamProtocol, Tick};
use sources::provider::{Provider, ProviderKey};

const START_NS: i128 = 1_709_911_800_000_000_000;

/// The number of messages. Each has [`TRADES_PER_MESSAGE`] trades.
const MESSAGES: usize = 2_000;
const TRADES_PER_MESSAGE: usize = 10;

/// Alpaca's trades of 500 stocks whose prices follow a random walk.
fn messages() -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut cents: Vec<i64> = (0..500).map(|_| rng.random_range(500..50_000)).collect();
    let mut now = START_NS;
    let mut trade = || {
        let stock = rng.random_range(0..cents.len());
        cents[stock] += rng.random_range(-2..=2);
        now += rng.random_range(1_000..2_000_000);
        let (price, id) = (cents[stock] as f64 / 100.0, rng.random_range(1_i64..99_999_999_999));
        let time = Timestamp::from_nanosecond(now).expect("a time");
        format!(
            r#"{{"T":"t","S":"S{stock:03}","i":{id},"x":"V","p":{price},"s":100,"c":["@"],"z":"C","t":"{time:.9}"}}"#
        )
    };
    let message = |_| {
        format!(
            "[{}]",
            (0..TRADES_PER_MESSAGE).map(|_| trade()).collect::<Vec<_>>().join(",")
        )
    };
    (0..MESSAGES).map(message).collect()
}

/// The struct into which a program would deserialize a trade.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only deserialized")]
struct Trade<'a> {
    #[serde(rename = "T")]
    kind: &'a str,
    #[serde(rename = "S")]
    symbol: &'a str,
    p: f64,
    s: f64,
    t: &'a str,
    c: Vec<&'a str>,
}

fn protocol(clock: &std::sync::Arc<ManualClock>) -> Box<dyn StreamProtocol> {
    let key = ProviderKey::new("key").expect("a key");
    let clock: std::sync::Arc<dyn Clock> = std::sync::Arc::<ManualClock>::clone(clock);
    let alpaca = Alpaca::new(AlpacaConfig::free(key.clone(), key), &AdapterSetup::new(clock, 1)).expect("a provider");
    alpaca.stream().expect("a stream")
}

/// Parses and filters the messages. Returns the number of quotes that passed.
fn filtered(messages: &[String], protocol: &mut dyn StreamProtocol) -> usize {
    let now = Timestamp::from_nanosecond(START_NS).expect("a time");
    let limits = QuoteLimits {
        ahead: jiff::SignedDuration::from_hours(1),
        ..QuoteLimits::default()
    };
    let (mut filter, mut ticks, mut passed) = (QuoteFilter::new(limits), Vec::new(), 0);
    for message in messages {
        protocol.parse_message(message.as_bytes(), &mut ticks);
        for tick in ticks.drain(..) {
            if let Tick::Trade { symbol, price, time } = tick {
                let quote = QuoteRow {
                    symbol,
                    price,
                    volume: None,
                    time: Some(time),
                    bid: None,
                    ask: None,
                    vwap: None,
                };
                passed += usize::from(filter.check(&quote, now).is_passed());
            }
        }
    }
    passed
}

fn as_tree(messages: &[String]) -> usize {
    let read = |message: &String| serde_json::from_slice::<serde_json::Value>(message.as_bytes()).is_ok();
    messages.iter().filter(|message| black_box(read(message))).count()
}

fn as_struct(messages: &[String]) -> usize {
    let read = |message: &String| {
        serde_json::from_slice::<Vec<Trade<'_>>>(message.as_bytes())
            .map(black_box)
            .is_ok()
    };
    messages.iter().filter(|message| read(message)).count()
}

/// Returns how long `run` takes.
fn stopwatch(run: impl FnOnce()) -> Duration {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    let start = std::time::Instant::now();
    run();
    start.elapsed()
}

fn compare(messages: &[String], protocol: &mut dyn StreamProtocol, rounds: usize) {
    let mut best = [Duration::MAX; 3];
    for _ in 0..rounds {
        let taken = [
            stopwatch(|| assert!(black_box(filtered(messages, protocol)) > MESSAGES * TRADES_PER_MESSAGE * 9 / 10)),
            stopwatch(|| assert_eq!(black_box(as_struct(messages)), MESSAGES)),
            stopwatch(|| assert_eq!(black_box(as_tree(messages)), MESSAGES)),
        ];
        best = std::array::from_fn(|place| best[place].min(taken[place]));
    }
    let ns_per_trade = |taken: Duration| taken.as_secs_f64() * 1e9 / (MESSAGES * TRADES_PER_MESSAGE) as f64;
    println!("\nbytes of a stream ({rounds} rounds in turn; best)");
    for (name, taken) in ["to gated quotes", "serde_json to a struct", "serde_json to a tree"]
        .iter()
        .zip(best)
    {
        let times = taken.as_secs_f64() / best[0].as_secs_f64();
        println!(
            "  {name:<24} {:>8.1} ns a trade  {times:>6.2} times ours",
            ns_per_trade(taken)
        );
    }
}

fn stream(c: &mut Criterion) {
    let messages = messages();
    let clock = std::sync::Arc::new(ManualClock::new(Timestamp::from_nanosecond(START_NS).expect("a time")));
    let mut protocol = protocol(&clock);
    let is_test = std::env::args().any(|argument| argument == "--test");
    compare(&messages, &mut *protocol, if is_test { 1 } else { 50 });
    let mut group = c.benchmark_group("stream");
    let bytes = messages.iter().map(String::len).sum::<usize>();
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("gated", |b| b.iter(|| filtered(&messages, &mut *protocol)));
    group.bench_function("serde_json_struct", |b| b.iter(|| as_struct(&messages)));
    group.bench_function("serde_json_tree", |b| b.iter(|| as_tree(&messages)));
    group.finish();
}

criterion_group!(benches, stream);
criterion_main!(benches);
