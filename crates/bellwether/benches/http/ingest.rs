//! The processor time of quotes that fire nothing, pushed in batches of 1,000.

use serde_json::{Value, json};

use crate::goal::{at_most, median};
use crate::program::Program;

const STOCKS: usize = 1_000;
const BATCHES: usize = 300;
const ROUNDS: usize = 5;
/// The goal of one quote in microseconds.
const GOAL_MICROS: f64 = 1.2;

/// Measures quotes of stocks with alerts above and below.
pub(crate) async fn quiet_quotes(program: &Program) {
    let account = program.account("quotes@example.com");
    program.deliver(&quotes(0)).await;
    for stock in 0..STOCKS {
        for (condition, threshold) in [("price_above", 200), ("price_below", 50)] {
            let body = json!({"symbol": symbol(stock), "condition": condition, "threshold": threshold});
            account.post("/api/v1/alerts", &body).await;
        }
    }
    let mut micros = Vec::new();
    for round in 0..ROUNDS {
        let work = async {
            for batch in 0..BATCHES {
                program.deliver(&quotes(1 + round * BATCHES + batch)).await;
            }
            STOCKS * BATCHES
        };
        micros.push(program.cpu_micros_per_request(work).await);
    }
    println!("ingest: {micros:.2?} µs of processor time a quote");
    let quote = median(micros);
    let detail = format!("{quote:.2} µs of processor time");
    at_most(
        1.0,
        quote / GOAL_MICROS,
        "a quiet quote in an ingest of 1,000 against 1.2 µs",
        &detail,
    );
}

fn symbol(stock: usize) -> String {
    format!("Q{stock}")
}

/// One quote of each stock, between the levels of its alerts.
fn quotes(batch: usize) -> Value {
    let quote = |stock: usize| {
        let cents = 9_500 + (stock * 31 + batch * 17) % 1_000;
        json!({"symbol": symbol(stock), "price": cents as f64 / 100.0})
    };
    json!({"quotes": (0..STOCKS).map(quote).collect::<Vec<_>>()})
}
