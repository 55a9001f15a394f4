//! The page where users approve changes of agents.

use serde_json::json;

use super::call_of;
use crate::http::test_server::{TestResponse, TestServer};

const ORIGIN: &str = "https://alerts.example.com";

/// Returns a server with a pending change, its id, and the owner's cookie.
async fn pending_change() -> (TestServer, String, String) {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let operator = server.signed_in("operator@example.com").await;
    let token = format!("Bearer {}", operator.access);
    let wait = server
        .anonymous("POST", "/v1/approvals")
        .header("authorization", &token);
    let _ = wait.json(&json!({"required": true})).send().await.ok(200);
    let alert = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let response = server.rpc(&call_of("create_alert", alert)).await.is(200);
    let id = response.body["result"]["structuredContent"]["approval"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    (server, operator.cookie, id)
}

async fn submit(server: &TestServer, cookie: &str, origin: &str, fields: &str) -> TestResponse {
    let request = server
        .anonymous("POST", "/approvals")
        .header("cookie", cookie)
        .header("origin", origin);
    let form = request.header("content-type", "application/x-www-form-urlencoded");
    form.body(fields.to_owned()).send().await
}

async fn alerts(server: &TestServer) -> usize {
    server.get("/v1/alerts").await.ok(200).body["data"]
        .as_array()
        .unwrap()
        .len()
}

#[tokio::test]
async fn approvals_page_requires_sign_in() {
    let (server, _, _) = pending_change().await;
    let page = server.anonymous("GET", "/approvals").send().await.is(303);
    assert_eq!(page.header("location"), "/sign-in?next=%2Fapprovals");
    let refused = submit(&server, "", ORIGIN, "id=1&decision=approve").await.is(303);
    assert_eq!(refused.header("location"), "/sign-in");
}

/// Follows the redirect of a decision and returns the page with its notice.
async fn page_after(server: &TestServer, cookie: &str, decided: &TestResponse) -> TestResponse {
    assert_eq!(decided.header("location"), "/approvals");
    let notice = decided.header("set-cookie");
    let (notice, _) = notice.split_once(';').unwrap();
    server
        .anonymous("GET", "/approvals")
        .header("cookie", &format!("{cookie}; {notice}"))
        .send()
        .await
        .is(200)
}

#[tokio::test]
async fn owner_approves_a_change_once() {
    let (server, cookie, id) = pending_change().await;
    let page = server
        .anonymous("GET", "/approvals")
        .header("cookie", &cookie)
        .send()
        .await
        .is(200);
    assert!(
        page.text
            .contains("Make an alert: AAPL price at or above 200, notified by email"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("the API key “test”") && page.text.contains(&id),
        "{}",
        page.text
    );
    assert_eq!(alerts(&server).await, 0, "opening it changes nothing");
    let done = submit(&server, &cookie, ORIGIN, &format!("id={id}&decision=approve"))
        .await
        .is(303);
    let done = page_after(&server, &cookie, &done).await;
    assert!(
        done.text.contains("The change was made.") && done.text.contains("No changes are waiting for your approval."),
        "{}",
        done.text
    );
    assert_eq!(alerts(&server).await, 1);
    let again = submit(&server, &cookie, ORIGIN, &format!("id={id}&decision=approve"))
        .await
        .is(303);
    let again = page_after(&server, &cookie, &again).await;
    assert!(again.text.contains("already approved"), "{}", again.text);
}

#[tokio::test]
async fn change_of_a_level_shows_both_levels_and_a_preview() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let operator = server.signed_in("operator@example.com").await;
    let alert = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let created = server.rpc(&call_of("create_alert", alert)).await.is(200);
    let id = &created.body["result"]["structuredContent"]["id"];
    let token = format!("Bearer {}", operator.access);
    let wait = server
        .anonymous("POST", "/v1/approvals")
        .header("authorization", &token);
    let _ = wait.json(&json!({"required": true})).send().await.ok(200);
    let change = json!({"alert_id": id, "threshold": 210});
    let asked = server.rpc(&call_of("update_alert", change)).await.is(200);
    assert_eq!(asked.body["result"]["isError"], false, "{:?}", asked.body);
    let request = server.anonymous("GET", "/approvals").header("cookie", &operator.cookie);
    let page = request.send().await.is(200);
    for shown in [
        "<del>AAPL rises to 200.00 or above</del>",
        "<ins>AAPL rises to 210.00 or above</ins>",
        "&#34;price&#34;:200.0,&#34;is_former&#34;:true",
        "&#34;price&#34;:210.0,&#34;is_former&#34;:false",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
}

#[tokio::test]
async fn denied_change_is_not_made() {
    let (server, cookie, id) = pending_change().await;
    let done = submit(&server, &cookie, ORIGIN, &format!("id={id}&decision=deny"))
        .await
        .is(303);
    let done = page_after(&server, &cookie, &done).await;
    assert!(done.text.contains("The change was denied."), "{}", done.text);
    assert_eq!(alerts(&server).await, 0);
}

#[tokio::test]
async fn form_of_another_site_is_rejected() {
    let (server, cookie, id) = pending_change().await;
    let _ = submit(
        &server,
        &cookie,
        "https://evil.example",
        &format!("id={id}&decision=approve"),
    )
    .await
    .is(403);
    assert_eq!(alerts(&server).await, 0);
}
