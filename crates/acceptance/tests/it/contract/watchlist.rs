//! The watchlist: items, paper trades, performance and analyses.

use acceptance::clock::wait_for;
use acceptance::market::{bars, flat};
use acceptance::{CheckedResponse, ServiceSetup, TestEnvironment, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases![
    item_can_be_created_changed_and_deleted,
    swap_deletes_analyst_alerts_and_reverses_the_trade,
    analyst_creates_alerts_for_a_new_item,
    item_of_another_account_is_404,
    performance_has_its_fields_with_and_without_trades,
];

async fn patch(env: &TestEnvironment, path: &str, body: &Value) -> CheckedResponse {
    env.operator.request(Method::PATCH, path).json(body).send().await
}

/// Adds a stock with enough history for an analysis.
async fn add_stock_with_history(env: &TestEnvironment) {
    let _ = env
        .operator
        .post(
            "/market/ingest",
            &json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}]}),
        )
        .await;
    let days: Vec<_> = (0..260_u32)
        .map(|day| flat(100.0 + 6.0 * (f64::from(day) / 7.0).sin() + 3.0 * (f64::from(day) / 2.3).cos()))
        .collect();
    env.ingest(json!({"bars": bars("AAPL", &days)})).await;
    env.quote("AAPL", 100.0).await;
}

/// Waits for the background analysis of the first item, and returns the item.
async fn wait_for_analysis(env: &TestEnvironment) -> Value {
    wait_for("the analysis", || async {
        let list = env.operator.get("/watchlist").await.expect_ok(200);
        let item = list.items()[0].clone();
        (!item["analysis"].is_null()).then_some(item)
    })
    .await
}

async fn item_can_be_created_changed_and_deleted(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 200.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy", "target_price": 180, "notes": "wait"});
    let item = env.operator.post("/watchlist", &body).await.expect_ok(201);
    let shown = [
        "stock_symbol",
        "intention",
        "target_price",
        "initial_price",
        "notes",
        "is_active",
    ];
    let shown: Vec<_> = shown.iter().map(|field| item.data()[field].clone()).collect();
    assert_eq!(json!(shown), json!(["AAPL", "buy", 180, 200, "wait", true]));
    assert_eq!(item.data()["stocks"]["last_price"], 200);
    let again = json!({"stock_symbol": "AAPL", "intention": "sell"});
    let _ = env
        .operator
        .post("/watchlist", &again)
        .await
        .expect_error(409, "CONFLICT");
    let path = format!("/watchlist/{}", item.id());
    let changed = patch(&env, &path, &json!({"notes": null, "is_active": false}))
        .await
        .expect_ok(200);
    assert_eq!(
        (&changed.data()["notes"], &changed.data()["is_active"]),
        (&Value::Null, &json!(false))
    );
    let deleted = env.operator.delete(&path).await.expect_ok(200);
    assert_eq!(deleted.data(), &json!({"deleted": true}));
    let _ = env.operator.delete(&path).await.expect_error(404, "NOT_FOUND");
    assert!(env.operator.get("/watchlist").await.expect_ok(200).items().is_empty());
    let trades = env.operator.get("/watchlist/paper-trades").await.expect_ok(200);
    let trade = &trades.items()[0];
    assert_eq!(
        (&trade["status"], &trade["direction"], &trade["quantity"]),
        (&json!("closed"), &json!("long"), &json!(5))
    );
}

async fn analyst_creates_alerts_for_a_new_item(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    add_stock_with_history(&env).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = env.operator.post("/watchlist", &body).await.expect_ok(201);
    let item = wait_for_analysis(&env).await;
    assert_eq!(item["analysis"]["by"], "rules");
    let alerts = env.operator.get("/alerts?search=AAPL").await.expect_ok(200);
    let count = alerts.items().len();
    assert!((2..=5).contains(&count), "{alerts}");
    assert_eq!(item["active_alert_count"], count);
    for alert in alerts.items() {
        assert_eq!(alert["parameters"]["source"], "ai");
        assert_eq!(alert["parameters"]["watchlist_item_id"], item["id"]);
        assert!(alert["parameters"]["rationale"].is_string());
    }
}

async fn swap_deletes_analyst_alerts_and_reverses_the_trade(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    add_stock_with_history(&env).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = env.operator.post("/watchlist", &body).await.expect_ok(201);
    let item = wait_for_analysis(&env).await;
    env.quote("AAPL", 101.0).await;
    let active = env.operator.get("/watchlist").await.expect_ok(200).items()[0]["active_alert_count"].clone();
    let swap = json!({"item_id": item["id"], "new_intention": "sell", "stock_symbol": "AAPL"});
    let swapped = env.operator.put("/watchlist/order", &swap).await.expect_ok(200);
    assert!(
        swapped.data()["deleted_alerts"].as_u64() >= active.as_u64(),
        "{swapped}"
    );
    assert_eq!(swapped.data()["item"]["intention"], "sell");
    assert_eq!(swapped.data()["item"]["initial_price"], 101);
    let trades = env.operator.get("/watchlist/paper-trades").await.expect_ok(200);
    let directions: Vec<_> = trades
        .items()
        .iter()
        .map(|trade| (trade["direction"].clone(), trade["status"].clone()))
        .collect();
    assert_eq!(json!(directions), json!([["short", "open"], ["long", "closed"]]));
}

async fn item_of_another_account_is_404(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 200.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let id = env.operator.post("/watchlist", &body).await.expect_ok(201).id();
    let other = env.account("premium").await;
    let _ = other
        .delete(&format!("/watchlist/{id}"))
        .await
        .expect_error(404, "NOT_FOUND");
    let swap = json!({"item_id": id, "new_intention": "sell", "stock_symbol": "AAPL"});
    let _ = other
        .put("/watchlist/order", &swap)
        .await
        .expect_error(404, "NOT_FOUND");
    assert!(other.get("/watchlist").await.expect_ok(200).items().is_empty());
    assert!(
        other
            .get("/watchlist/paper-trades")
            .await
            .expect_ok(200)
            .items()
            .is_empty()
    );
}

async fn performance_has_its_fields_with_and_without_trades(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 200.0).await;
    for range in ["", "?range=3m", "?range=6m", "?range=1y", "?range=max"] {
        let empty = env
            .operator
            .get(&format!("/watchlist/performance{range}"))
            .await
            .expect_ok(200);
        assert_eq!(empty.data()["base_date"], Value::Null);
        assert_eq!(empty.data()["series"], json!({"watchlist": [], "sp_500": []}));
        assert_eq!(empty.data()["summary"]["alpha_pct"], 0);
    }
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = env.operator.post("/watchlist", &body).await.expect_ok(201);
    let _ = env.operator.get("/watchlist/performance").await.expect_ok(200);
    let _ = env
        .operator
        .get("/watchlist/performance?range=5d")
        .await
        .expect_error(422, "VALIDATION_ERROR");
}
