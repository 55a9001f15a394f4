//! Webhook deliveries: their rate, and a storm of firings.
//!
//! ```sh
//! cargo bench -p service --bench deliveries            # everything; or one part by its name: rate, tls, storm
//! ```
//!
//! * **Rate**: pending deliveries in an SQLite file are claimed, signed, posted over reused connections, and their
//!   results stored. The baseline is a `reqwest` loop that signs and posts the same to the same receivers with the
//!   same concurrency, without a database. With TLS, the same is also compared with the rate without TLS.
//! * **Storm**: 100,000 alerts of 500 accounts fire on one snapshot, each account with its own receiver. Measures
//!   the time until the first delivery is on the wire and until all are delivered and settled, and the memory that
//!   takes.
//!
//! The receivers run in a separate process with one thread (`receiver.rs`). The limits are the defaults: 32
//! attempts at one host, 256 in total. `cargo test --benches` runs everything once with small numbers.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a bench may fail so")]

mod baseline;
mod database;
mod receiver;
mod storm;
mod system;

use std::path::Path;
use std::time::Duration;

use database::{BenchDatabase, InitialState};
use receiver::ReceiverProcess;
use rustls::pki_types::CertificateDer;
use store::Store;
use store::model::Queue;
use system::stopwatch;

/// The destinations of deliveries.
#[derive(Clone, Copy)]
struct Receivers {
    /// The number of receivers.
    ports: usize,
    /// The total number of webhooks.
    webhooks: usize,
    /// The resulting number of concurrent attempts.
    concurrency: usize,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    match arguments.as_slice() {
        [mode, receivers, certificate @ ..] if mode == "sink" => {
            return receiver::serve(receivers.parse().unwrap(), certificate.first().map(Path::new));
        }
        [mode, folder, count, is_fired, urls @ ..] if mode == "fill" => {
            let (count, is_fired) = (count.parse().unwrap(), is_fired == "true");
            return runtime.block_on(database::fill(Path::new(folder), count, is_fired, urls));
        }
        _ => {}
    }
    let is_measured = arguments.iter().any(|argument| argument == "--bench");
    let asked: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|asked| *asked == name);
    let one = Receivers {
        ports: 1,
        webhooks: 8,
        concurrency: 32,
    };
    let many = Receivers {
        ports: 64,
        webhooks: 64,
        concurrency: 256,
    };
    let (count, rounds) = if is_measured { (20_000, 3) } else { (100, 1) };
    runtime.block_on(async {
        if is_asked("rate") {
            for receivers in [one, many] {
                rates(receivers, count, rounds).await;
            }
        }
        if is_asked("tls") {
            by_tls(one, count, rounds).await;
        }
        if is_asked("storm") {
            let (alerts, endpoints) = if is_measured { (100_000, 500) } else { (100, 5) };
            storm::run(alerts, endpoints).await;
        }
    });
}

/// Compares with `reqwest`, alternating.
async fn rates(receivers: Receivers, count: usize, rounds: usize) {
    let receiver = ReceiverProcess::start(receivers.ports, None);
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let ours = deliver(&receiver, receivers, count, None).await;
        let theirs = post(&receiver, receivers, count, None).await;
        println!(
            "rate: {ours:.0}/s durable, bare reqwest {theirs:.0}/s: {:.2} times",
            ours / theirs
        );
        ratios.push(ours / theirs);
    }
    println!(
        "rate: {:.2} times the rate of bare reqwest, {} receivers, {} at once (median of {rounds})",
        median(ratios),
        receivers.ports,
        receivers.concurrency
    );
}

/// Compares TLS with plain HTTP, alternating.
async fn by_tls(receivers: Receivers, count: usize, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let root = receiver::certify(folder.path());
    let plain = ReceiverProcess::start(receivers.ports, None);
    let secure = ReceiverProcess::start(receivers.ports, Some(folder.path()));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (bare_plain, our_plain) = (
            post(&plain, receivers, count, None).await,
            deliver(&plain, receivers, count, None).await,
        );
        let (our_secure, bare_secure) = (
            deliver(&secure, receivers, count, Some(&root)).await,
            post(&secure, receivers, count, Some(&root)).await,
        );
        println!(
            "tls: {our_secure:.0}/s against {our_plain:.0}/s plain: {:.2} times; bare reqwest {bare_secure:.0}/s against \
             {bare_plain:.0}/s: {:.2} times",
            our_secure / our_plain,
            bare_secure / bare_plain
        );
        ours.push(our_secure / our_plain);
        theirs.push(bare_secure / bare_plain);
    }
    println!(
        "tls: {:.2} times the rate of plain; bare reqwest {:.2} times (medians of {rounds})",
        median(ours),
        median(theirs)
    );
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// Returns the number of deliveries per second that the service makes of a backlog.
async fn deliver(
    receiver: &ReceiverProcess,
    receivers: Receivers,
    count: usize,
    root: Option<&CertificateDer<'static>>,
) -> f64 {
    let database = BenchDatabase::new(&receiver.urls(receivers.webhooks), count, InitialState::Fired, root);
    receiver.tally().await;
    let (service, store) = database.start().await;
    let began = stopwatch();
    until_settled(&store).await;
    let took = began.elapsed();
    let tally = receiver.tally().await;
    assert_eq!(tally.distinct, count, "all of them arrive");
    println!(
        "      {count} delivered in {:.2} s over {} connections, {} twice",
        took.as_secs_f64(),
        tally.connections,
        tally.received - tally.distinct
    );
    service.stop().await;
    count as f64 / took.as_secs_f64()
}

/// Waits until no delivery is pending.
async fn until_settled(store: &Store) {
    while !store
        .pending_endpoints(Queue::Webhooks, i64::MIN, 1)
        .await
        .unwrap()
        .is_empty()
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the number of deliveries per second that the baseline makes.
async fn post(
    receiver: &ReceiverProcess,
    receivers: Receivers,
    count: usize,
    root: Option<&CertificateDer<'static>>,
) -> f64 {
    receiver.tally().await;
    let took = baseline::run(receiver.urls(receivers.webhooks), root, count, receivers.concurrency).await;
    assert_eq!(receiver.tally().await.distinct, count, "all of them arrive");
    count as f64 / took.as_secs_f64()
}
