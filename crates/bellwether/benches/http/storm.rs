//! Reads while 100,000 alerts fire on one snapshot.

use std::time::Duration;

use serde_json::json;

use crate::load::{Load, Timings};
use crate::program::Program;

/// Measures the 99th percentile of `GET /alerts` during the storm and before it.
pub(crate) async fn storm(program: &Program) {
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
