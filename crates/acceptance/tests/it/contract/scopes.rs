//! Scopes of API keys.

use acceptance::environment::ALL_SCOPES;
use acceptance::{ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::json;

on_both_databases![
    missing_scope_is_403,
    required_scope_alone_is_sufficient,
    only_operators_can_ingest,
];

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// Each route with its scope; `{id}` stands for an alert id.
const ROUTES: &[(Method, &str, &str)] = &[
    (Method::GET, "/alerts", "alerts:read"),
    (Method::POST, "/alerts", "alerts:write"),
    (Method::GET, "/alerts/{id}", "alerts:read"),
    (Method::PUT, "/alerts/{id}", "alerts:write"),
    (Method::POST, "/alerts/{id}/pause", "alerts:write"),
    (Method::POST, "/alerts/{id}/activate", "alerts:write"),
    (Method::GET, "/alerts/{id}/history", "alerts:read"),
    (Method::GET, "/alerts/{id}/outcome", "alerts:read"),
    (Method::DELETE, "/alerts/{id}", "alerts:write"),
    (Method::GET, "/stocks/AAPL", "stocks:read"),
    (Method::GET, "/stocks?search=AAPL", "stocks:read"),
    (Method::GET, "/stocks/AAPL/candles?range=1m", "stocks:read"),
    (Method::GET, "/quotes?symbols=AAPL", "stocks:read"),
    (Method::GET, "/market/status", "stocks:read"),
    (Method::GET, "/market/indices", "stocks:read"),
    (Method::GET, "/market/top-movers?limit=5", "stocks:read"),
    (Method::GET, "/market/sentiment", "stocks:read"),
    (Method::GET, "/market/dividend-dates?month=2024-03", "stocks:read"),
    (Method::GET, "/market/earnings", "stocks:read"),
    (Method::GET, "/market/performance?symbols=AAPL&period=1m", "stocks:read"),
    (Method::GET, "/watchlist", "watchlist:read"),
    (Method::GET, "/watchlist/paper-trades", "watchlist:read"),
    (Method::GET, "/watchlist/performance", "watchlist:read"),
    (Method::POST, "/market/ingest", "market:write"),
];

async fn missing_scope_is_403(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for lacking in [
        "alerts:read",
        "alerts:write",
        "watchlist:read",
        "stocks:read",
        "market:write",
    ] {
        let others: Vec<_> = ALL_SCOPES.split(',').filter(|scope| *scope != lacking).collect();
        let client = env.operator_with_scopes(&others.join(",")).await;
        for (method, path, scope) in ROUTES {
            if *scope != lacking {
                continue;
            }
            let request = client
                .request(method.clone(), &path.replace("{id}", ID))
                .json(&json!({}));
            let refused = request.send().await.expect_forbidden("scope");
            assert_eq!(refused.body["error"]["details"]["required"], lacking, "{refused}");
            let message = refused.body["error"]["message"].as_str().unwrap();
            assert!(message.contains(lacking), "{refused}");
        }
    }
}

async fn required_scope_alone_is_sufficient(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    for only in [
        "alerts:read",
        "alerts:write",
        "watchlist:read",
        "stocks:read",
        "market:write",
    ] {
        let client = env.operator_with_scopes(only).await;
        for (method, path, scope) in ROUTES {
            if *scope != only {
                continue;
            }
            let request = client.request(method.clone(), &path.replace("{id}", &id));
            let response = match *method {
                Method::GET => request.send().await,
                _ => request.json(&body).send().await,
            };
            assert!(response.status < 300, "{response}");
        }
    }
}

async fn only_operators_can_ingest(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let body = json!({"quotes": []});
    let account = env.account("premium").await;
    let _ = account
        .post("/market/ingest", &body)
        .await
        .expect_error(403, "FORBIDDEN");
    // The scope alone is not sufficient for an account that is not an operator, if such a key can be created.
    let email = "premium0@example.com";
    let arguments = [
        "admin",
        "create-key",
        "--email",
        email,
        "--name",
        "n",
        "--scopes",
        "market:write",
        "--json",
    ];
    let output = env.setup.run(&arguments).await;
    if output.status.success() {
        let created: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let client = env.operator.with_key(created["api_key"].as_str().unwrap());
        let _ = client
            .post("/market/ingest", &body)
            .await
            .expect_error(403, "FORBIDDEN");
    }
}
