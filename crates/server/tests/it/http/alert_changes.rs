//! Alert updates over HTTP, and the alert page behind email links.

use alerts::Plan;
use serde_json::json;

use crate::http::identity::{ANN, on_each_database, start_server};
use crate::http::test_server::{TestServer, above};

on_each_database! {
    new_condition_requires_its_own_threshold
    unchanged_update_writes_no_history
    update_to_a_duplicate_is_409
    email_link_shows_the_alert_only_to_its_owner
}

async fn put(server: &TestServer, id: &str, body: serde_json::Value) -> crate::http::test_server::TestResponse {
    server
        .request("PUT", &format!("/v1/alerts/{id}"))
        .json(&body)
        .send()
        .await
}

async fn new_condition_requires_its_own_threshold(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let made = server
        .post(
            "/v1/alerts",
            json!({"symbol": "AAPL", "condition": "price_above", "threshold": 199.5}),
        )
        .await
        .ok(201);
    let id = made.body["data"]["id"].as_str().unwrap();
    let refused = put(&server, id, json!({"condition": "price_change_down"}))
        .await
        .refused(422, "VALIDATION_ERROR");
    let faults = &refused.body["error"]["details"]["fields"]["threshold"];
    assert!(
        faults[0]
            .as_str()
            .unwrap()
            .starts_with("is required for price_change_down"),
        "{refused:?}"
    );
    let changed = put(
        &server,
        id,
        json!({"condition": "price_change_down", "threshold": 99.5}),
    )
    .await
    .ok(200);
    assert_eq!(changed.body["data"]["condition"], "price_change_down");
}

async fn unchanged_update_writes_no_history(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    let before = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    let after = put(&server, &id, json!({})).await.ok(200);
    assert_eq!(after.body["data"], before.body["data"]);
    let history = server.get(&format!("/v1/alerts/{id}/history")).await.ok(200);
    assert_eq!(history.body["data"].as_array().unwrap().len(), 1);
}

async fn update_to_a_duplicate_is_409(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let (id, other) = (server.create_alert(125).await, server.create_alert(130).await);
    let refused = put(&server, &id, above(130)).await.refused(409, "CONFLICT");
    assert!(refused.text.contains(&other), "{refused:?}");
    put(&server, &id, above(131)).await.ok(200);
}

async fn email_link_shows_the_alert_only_to_its_owner(server: TestServer) {
    let key = server
        .account(
            ANN,
            Plan::Premium,
            false,
            &[foundation::Scope::AlertsRead, foundation::Scope::AlertsWrite],
        )
        .await;
    let cookie = server.signed_in(ANN).await.cookie;
    server.set_price("AAPL", 100.0).await;
    let others = server.create_alert(125).await;
    let made = server
        .anonymous("POST", "/v1/alerts")
        .header("x-api-key", &key)
        .json(&above(126))
        .send()
        .await
        .ok(201);
    let page = format!("/alerts/{}", made.body["data"]["id"].as_str().unwrap());
    let open = async |page: &str, cookie: &str| server.anonymous("GET", page).header("cookie", cookie).send().await;
    let shown = open(&page, &cookie).await;
    assert_eq!(shown.status, 200, "{shown:?}");
    assert!(shown.text.contains("fires at or above 126.00"), "{}", shown.text);
    assert_eq!(shown.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(shown.header("cache-control"), "no-store");
    let unknown = server.anonymous("GET", &page).send().await;
    assert_eq!(unknown.status, 303, "{unknown:?}");
    let back = format!("/sign-in?next={}", page.replace('/', "%2F"));
    assert_eq!(unknown.header("location"), back);
    for page in [format!("/alerts/{others}"), "/alerts/none".to_owned()] {
        let missing = open(&page, &cookie).await;
        assert_eq!(missing.status, 404, "{missing:?}");
        assert!(!missing.text.contains("125.00"), "{}", missing.text);
    }
}
