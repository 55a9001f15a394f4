//! The program under load, from outside.
//!
//! ```sh
//! cargo bench -p bellwether --bench http
//! cargo bench -p bellwether --bench http -- logins
//! ```
//!
//! Some figures, each a ratio within this run:
//!
//! * **List**: what `GET /alerts` (50 rows) costs the program in processor time, against a bare axum handler that runs the
//!   same two queries on the same database and writes them as JSON: no keys, no limits, no envelope, no logs.
//! * **Create**: how many `POST /alerts` 64 connections get done, against one connection, which pays a commit and an
//!   fsync for each.
//! * **Logins**: `GET /healthz` while 200 people sign in at once, against quiet; and a wrong password where there is no account,
//!   against where there is one.
//! * **Storm**: the 99th percentile of `GET /alerts` while 100,000 alerts fire on one snapshot, against quiet.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a bench may fail so")]

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
        // Figures that are named, or all.
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
    // A page of a list of four.
    Load {
        connections: 8,
        requests: 200,
    }
    .run(0, |number| create(program, number))
    .await;
    let bare = bare::start(program.database()).await;
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let ours = program.cpu_of(list(program, "/api/v1/alerts?limit=50")).await;
        let theirs = bare.cpu_of(list(&bare, "/alerts")).await;
        println!(
            "list: {ours:.0} µs of processor time a request, bare {theirs:.0} µs: {:.2} times",
            ours / theirs
        );
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    println!("list: {:.2} times the bare handler (median of five)", ratios[2]);
}

/// Returns how many requests were answered.
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

/// Reads one after another, with short pauses, for a while.
async fn reads_for(program: &Program, duration: Duration) -> Timings {
    let mut timings = Timings::default();
    let until = tokio::time::Instant::now() + duration;
    while tokio::time::Instant::now() < until {
        timings.time(program.get("/api/v1/alerts?limit=50")).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    timings
}

/// The same until no alert of the storm is active any more.
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
