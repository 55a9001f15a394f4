//! Load benchmarks of the program over HTTP.
//!
//! ```sh
//! cargo bench -p bellwether --bench http
//! cargo bench -p bellwether --bench http -- logins
//! ```
//!
//! Each result is a ratio within one run:
//!
//! * **List**: the processor time of `GET /alerts` (50 rows), compared with a bare axum handler that runs the same
//!   two queries on the same database and writes them as JSON, without keys, limits, envelope and logs.
//! * **Create**: the throughput of `POST /alerts` over 64 connections, compared with one connection, which pays for a
//!   commit and an fsync per request.
//! * **Logins**: the latency of `GET /healthz` while 200 clients sign in, compared with no load; and the duration of
//!   a failed sign-in without an account, compared with an existing account.
//! * **Storm**: the 99th percentile of `GET /alerts` while 100,000 alerts fire on one snapshot, compared with no
//!   load.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a failing benchmark may panic"
)]

mod bare;
mod load;
mod logins;
mod program;

use std::future::Future;
use std::time::Duration;

use load::{Load, Timings};
use program::Program;
use serde_json::json;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, database] = &arguments[..]
        && mode == "bare"
    {
        return bare::serve(database);
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let program = Program::start().await;
        // The benchmarks named in the arguments, or all.
        let names = ["logins", "list", "create", "storm"];
        let are_named = arguments.iter().any(|argument| names.contains(&argument.as_str()));
        let is_wanted = |name: &str| !are_named || arguments.iter().any(|argument| argument == name);
        if is_wanted("logins") {
            logins::logins(&program).await;
        }
        if is_wanted("list") {
            lists(&program).await;
        }
        if is_wanted("create") {
            creates(&program).await;
        }
        if is_wanted("storm") {
            storm(&program).await;
        }
    });
}

async fn creates(program: &Program) {
    let one = Load {
        connections: 1,
        requests: 400,
    }
    .run(1_000, |number| create(program, number))
    .await;
    let many = Load {
        connections: 64,
        requests: 12_800,
    }
    .run(2_000, |number| create(program, number))
    .await;
    println!(
        "create: {:.0}/s by 64 connections, {:.0}/s by one: {:.1} times",
        many.per_second(),
        one.per_second(),
        many.per_second() / one.per_second()
    );
}

fn create(program: &Program, number: usize) -> impl Future<Output = ()> + use<> {
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 1_000.0 + number as f64 / 100.0});
    program.post("/api/v1/alerts", &body)
}

async fn lists(program: &Program) {
    // Enough alerts for a list of four pages.
    Load {
        connections: 8,
        requests: 200,
    }
    .run(0, |number| create(program, number))
    .await;
    let bare = bare::start(program.database()).await;
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let ours = program
            .cpu_micros_per_request(list(program, "/api/v1/alerts?limit=50"))
            .await;
        let theirs = bare.cpu_micros_per_request(list(&bare, "/alerts")).await;
        println!(
            "list: {ours:.0} µs of processor time a request, bare {theirs:.0} µs: {:.2} times",
            ours / theirs
        );
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    println!("list: {:.2} times the bare handler (median of five)", ratios[2]);
}

/// Lists alerts and returns the number of requests.
async fn list(program: &Program, path: &str) -> usize {
    let requests = 4_000;
    Load {
        connections: 8,
        requests,
    }
    .run(0, |_| program.get(path))
    .await;
    requests
}

async fn storm(program: &Program) {
    let count = 100_000;
    program
        .deliver(&json!({"quotes": [{"symbol": "STORM", "price": 100}]}))
        .await;
    Load {
        connections: 64,
        requests: count,
    }
    .run(0, |number| {
        let body = json!({"symbol": "STORM", "condition": "price_above", "threshold": 200.0 + number as f64 / 1e6});
        program.post("/api/v1/alerts", &body)
    })
    .await;
    let quiet = reads_for(program, Duration::from_secs(5)).await;
    let fire = json!({"quotes": [{"symbol": "STORM", "price": 1_000}]});
    let (seconds, during) = tokio::join!(program.deliver(&fire), reads_until_fired(program));
    println!(
        "storm: {count} alerts fired and on disk in {:.2} s ({:.0}/s)",
        seconds.as_secs_f64(),
        count as f64 / seconds.as_secs_f64()
    );
    println!(
        "storm: GET /alerts p99 {:.1} ms, quiet {:.1} ms: {:.1} times",
        during.p99_ms(),
        quiet.p99_ms(),
        during.p99_ms() / quiet.p99_ms()
    );
}

/// Reads repeatedly with short pauses for the given duration.
async fn reads_for(program: &Program, duration: Duration) -> Timings {
    let mut timings = Timings::default();
    let until = tokio::time::Instant::now() + duration;
    while tokio::time::Instant::now() < until {
        timings.time(program.get("/api/v1/alerts?limit=50")).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    timings
}

/// Reads repeatedly until no alert of the storm is active.
async fn reads_until_fired(program: &Program) -> Timings {
    let mut timings = Timings::default();
    loop {
        for _ in 0..20 {
            timings.time(program.get("/api/v1/alerts?limit=50")).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if program.count("/api/v1/alerts?symbol=STORM&status=active&limit=1").await == 0 {
            return timings;
        }
    }
}
