//! The processor time of `GET /alerts?limit=50`, compared with a bare axum handler that returns as many bytes.

use serde_json::json;

use crate::bare;
use crate::goal::{at_most, median};
use crate::load::Load;
use crate::program::Program;

const PATH: &str = "/api/v1/alerts?limit=50";
const REQUESTS: usize = 4_000;
const ROUNDS: usize = 5;
/// The alerts of a page are on as many stocks.
const STOCKS: usize = 50;

/// Measures the list of an account with 100 alerts, and of one with 20,000; in full, and when it has not changed.
pub(crate) async fn lists(program: &Program) {
    let bare = bare::start();
    let quotes: Vec<_> = (0..STOCKS)
        .map(|stock| json!({"symbol": format!("L{stock}"), "price": 100}))
        .collect();
    program.deliver(&json!({"quotes": quotes})).await;
    let small = program.account("few@example.com");
    let large = program.account("many@example.com");
    add_alerts(&small, 100).await;
    add_alerts(&large, 20_000).await;
    let (bytes, tag) = large.body_and_tag(PATH).await;
    let same_size = format!("/bytes/{bytes}");
    let (mut few, mut many, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
    let (_, few_tag) = small.body_and_tag(PATH).await;
    assert_ne!(tag, few_tag, "different lists");
    for _ in 0..ROUNDS {
        let theirs = bare.cpu_micros_per_request(repeated(|| bare.get(&same_size))).await;
        let costs = [
            program.cpu_micros_per_request(repeated(|| small.get(PATH))).await,
            program.cpu_micros_per_request(repeated(|| large.get(PATH))).await,
            program
                .cpu_micros_per_request(repeated(|| large.get_unchanged(PATH, &tag)))
                .await,
        ];
        println!(
            "list: bare {theirs:.1} µs; of 100 {:.1} µs, of 20,000 {:.1} µs, unchanged {:.1} µs",
            costs[0], costs[1], costs[2]
        );
        few.push(costs[0] / theirs);
        many.push(costs[1] / theirs);
        unchanged.push(costs[2] / theirs);
    }
    let (few, many) = (median(few), median(many));
    let detail = format!("processor time against a bare answer of {bytes} bytes");
    at_most(8.0, few, "a list of 50 of 100 alerts", &detail);
    at_most(8.0, many, "a list of 50 of 20,000 alerts", &detail);
    at_most(
        1.3,
        many / few,
        "growth of a list from 100 to 20,000 alerts",
        "processor time",
    );
    at_most(2.5, median(unchanged), "an unchanged list with If-None-Match", &detail);
}

async fn add_alerts(account: &Program, count: usize) {
    let load = Load {
        connections: 64,
        requests: count,
    };
    load.run(0, |number| {
        let symbol = format!("L{}", number % STOCKS);
        let body = json!({"symbol": symbol, "condition": "price_above", "threshold": 1_000.0 + number as f64 / 100.0});
        account.post("/api/v1/alerts", &body)
    })
    .await;
}

/// Makes the requests over eight connections, and returns their number.
async fn repeated<F: Future<Output = ()>>(request: impl Fn() -> F) -> usize {
    let load = Load {
        connections: 8,
        requests: REQUESTS,
    };
    load.run(0, |_| request()).await;
    REQUESTS
}
