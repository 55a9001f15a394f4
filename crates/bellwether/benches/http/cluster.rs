//! The time from the creation of an alert that holds already to its firing in a cluster: the alert is created at one node and judged by
//! another one. The times are those of the alert.
//!
//! Needs PostgreSQL (`BELLWETHER_TEST_POSTGRES_URL`, from `scripts/postgres-for-tests start --with-fsync`) and `nats-server`.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use testkit::Database;
use testkit::nats::NatsServer;

use crate::program::Program;

const STOCKS: usize = 50;
/// The number of alerts, without pushes meanwhile and with them.
const ALERTS: usize = 500;
/// The pause between two pushes of all stocks.
const PUSH_INTERVAL: Duration = Duration::from_millis(100);
/// The longest time that one in a hundred alerts may exceed, in milliseconds.
const GOAL_MS: f64 = 200.0;

/// Measures alerts that are created one after the other, at first alone, then beside pushes of all stocks.
pub(crate) async fn created_to_judged() {
    if std::env::var_os("BELLWETHER_TEST_POSTGRES_URL").is_none() {
        println!("cluster: left out, because BELLWETHER_TEST_POSTGRES_URL is not set");
        return;
    }
    let (nats, database) = (NatsServer::start().await, Database::postgres().await);
    let url = nats.url();
    let node = |name: &'static str, roles: &'static str| {
        [
            ("BELLWETHER_DATABASE__URL", database.url()),
            ("BELLWETHER_CLUSTER__NATS_URLS", &url),
            ("BELLWETHER_CLUSTER__NODE_ID", name),
            ("BELLWETHER_CLUSTER__ROLES", roles),
            (
                "BELLWETHER_AUTH__SECRET_KEY",
                "a secret that all nodes of the bench have",
            ),
            ("BELLWETHER_SERVER__PUBLIC_URL", "http://127.0.0.1:8080"),
        ]
    };
    let _evaluators = ["evaluator-1", "evaluator-2"].map(|name| Program::serve(&node(name, "evaluator")));
    let program = Program::start_with(&node("api", "api,dispatcher,feed,jobs")).await;
    push(&program, 100).await;

    print(times(&program, 0).await, "alone");
    let pushes = async {
        for cents in (0..100).cycle() {
            push(&program, 100 + cents).await;
            tokio::time::sleep(PUSH_INTERVAL).await;
        }
    };
    let times = tokio::select! {
        times = times(&program, ALERTS) => times,
        () = pushes => unreachable!("pushes do not end"),
    };
    print(
        times,
        &format!("beside pushes of {STOCKS} stocks every {PUSH_INTERVAL:?}"),
    );
}

/// Creates alerts that hold. Returns the times in milliseconds from each creation to the firing.
async fn times(program: &Program, first: usize) -> Vec<f64> {
    let mut times = Vec::with_capacity(ALERTS);
    for number in first..first + ALERTS {
        // Two alerts of an account must not be equal.
        let threshold = 1.0 + number as f64 / 10_000.0;
        let body = json!({"symbol": symbol(number % STOCKS), "condition": "price_above", "threshold": threshold});
        let created = program.post_json("/api/v1/alerts", &body).await;
        let id = created["data"]["id"].as_str().unwrap();
        times.push(judged_after(program, id).await);
    }
    times
}

/// Waits until an alert has fired.
async fn judged_after(program: &Program, id: &str) -> f64 {
    loop {
        let alert = program.get_json(&format!("/api/v1/alerts/{id}")).await;
        let at = |name: &str| {
            alert["data"][name]
                .as_str()
                .map(|text| text.parse::<Timestamp>().unwrap())
        };
        if let Some(triggered) = at("triggered_at") {
            let created = at("created_at").unwrap();
            return triggered.duration_since(created).as_secs_f64() * 1e3;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn print(mut times: Vec<f64>, circumstances: &str) {
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[times.len() * percent / 100];
    let (p50, p99) = (at(50), at(99));
    let found = format!("p50 {p50:.0} ms, p99 {p99:.0} ms, goal p99 at most {GOAL_MS} ms");
    let what = format!("from an alert's creation to its firing at another node, {circumstances}");
    testkit::print_goal(&what, &found, p99 <= GOAL_MS);
}

/// Pushes prices above the levels of all alerts.
async fn push(program: &Program, cents: usize) {
    let quote = |stock: usize| json!({"symbol": symbol(stock), "price": 100.0 + cents as f64 / 100.0});
    let quotes: Vec<Value> = (0..STOCKS).map(quote).collect();
    program.deliver(&json!({"quotes": quotes})).await;
}

fn symbol(stock: usize) -> String {
    format!("S{stock}")
}
