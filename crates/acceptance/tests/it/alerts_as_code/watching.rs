//! `watch`: live firings across a restart of the server.

use acceptance::{ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::ChildStdout;

use super::support::Repository;

on_both_databases![watch_continues_after_the_server_was_killed];

/// Fires a new alert on a stock.
async fn fire(env: &TestEnvironment, symbol: &str) {
    env.stock_at(symbol, 100.0).await;
    let body = json!({"symbol": symbol, "condition": "price_above", "threshold": 150});
    let _ = env.operator.post("/alerts", &body).await.expect_ok(201);
    env.quote(symbol, 151.0).await;
}

async fn next_symbol(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    let line = tokio::time::timeout(testkit::HANG_LIMIT, lines.next_line())
        .await
        .unwrap();
    let firing: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
    firing["symbol"].as_str().unwrap().to_owned()
}

async fn watch_continues_after_the_server_was_killed(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let repository = Repository::new(&env).await;
    let arguments = ["watch", "--json", "--since", "2020-01-01T00:00:00Z", "--count", "3"];
    fire(&env, "AAA").await;
    let mut watching = repository.spawn(&arguments);
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    assert_eq!(next_symbol(&mut lines).await, "AAA");

    let address = env.server.origin.trim_start_matches("http://").to_owned();
    let TestEnvironment {
        setup,
        server,
        operator,
        ..
    } = env;
    server.kill().await;
    let setup = setup.set("server.listen", &address);
    let server = setup.start().await;
    let env = TestEnvironment::from_running(setup, server, operator);
    fire(&env, "BBB").await;
    assert_eq!(next_symbol(&mut lines).await, "BBB");
    fire(&env, "CCC").await;
    assert_eq!(next_symbol(&mut lines).await, "CCC");
    // It stops after three, so that a repeated one would have been printed in place of another.
    assert_eq!(lines.next_line().await.unwrap(), None);
    assert_eq!(watching.wait().await.unwrap().code(), Some(0));
}
