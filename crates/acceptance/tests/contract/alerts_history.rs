//! `GET /alerts/{id}/history`

use acceptance::{Setup, World, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    a_life_is_told_newest_first,
    a_firing_tells_its_price,
    history_comes_in_pages_of_fifty_and_at_most_two_hundred,
    a_wrong_page_is_refused,
    noting_down_history_by_hand_takes_a_session,
];

async fn made(world: &World) -> String {
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    world.me.post("/alerts", &body).await.ok(201).id()
}

async fn a_life_is_told_newest_first(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    let path = format!("/alerts/{id}");
    let _ = world.me.post_empty(&format!("{path}/pause")).await.ok(200);
    let _ = world.me.put(&path, &json!({"threshold": 120})).await.ok(200);
    let _ = world.me.post_empty(&format!("{path}/activate")).await.ok(200);
    world.quote("AAPL", 120.0).await;
    let _ = world.me.post_empty(&format!("{path}/activate")).await.ok(200);
    let _ = world.me.delete(&path).await.ok(200);
    let history = world.me.get(&format!("{path}/history")).await.ok(200);
    // What became of the mail about it comes whenever it does.
    let is_own = |entry: &&Value| entry["action_type"] != "notification_sent";
    let told: Vec<_> = history
        .items()
        .iter()
        .filter(is_own)
        .map(|entry| (&entry["action_type"], &entry["previous_status"], &entry["new_status"]))
        .collect();
    let expected = json!([
        ["deleted", "active", "deleted"],
        ["reactivated", "triggered", "active"],
        ["triggered", "active", "triggered"],
        ["reactivated", "paused", "active"],
        ["updated", "paused", "paused"],
        ["paused", "active", "paused"],
        ["created", null, "active"],
    ]);
    assert_eq!(json!(told), expected);
    for entry in history.items() {
        assert_eq!((&entry["alert_id"], &entry["symbol"]), (&json!(id), &json!("AAPL")));
        assert!(entry["action_timestamp"].is_string(), "{entry}");
        let has_price = entry["action_type"] == "triggered";
        assert_eq!(entry["trigger_price"].is_number(), has_price, "{entry}");
    }
}

async fn a_firing_tells_its_price(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    world.quote("AAPL", 111.25).await;
    let firings = world.firings_of(&id).await;
    assert_eq!(firings.len(), 1);
    assert_eq!(firings[0]["trigger_price"], 111.25);
}

async fn history_comes_in_pages_of_fifty_and_at_most_two_hundred(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    for threshold in 0..60 {
        let _ = world
            .me
            .put(&format!("/alerts/{id}"), &json!({"threshold": 200 + threshold}))
            .await
            .ok(200);
    }
    let page = async |query: &str| {
        let answer = world.me.get(&format!("/alerts/{id}/history{query}")).await.ok(200);
        (answer.items().len(), answer.body["meta"]["pagination"].clone())
    };
    let shape =
        |page: i32, limit: i32, pages: i32| json!({"page": page, "limit": limit, "total": 61, "total_pages": pages});
    assert_eq!(page("").await, (50, shape(1, 50, 2)));
    assert_eq!(page("?page=2").await, (11, shape(2, 50, 2)));
    assert_eq!(page("?page=9").await, (0, shape(9, 50, 2)));
    assert_eq!(page("?limit=1000").await, (61, shape(1, 200, 1)));
    assert_eq!(page("?limit=60&page=2").await, (1, shape(2, 60, 2)));
}

async fn a_wrong_page_is_refused(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    for (query, field) in [
        ("page=0", "page"),
        ("page=x", "page"),
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
    ] {
        let _ = world
            .me
            .get(&format!("/alerts/{id}/history?{query}"))
            .await
            .wrong_field(field);
    }
}

async fn noting_down_history_by_hand_takes_a_session(setup: Setup) {
    let world = setup.world().await;
    let id = made(&world).await;
    let body = json!({"alert_id": id, "symbol": "AAPL", "action_type": "paused", "previous_status": "active",
        "new_status": "paused", "alert_data": {}, "trigger_price": Value::Null, "notification_status": Value::Null});
    let _ = world
        .me
        .post("/alerts/history", &body)
        .await
        .forbidden("session_required");
}
