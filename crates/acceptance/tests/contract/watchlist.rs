//! The watchlist: items, paper trades, performance, and what the analyst makes of them.

use acceptance::clock::wait_for;
use acceptance::market::{bars, flat};
use acceptance::{Answer, Setup, World, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases![
    an_item_lives_from_its_addition_to_its_deletion,
    a_swap_deletes_the_analysts_alerts_and_turns_the_trade,
    the_analyst_makes_alerts_for_an_item_by_itself,
    an_item_of_another_account_is_not_found,
    performance_has_its_fields_with_and_without_trades,
];

async fn patch(world: &World, path: &str, body: &Value) -> Answer {
    world.me.request(Method::PATCH, path).json(body).send().await
}

/// A stock with enough history for the analyst.
async fn known_stock(world: &World) {
    let _ = world
        .me
        .post(
            "/market/ingest",
            &json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}]}),
        )
        .await;
    let days: Vec<_> = (0..260_u32)
        .map(|day| flat(100.0 + 6.0 * (f64::from(day) / 7.0).sin() + 3.0 * (f64::from(day) / 2.3).cos()))
        .collect();
    world.ingest(json!({"bars": bars("AAPL", &days)})).await;
    world.quote("AAPL", 100.0).await;
}

/// The item, once the analyst has looked at it, which it does in the background.
async fn analysed(world: &World) -> Value {
    wait_for("the analyst's look", || async {
        let list = world.me.get("/watchlist").await.ok(200);
        let item = list.items()[0].clone();
        (!item["analysis"].is_null()).then_some(item)
    })
    .await
}

async fn an_item_lives_from_its_addition_to_its_deletion(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 200.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy", "target_price": 180, "notes": "wait"});
    let item = world.me.post("/watchlist", &body).await.ok(201);
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
    let _ = world.me.post("/watchlist", &again).await.refused(409, "CONFLICT");
    let path = format!("/watchlist/{}", item.id());
    let changed = patch(&world, &path, &json!({"notes": null, "is_active": false}))
        .await
        .ok(200);
    assert_eq!(
        (&changed.data()["notes"], &changed.data()["is_active"]),
        (&Value::Null, &json!(false))
    );
    let deleted = world.me.delete(&path).await.ok(200);
    assert_eq!(deleted.data(), &json!({"deleted": true}));
    let _ = world.me.delete(&path).await.refused(404, "NOT_FOUND");
    assert!(world.me.get("/watchlist").await.ok(200).items().is_empty());
    let trades = world.me.get("/watchlist/paper-trades").await.ok(200);
    let trade = &trades.items()[0];
    assert_eq!(
        (&trade["status"], &trade["direction"], &trade["quantity"]),
        (&json!("closed"), &json!("long"), &json!(5))
    );
}

async fn the_analyst_makes_alerts_for_an_item_by_itself(setup: Setup) {
    let world = setup.world().await;
    known_stock(&world).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = world.me.post("/watchlist", &body).await.ok(201);
    let item = analysed(&world).await;
    assert_eq!(item["analysis"]["by"], "rules");
    let alerts = world.me.get("/alerts?search=AAPL").await.ok(200);
    let count = alerts.items().len();
    assert!((2..=5).contains(&count), "{alerts}");
    assert_eq!(item["active_alert_count"], count);
    for alert in alerts.items() {
        assert_eq!(alert["parameters"]["source"], "ai");
        assert_eq!(alert["parameters"]["watchlist_item_id"], item["id"]);
        assert!(alert["parameters"]["rationale"].is_string());
    }
}

async fn a_swap_deletes_the_analysts_alerts_and_turns_the_trade(setup: Setup) {
    let world = setup.world().await;
    known_stock(&world).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = world.me.post("/watchlist", &body).await.ok(201);
    let item = analysed(&world).await;
    world.quote("AAPL", 101.0).await;
    let active = world.me.get("/watchlist").await.ok(200).items()[0]["active_alert_count"].clone();
    let swap = json!({"item_id": item["id"], "new_intention": "sell", "stock_symbol": "AAPL"});
    let swapped = world.me.put("/watchlist/order", &swap).await.ok(200);
    assert!(
        swapped.data()["deleted_alerts"].as_u64() >= active.as_u64(),
        "{swapped}"
    );
    assert_eq!(swapped.data()["item"]["intention"], "sell");
    assert_eq!(swapped.data()["item"]["initial_price"], 101);
    let trades = world.me.get("/watchlist/paper-trades").await.ok(200);
    let directions: Vec<_> = trades
        .items()
        .iter()
        .map(|trade| (trade["direction"].clone(), trade["status"].clone()))
        .collect();
    assert_eq!(json!(directions), json!([["short", "open"], ["long", "closed"]]));
}

async fn an_item_of_another_account_is_not_found(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 200.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let id = world.me.post("/watchlist", &body).await.ok(201).id();
    let other = world.account("premium").await;
    let _ = other
        .delete(&format!("/watchlist/{id}"))
        .await
        .refused(404, "NOT_FOUND");
    let swap = json!({"item_id": id, "new_intention": "sell", "stock_symbol": "AAPL"});
    let _ = other.put("/watchlist/order", &swap).await.refused(404, "NOT_FOUND");
    assert!(other.get("/watchlist").await.ok(200).items().is_empty());
    assert!(other.get("/watchlist/paper-trades").await.ok(200).items().is_empty());
}

async fn performance_has_its_fields_with_and_without_trades(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 200.0).await;
    for range in ["", "?range=3m", "?range=6m", "?range=1y", "?range=max"] {
        let empty = world.me.get(&format!("/watchlist/performance{range}")).await.ok(200);
        assert_eq!(empty.data()["base_date"], Value::Null);
        assert_eq!(empty.data()["series"], json!({"watchlist": [], "sp_500": []}));
        assert_eq!(empty.data()["summary"]["alpha_pct"], 0);
    }
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let _ = world.me.post("/watchlist", &body).await.ok(201);
    let _ = world.me.get("/watchlist/performance").await.ok(200);
    let _ = world
        .me
        .get("/watchlist/performance?range=5d")
        .await
        .refused(422, "VALIDATION_ERROR");
}
