//! Alerts over many stocks over HTTP.

mod changes;
mod firing;
mod requests;
mod watchlists;

use alerts::Plan;
use foundation::Scope;
use serde_json::{Value, json};

use crate::http::test_server::{TestResponse, TestServer};

pub(super) fn over(symbols: &[&str], threshold: i64) -> Value {
    json!({"scope": {"symbols": symbols}, "condition": "price_above", "threshold": threshold})
}

pub(super) fn following(watchlist: &str) -> Value {
    json!({"scope": {"watchlist": watchlist}, "condition": "price_above", "threshold": 125})
}

pub(super) async fn prices(server: &TestServer, prices: &[(&str, f64)]) {
    for (symbol, price) in prices {
        server.set_price(symbol, *price).await;
    }
}

pub(super) async fn created(server: &TestServer, body: Value) -> String {
    let made = server.post("/v1/alerts", body).await.ok(201);
    made.body["data"]["id"].as_str().unwrap().to_owned()
}

/// Returns the stocks of an alert with their states.
pub(super) async fn members(server: &TestServer, id: &str) -> Vec<(String, String)> {
    let found = server.get(&format!("/v1/alerts/{id}/members")).await.ok(200);
    let members = found.body["data"].as_array().unwrap();
    let text = |member: &Value, field: &str| member[field].as_str().unwrap().to_owned();
    members
        .iter()
        .map(|member| (text(member, "symbol"), text(member, "state")))
        .collect()
}

pub(super) fn states(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(symbol, state)| ((*symbol).to_owned(), (*state).to_owned()))
        .collect()
}

pub(super) async fn shown(server: &TestServer, id: &str) -> Value {
    server.get(&format!("/v1/alerts/{id}")).await.ok(200).body["data"].clone()
}

pub(super) async fn change(server: &TestServer, method: &str, id: &str, body: Value) -> TestResponse {
    server
        .request(method, &format!("/v1/alerts/{id}"))
        .json(&body)
        .send()
        .await
}

/// Returns the stocks of the firings in an alert's history, oldest first.
pub(super) async fn fired(server: &TestServer, id: &str) -> Vec<String> {
    let found = server.get(&format!("/v1/alerts/{id}/history")).await.ok(200);
    let entries = found.body["data"].as_array().unwrap().iter().rev();
    let fired = entries.filter(|entry| entry["action_type"] == "triggered");
    fired
        .map(|entry| entry["symbol"].as_str().unwrap().to_owned())
        .collect()
}

pub(super) async fn add_to_watchlist(server: &TestServer, symbol: &str, intention: &str) -> String {
    let body = json!({"stock_symbol": symbol, "intention": intention});
    let added = server.post("/v1/watchlist", body).await.ok(201);
    added.body["data"]["id"].as_str().unwrap().to_owned()
}

/// Creates an account with the basic plan and returns its key, after giving `count` stocks a price.
pub(super) async fn basic_account(server: &TestServer, count: usize) -> (String, Vec<String>) {
    let symbols: Vec<String> = (0..count).map(|at| format!("S{at}")).collect();
    for symbol in &symbols {
        server.set_price(symbol, 100.0).await;
    }
    let scopes = [
        Scope::AlertsRead,
        Scope::AlertsWrite,
        Scope::WatchlistRead,
        Scope::WatchlistWrite,
    ];
    let key = server.account("basic@example.com", Plan::Basic, false, &scopes).await;
    (key, symbols)
}

pub(super) async fn as_basic(server: &TestServer, key: &str, method: &str, path: &str, body: &Value) -> TestResponse {
    server
        .anonymous(method, path)
        .header("x-api-key", key)
        .json(body)
        .send()
        .await
}
