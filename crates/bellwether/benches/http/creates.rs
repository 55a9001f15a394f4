//! `POST /alerts` by 64 connections, each on disk before it is answered, compared with a bare axum handler and with one connection.

use serde_json::json;

use crate::bare;
use crate::goal::{at_most, median};
use crate::load::{Load, Timings};
use crate::program::Program;

const REQUESTS: usize = 12_800;
const ROUNDS: usize = 3;

/// Measures the processor time and the rate of creates.
pub(crate) async fn creates(program: &Program) {
    let bare = bare::start();
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let first = 10_000 + round * REQUESTS;
        let mut rate = 0.0;
        let ours = program
            .cpu_micros_per_request(async {
                rate = by_64(program, "/api/v1/alerts", first).await.per_second();
                REQUESTS
            })
            .await;
        let theirs = bare
            .cpu_micros_per_request(async {
                by_64(&bare, "/alerts", first).await;
                REQUESTS
            })
            .await;
        println!("create: {ours:.1} µs, bare {theirs:.1} µs; {rate:.0}/s");
        ratios.push(ours / theirs);
        rates.push(rate);
    }
    let alone = Load {
        connections: 1,
        requests: 400,
    };
    let alone = alone
        .run(1_000, |number| program.post("/api/v1/alerts", &body(number)))
        .await
        .per_second();
    let rate = median(rates);
    at_most(
        4.0,
        median(ratios),
        "a create by 64 connections",
        "processor time against a bare handler",
    );
    at_most(
        1.0,
        15_000.0 / rate,
        "15,000 creates a second",
        &format!("{rate:.0}/s; {alone:.0}/s by one connection"),
    );
}

async fn by_64(program: &Program, path: &str, first: usize) -> Timings {
    let load = Load {
        connections: 64,
        requests: REQUESTS,
    };
    load.run(first, |number| program.post(path, &body(number))).await
}

fn body(number: usize) -> serde_json::Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": 1_000.0 + number as f64 / 100.0})
}
