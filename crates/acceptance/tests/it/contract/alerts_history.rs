//! `GET /alerts/{id}/history`

use acceptance::{ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    history_lists_all_changes_newest_first,
    triggered_entry_has_the_trigger_price,
    page_size_is_50_by_default_and_200_at_most,
    invalid_page_is_422,
    adding_history_entries_requires_a_session,
];

async fn create_alert(env: &TestEnvironment) -> String {
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 110});
    env.operator.post("/alerts", &body).await.expect_ok(201).id()
}

async fn history_lists_all_changes_newest_first(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    let path = format!("/alerts/{id}");
    let _ = env.operator.post_empty(&format!("{path}/pause")).await.expect_ok(200);
    let _ = env.operator.put(&path, &json!({"threshold": 120})).await.expect_ok(200);
    let _ = env
        .operator
        .post_empty(&format!("{path}/activate"))
        .await
        .expect_ok(200);
    env.quote("AAPL", 120.0).await;
    let _ = env
        .operator
        .post_empty(&format!("{path}/activate"))
        .await
        .expect_ok(200);
    let _ = env.operator.delete(&path).await.expect_ok(200);
    let history = env.operator.get(&format!("{path}/history")).await.expect_ok(200);
    // Notification entries arrive at any time.
    let is_not_notification = |entry: &&Value| entry["action_type"] != "notification_sent";
    let actions: Vec<_> = history
        .items()
        .iter()
        .filter(is_not_notification)
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
    assert_eq!(json!(actions), expected);
    for entry in history.items() {
        assert_eq!((&entry["alert_id"], &entry["symbol"]), (&json!(id), &json!("AAPL")));
        assert!(entry["action_timestamp"].is_string(), "{entry}");
        let has_price = entry["action_type"] == "triggered";
        assert_eq!(entry["trigger_price"].is_number(), has_price, "{entry}");
    }
}

async fn triggered_entry_has_the_trigger_price(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    env.quote("AAPL", 111.25).await;
    let firings = env.firings_of(&id).await;
    assert_eq!(firings.len(), 1);
    assert_eq!(firings[0]["trigger_price"], 111.25);
}

async fn page_size_is_50_by_default_and_200_at_most(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    for threshold in 0..60 {
        let _ = env
            .operator
            .put(&format!("/alerts/{id}"), &json!({"threshold": 200 + threshold}))
            .await
            .expect_ok(200);
    }
    let page = async |query: &str| {
        let response = env
            .operator
            .get(&format!("/alerts/{id}/history{query}"))
            .await
            .expect_ok(200);
        (response.items().len(), response.body["meta"]["pagination"].clone())
    };
    let pagination =
        |page: i32, limit: i32, pages: i32| json!({"page": page, "limit": limit, "total": 61, "total_pages": pages});
    assert_eq!(page("").await, (50, pagination(1, 50, 2)));
    assert_eq!(page("?page=2").await, (11, pagination(2, 50, 2)));
    assert_eq!(page("?page=9").await, (0, pagination(9, 50, 2)));
    assert_eq!(page("?limit=1000").await, (61, pagination(1, 200, 1)));
    assert_eq!(page("?limit=60&page=2").await, (1, pagination(2, 60, 2)));
}

async fn invalid_page_is_422(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    for (query, field) in [
        ("page=0", "page"),
        ("page=x", "page"),
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
    ] {
        let _ = env
            .operator
            .get(&format!("/alerts/{id}/history?{query}"))
            .await
            .expect_field_error(field);
    }
}

async fn adding_history_entries_requires_a_session(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let id = create_alert(&env).await;
    let body = json!({"alert_id": id, "symbol": "AAPL", "action_type": "paused", "previous_status": "active",
        "new_status": "paused", "alert_data": {}, "trigger_price": Value::Null, "notification_status": Value::Null});
    let _ = env
        .operator
        .post("/alerts/history", &body)
        .await
        .expect_forbidden("session_required");
}
