//! The page on which people approve what agents want.

use serde_json::json;

use super::call_of;
use crate::world::{Answer, World};

const ORIGIN: &str = "https://alerts.example.com";

/// A world in which an agent's alert waits, and the cookie of its owner.
async fn waiting() -> (World, String, String) {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let operator = world.signed_in("operator@example.com").await;
    let token = format!("Bearer {}", operator.access);
    let wait = world.stranger("POST", "/v1/approvals").header("authorization", &token);
    let _ = wait.json(&json!({"required": true})).send().await.ok(200);
    let alert = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let answer = world.rpc(&call_of("create_alert", alert)).await.is(200);
    let id = answer.body["result"]["structuredContent"]["approval"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    (world, operator.cookie, id)
}

async fn press(world: &World, cookie: &str, origin: &str, fields: &str) -> Answer {
    let request = world
        .stranger("POST", "/approvals")
        .header("cookie", cookie)
        .header("origin", origin);
    let form = request.header("content-type", "application/x-www-form-urlencoded");
    form.body(fields.to_owned()).send().await
}

async fn alerts(world: &World) -> usize {
    world.get("/v1/alerts").await.ok(200).body["data"]
        .as_array()
        .unwrap()
        .len()
}

#[tokio::test]
async fn whoever_has_not_signed_in_is_asked_to_and_sees_nothing_else() {
    let (world, _, _) = waiting().await;
    let page = world.stranger("GET", "/approvals").send().await.is(200);
    assert!(
        page.text.contains(r#"name="password""#) && !page.text.contains("AAPL"),
        "{}",
        page.text
    );
    assert_eq!(page.header("x-frame-options"), "DENY");
    let signed_in = press(
        &world,
        "",
        ORIGIN,
        "email=operator%40example.com&password=correct+horse",
    )
    .await
    .is(303);
    assert_eq!(signed_in.header("location"), "approvals");
    let wrong = press(&world, "", ORIGIN, "email=operator%40example.com&password=wrong+horse")
        .await
        .is(401);
    assert!(wrong.text.contains(r#"name="password""#));
}

#[tokio::test]
async fn the_owner_sees_what_waits_and_says_yes_once() {
    let (world, cookie, id) = waiting().await;
    let page = world
        .stranger("GET", "/approvals")
        .header("cookie", &cookie)
        .send()
        .await
        .is(200);
    assert!(
        page.text.contains("Make an alert: AAPL price_above 200, told by email"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("the API key “test”") && page.text.contains(&id),
        "{}",
        page.text
    );
    assert_eq!(alerts(&world).await, 0, "opening it changes nothing");
    let done = press(&world, &cookie, ORIGIN, &format!("id={id}&decision=approve"))
        .await
        .is(200);
    assert!(
        done.text.contains("It is done.") && done.text.contains("Nothing waits for you."),
        "{}",
        done.text
    );
    assert_eq!(alerts(&world).await, 1);
    let again = press(&world, &cookie, ORIGIN, &format!("id={id}&decision=approve"))
        .await
        .is(409);
    assert!(again.text.contains("done already"), "{}", again.text);
}

#[tokio::test]
async fn a_no_is_a_no() {
    let (world, cookie, id) = waiting().await;
    let done = press(&world, &cookie, ORIGIN, &format!("id={id}&decision=deny"))
        .await
        .is(200);
    assert!(done.text.contains("It will not be done."), "{}", done.text);
    assert_eq!(alerts(&world).await, 0);
}

#[tokio::test]
async fn another_sites_form_says_nothing() {
    let (world, cookie, id) = waiting().await;
    let _ = press(
        &world,
        &cookie,
        "https://evil.example",
        &format!("id={id}&decision=approve"),
    )
    .await
    .is(403);
    assert_eq!(alerts(&world).await, 0);
}
