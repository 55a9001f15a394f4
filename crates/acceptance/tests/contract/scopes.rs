//! What an API key may be used for.

use acceptance::world::ALL_SCOPES;
use acceptance::{Setup, on_both_databases};
use reqwest::Method;
use serde_json::json;

on_both_databases![
    each_route_refuses_a_key_that_lacks_its_scope,
    each_route_takes_a_key_that_has_only_its_scope,
    only_operators_feed_the_market,
];

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// Each route with its scope; `{id}` is an alert.
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

async fn each_route_refuses_a_key_that_lacks_its_scope(setup: Setup) {
    let world = setup.world().await;
    for lacking in [
        "alerts:read",
        "alerts:write",
        "watchlist:read",
        "stocks:read",
        "market:write",
    ] {
        let others: Vec<_> = ALL_SCOPES.split(',').filter(|scope| *scope != lacking).collect();
        let client = world.me_with(&others.join(",")).await;
        for (method, path, scope) in ROUTES {
            if *scope != lacking {
                continue;
            }
            let request = client
                .request(method.clone(), &path.replace("{id}", ID))
                .json(&json!({}));
            let refused = request.send().await.forbidden("scope");
            assert_eq!(refused.body["error"]["details"]["required"], lacking, "{refused}");
            let message = refused.body["error"]["message"].as_str().unwrap();
            assert!(message.contains(lacking), "{refused}");
        }
    }
}

async fn each_route_takes_a_key_that_has_only_its_scope(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    for only in [
        "alerts:read",
        "alerts:write",
        "watchlist:read",
        "stocks:read",
        "market:write",
    ] {
        let client = world.me_with(only).await;
        for (method, path, scope) in ROUTES {
            if *scope != only {
                continue;
            }
            let request = client.request(method.clone(), &path.replace("{id}", &id));
            let answer = match *method {
                Method::GET => request.send().await,
                _ => request.json(&body).send().await,
            };
            assert!(answer.status < 300, "{answer}");
        }
    }
}

async fn only_operators_feed_the_market(setup: Setup) {
    let world = setup.world().await;
    let body = json!({"quotes": []});
    let account = world.account("premium").await;
    let _ = account.post("/market/ingest", &body).await.refused(403, "FORBIDDEN");
    // A key with the scope does not make an operator, if it can be had at all.
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
    let output = world.setup.run(&arguments).await;
    if output.status.success() {
        let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let client = world.me.with_key(made["api_key"].as_str().unwrap());
        let _ = client.post("/market/ingest", &body).await.refused(403, "FORBIDDEN");
    }
}
