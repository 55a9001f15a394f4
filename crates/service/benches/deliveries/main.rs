//! Deliveries to webhooks: how fast they go out, and what a storm of them does.
//!
//! ```sh
//! cargo bench -p service --bench deliveries            # all of it; one part by its name: rate, tls, storm
//! ```
//!
//! * **Rate**: deliveries that wait in an SQLite file are claimed, signed, posted over connections that are kept, and what came
//!   of them is on disk; against a loop of `reqwest` that signs and posts the same, so many at once, to the same receivers,
//!   and knows no database. By TLS, the same, and against itself without TLS.
//! * **Storm**: 100,000 alerts of 500 accounts fire on one snapshot, each account with a receiver of its own. How long until
//!   the first delivery is on the wire, and all of them have arrived and are settled, and how much memory that takes.
//!
//! Receivers are a process of their own with one thread (`sink.rs`). The program's bounds are those it is shipped with: 32
//! attempts at one host, 256 in all. `cargo test --benches` runs everything once in small.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a bench may fail so")]

mod bare;
mod real;
mod sink;
mod storm;
mod world;

use std::path::Path;
use std::time::Duration;

use real::stopwatch;
use rustls::pki_types::CertificateDer;
use sink::Sink;
use store::Store;
use world::{Alerts, World};

/// Whom deliveries go to.
#[derive(Clone, Copy)]
struct Receivers {
    /// So many receivers ...
    ports: usize,
    /// ... with so many webhooks in all ...
    webhooks: usize,
    /// ... so that the program makes so many attempts at once.
    at_once: usize,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    match arguments.as_slice() {
        [mode, receivers, certificate @ ..] if mode == "sink" => {
            return sink::serve(receivers.parse().unwrap(), certificate.first().map(Path::new));
        }
        [mode, folder, count, is_fired, urls @ ..] if mode == "fill" => {
            let (count, is_fired) = (count.parse().unwrap(), is_fired == "true");
            return runtime.block_on(world::fill(Path::new(folder), count, is_fired, urls));
        }
        _ => {}
    }
    let is_measured = arguments.iter().any(|argument| argument == "--bench");
    let asked: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|asked| *asked == name);
    let one = Receivers {
        ports: 1,
        webhooks: 8,
        at_once: 32,
    };
    let many = Receivers {
        ports: 64,
        webhooks: 64,
        at_once: 256,
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

/// Against `reqwest`, in turn.
async fn rates(receivers: Receivers, count: usize, rounds: usize) {
    let sink = Sink::start(receivers.ports, None);
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let ours = deliver(&sink, receivers, count, None).await;
        let theirs = post(&sink, receivers, count, None).await;
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
        receivers.at_once
    );
}

/// TLS against none, in turn.
async fn by_tls(receivers: Receivers, count: usize, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let root = sink::certify(folder.path());
    let plain = Sink::start(receivers.ports, None);
    let secure = Sink::start(receivers.ports, Some(folder.path()));
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

/// How many deliveries a second the service makes of a backlog.
async fn deliver(sink: &Sink, receivers: Receivers, count: usize, root: Option<&CertificateDer<'static>>) -> f64 {
    let world = World::new(&sink.urls(receivers.webhooks), count, Alerts::Fired, root);
    sink.tally().await;
    let (service, store) = world.start().await;
    let began = stopwatch();
    until_settled(&store).await;
    let took = began.elapsed();
    let tally = sink.tally().await;
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
    while !store.pending_delivery_endpoints(i64::MIN, 1).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// How many the baseline makes.
async fn post(sink: &Sink, receivers: Receivers, count: usize, root: Option<&CertificateDer<'static>>) -> f64 {
    sink.tally().await;
    let took = bare::run(sink.urls(receivers.webhooks), root, count, receivers.at_once).await;
    assert_eq!(sink.tally().await.distinct, count, "all of them arrive");
    count as f64 / took.as_secs_f64()
}
