//! Changes of alerts over HTTP, and the page that a mail about an alert leads to.

use alerts::Plan;
use serde_json::json;

use crate::signing::{ANN, on_each_database, world};
use crate::world::{World, above};

on_each_database! {
    changed_condition_demands_its_own_threshold
    body_without_a_change_changes_nothing_and_writes_no_history
    change_to_what_another_alert_is_conflicts
    link_in_a_mail_shows_the_alert_to_its_owner_only
}

async fn put(world: &World, id: &str, body: serde_json::Value) -> crate::world::Answer {
    world
        .request("PUT", &format!("/v1/alerts/{id}"))
        .json(&body)
        .send()
        .await
}

async fn changed_condition_demands_its_own_threshold(world: World) {
    world.stock_at("AAPL", 100.0).await;
    let made = world
        .post(
            "/v1/alerts",
            json!({"symbol": "AAPL", "condition": "price_above", "threshold": 199.5}),
        )
        .await
        .ok(201);
    let id = made.body["data"]["id"].as_str().unwrap();
    let refused = put(&world, id, json!({"condition": "price_change_down"}))
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
    let changed = put(&world, id, json!({"condition": "price_change_down", "threshold": 99.5}))
        .await
        .ok(200);
    assert_eq!(changed.body["data"]["condition"], "price_change_down");
}

async fn body_without_a_change_changes_nothing_and_writes_no_history(world: World) {
    world.stock_at("AAPL", 100.0).await;
    let id = world.alert(125).await;
    let before = world.get(&format!("/v1/alerts/{id}")).await.ok(200);
    let after = put(&world, &id, json!({})).await.ok(200);
    assert_eq!(after.body["data"], before.body["data"]);
    let history = world.get(&format!("/v1/alerts/{id}/history")).await.ok(200);
    assert_eq!(history.body["data"].as_array().unwrap().len(), 1);
}

async fn change_to_what_another_alert_is_conflicts(world: World) {
    world.stock_at("AAPL", 100.0).await;
    let (id, other) = (world.alert(125).await, world.alert(130).await);
    let refused = put(&world, &id, above(130)).await.refused(409, "CONFLICT");
    assert!(refused.text.contains(&other), "{refused:?}");
    put(&world, &id, above(131)).await.ok(200);
}

async fn link_in_a_mail_shows_the_alert_to_its_owner_only(world: World) {
    let key = world
        .account(
            ANN,
            Plan::Premium,
            false,
            &[service::Scope::AlertsRead, service::Scope::AlertsWrite],
        )
        .await;
    let cookie = world.signed_in(ANN).await.cookie;
    world.stock_at("AAPL", 100.0).await;
    let others = world.alert(125).await;
    let made = world
        .stranger("POST", "/v1/alerts")
        .header("x-api-key", &key)
        .json(&above(126))
        .send()
        .await
        .ok(201);
    let page = format!("/alerts/{}", made.body["data"]["id"].as_str().unwrap());
    let open = async |page: &str, cookie: &str| world.stranger("GET", page).header("cookie", cookie).send().await;
    let shown = open(&page, &cookie).await;
    assert_eq!(shown.status, 200, "{shown:?}");
    assert!(shown.text.contains("AAPL price_above 126"), "{}", shown.text);
    assert_eq!(shown.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(shown.header("cache-control"), "no-store");
    let unknown = world.stranger("GET", &page).send().await;
    assert_eq!(unknown.status, 200, "{unknown:?}");
    assert!(
        unknown.text.contains("href=\"../sign-in\"") && !unknown.text.contains("AAPL"),
        "{}",
        unknown.text
    );
    let malformed = world.stranger("GET", "/alerts/none").send().await;
    assert_eq!(malformed.status, 400, "{malformed:?}");
    for page in [format!("/alerts/{others}"), "/alerts/none".to_owned()] {
        let missing = open(&page, &cookie).await;
        assert_eq!(missing.status, 400, "{missing:?}");
        assert!(!missing.text.contains("AAPL"), "{}", missing.text);
    }
}
