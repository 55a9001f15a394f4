//! The settings: forms with errors at their fields, secrets that are shown once, and what belongs to other accounts.

use serde_json::json;

use super::Browser;
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

const HOSTILE: &str = "\"><script>alert(1)</script>";

on_each_database! {
    profile_is_changed_and_a_refused_one_is_shown_again
    key_is_shown_once_and_deleted
    webhook_is_created_rotated_disabled_and_deleted
    agents_wait_for_approval_when_the_owner_wants_it
    sessions_are_listed_with_their_clients_and_ended
}

async fn profile_is_changed_and_a_refused_one_is_shown_again(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let form = [
        ("full_name", HOSTILE),
        ("time_zone", "Europe/Berlin"),
        ("quiet_hours", "22:00"),
        ("quiet_until", "07:00"),
        ("notify_blind", "on"),
    ];
    let page = browser.follow(&browser.post("/settings", &form).await).await.is(200);
    assert!(page.text.contains("Your settings are saved."), "{}", page.text);
    assert!(page.text.contains("value=\"Europe/Berlin\""), "{}", page.text);
    assert!(page.text.contains("value=\"22:00\"") && page.text.contains("value=\"07:00\""));
    assert!(!page.text.contains("<script>alert"), "{}", page.text);

    let refused = [
        ("full_name", "Ann"),
        ("time_zone", "Mars/Olympus"),
        ("quiet_hours", ""),
        ("quiet_until", ""),
    ];
    let page = browser.post("/settings", &refused).await.is(422);
    assert!(page.text.contains("id=\"time_zone-error\""), "{}", page.text);
    assert!(
        page.text.contains("aria-describedby=\"time_zone-error\""),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("value=\"Mars/Olympus\"") && page.text.contains("value=\"Ann\""),
        "{}",
        page.text
    );
    let kept = browser.get("/settings").await.is(200);
    assert!(kept.text.contains("value=\"Europe/Berlin\""), "{}", kept.text);
}

async fn key_is_shown_once_and_deleted(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let form = [("action", "create"), ("name", HOSTILE), ("scope", "alerts:read")];
    let page = browser.post("/settings/keys", &form).await.is(200);
    let secret = page
        .text
        .split("class=\"secret\">")
        .nth(1)
        .unwrap()
        .split('<')
        .next()
        .unwrap();
    assert!(secret.starts_with("sk_"), "{secret}");
    assert!(!page.text.contains("<script>alert"), "{}", page.text);
    let request = server.anonymous("GET", "/v1/alerts").header("x-api-key", secret);
    let _ = request.send().await.ok(200);

    let list = browser.get("/settings/keys").await.is(200);
    assert!(
        !list.text.contains(secret) && list.text.contains("alerts:read"),
        "{}",
        list.text
    );
    let keys = server
        .anonymous("GET", "/v1/api-keys")
        .header("cookie", browser.cookie())
        .send()
        .await
        .ok(200);
    let created = keys.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["name"] == HOSTILE)
        .unwrap();
    let id = created["id"].as_str().unwrap();
    let deleted = browser
        .post("/settings/keys", &[("action", "delete"), ("id", id)])
        .await;
    let page = browser.follow(&deleted).await.is(200);
    assert!(page.text.contains("The key is deleted."), "{}", page.text);
    let request = server.anonymous("GET", "/v1/alerts").header("x-api-key", secret);
    let _ = request.send().await.refused(401, "UNAUTHORIZED");

    let nameless = browser
        .post("/settings/keys", &[("action", "create"), ("name", "")])
        .await
        .is(422);
    assert!(nameless.text.contains("id=\"name-error\""), "{}", nameless.text);
}

async fn webhook_is_created_rotated_disabled_and_deleted(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let refused = [("action", "create"), ("url", "http://127.0.0.1/hook")];
    let page = browser.post("/settings/webhooks", &refused).await.is(422);
    assert!(
        page.text.contains("id=\"url-error\"") && page.text.contains("http://127.0.0.1/hook"),
        "{}",
        page.text
    );

    let form = [("action", "create"), ("url", "https://receiver.example/hook")];
    let page = browser.post("/settings/webhooks", &form).await.is(200);
    assert!(
        page.text.contains("whsec_") && page.text.contains("https://receiver.example/hook"),
        "{}",
        page.text
    );
    let list = browser.get("/settings/webhooks").await.is(200);
    assert!(!list.text.contains("whsec_"), "{}", list.text);
    let webhooks = server.get("/v1/webhooks").await.ok(200);
    let id = webhooks.body["data"][0]["id"].as_str().unwrap().to_owned();

    let rotated = browser
        .post("/settings/webhooks", &[("action", "rotate"), ("id", &id)])
        .await
        .is(200);
    assert!(
        rotated.text.contains("whsec_") && rotated.text.contains("also signs until"),
        "{}",
        rotated.text
    );
    let disabled = browser
        .post("/settings/webhooks", &[("action", "disable"), ("id", &id)])
        .await;
    assert!(browser.follow(&disabled).await.text.contains("The webhook is changed."));
    let webhook = server.get(&format!("/v1/webhooks/{id}")).await.ok(200);
    assert_eq!(webhook.body["data"]["is_active"], false);
    let deleted = browser
        .post("/settings/webhooks", &[("action", "delete"), ("id", &id)])
        .await;
    assert!(browser.follow(&deleted).await.text.contains("The webhook is deleted."));
    let gone = server.get(&format!("/v1/webhooks/{id}")).await;
    assert_eq!(gone.status, 404);
}

async fn agents_wait_for_approval_when_the_owner_wants_it(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let saved = browser
        .post("/settings/agents", &[("action", "approval"), ("wait", "on")])
        .await;
    let page = browser.follow(&saved).await.is(200);
    assert!(
        page.text.contains("name=\"wait\" value=\"on\" checked"),
        "{}",
        page.text
    );
    let saved = browser.post("/settings/agents", &[("action", "approval")]).await;
    let page = browser.follow(&saved).await.is(200);
    assert!(
        !page.text.contains("name=\"wait\" value=\"on\" checked"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn refused_password_is_not_shown_again() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let form = [
        ("action", "password"),
        ("current_password", "wrong but secret"),
        ("new_password", "short"),
    ];
    let page = browser.post("/settings/account", &form).await.is(422);
    assert!(page.text.contains("id=\"new_password-error\""), "{}", page.text);
    assert!(
        !page.text.contains("wrong but secret") && !page.text.contains("value=\"short\""),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn account_is_deleted_only_with_the_word() {
    let server = TestServer::new().await;
    let ann = Browser::of_another_account(&server).await;
    let page = ann
        .post("/settings/account", &[("action", "delete"), ("confirmation", "delete")])
        .await
        .is(422);
    assert!(page.text.contains("id=\"confirmation-error\""), "{}", page.text);
    let _ = ann.get("/settings/account").await.is(200);
    let deleted = ann
        .post("/settings/account", &[("action", "delete"), ("confirmation", "DELETE")])
        .await
        .is(303);
    assert_eq!(deleted.header("location"), "/sign-in");
    let _ = ann.get("/settings/account").await.is(303);
}

#[tokio::test]
async fn things_of_another_account_are_not_changed() {
    let server = TestServer::new().await;
    let operator = Browser::operator(&server).await;
    let _ = server
        .post(
            "/v1/webhooks",
            json!({"url": "https://receiver.example/hook", "events": ["alert.triggered"]}),
        )
        .await
        .ok(201);
    let webhooks = server.get("/v1/webhooks").await.ok(200);
    let id = webhooks.body["data"][0]["id"].as_str().unwrap().to_owned();
    let ann = Browser::of_another_account(&server).await;
    for action in ["test", "rotate", "disable", "delete"] {
        let refused = ann.post("/settings/webhooks", &[("action", action), ("id", &id)]).await;
        let page = ann.follow(&refused).await.is(200);
        assert!(
            page.text.contains("role=\"alert\"") && !page.text.contains("receiver.example"),
            "{action}: {}",
            page.text
        );
    }
    let page = operator.get("/settings/webhooks").await.is(200);
    assert!(page.text.contains("receiver.example"), "{}", page.text);
}

async fn sessions_are_listed_with_their_clients_and_ended(server: TestServer) {
    const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let browser = Browser::operator(&server).await;
    let [second, third] = [Browser::operator(&server).await, Browser::operator(&server).await];
    let _ = second
        .request("GET", "/")
        .header("user-agent", FIREFOX)
        .send()
        .await
        .is(200);
    let listed = async {
        loop {
            let page = browser.get("/settings/sessions").await.is(200);
            // The use is recorded in the background.
            if page.text.contains("Firefox on Linux") {
                return page;
            }
            tokio::task::yield_now().await;
        }
    };
    let page = tokio::time::timeout(testkit::HANG_LIMIT, listed).await.unwrap();
    assert_eq!(page.text.matches("<tr id=\"session-").count(), 3, "{}", page.text);
    assert_eq!(page.text.matches("this browser").count(), 1, "{}", page.text);
    let (_, row) = page.text.split_once("Firefox on Linux").unwrap();
    let (_, id) = row.split_once("name=\"id\" value=\"").unwrap();
    let form = [("action", "end"), ("id", id.split('"').next().unwrap())];
    let page = browser.follow(&browser.post("/settings/sessions", &form).await).await;
    assert!(page.text.contains("The session is signed out."), "{}", page.text);
    let _ = second.get("/").await.is(303);
    let again = browser.follow(&browser.post("/settings/sessions", &form).await).await;
    assert!(again.text.contains("There is no such session"), "{}", again.text);

    let others = [("action", "end-others")];
    let page = browser.follow(&browser.post("/settings/sessions", &others).await).await;
    assert!(page.text.contains("1 other session is signed out."), "{}", page.text);
    let _ = third.get("/").await.is(303);
    let _ = browser.get("/").await.is(200);
    assert!(!page.text.contains("Sign out everywhere else"), "{}", page.text);
}

#[tokio::test]
async fn session_of_another_account_is_not_ended() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let other = Browser::operator(&server).await;
    let page = browser.get("/settings/sessions").await.is(200);
    let id = super::hidden(&page, "id");
    let ann = Browser::of_another_account(&server).await;
    let form = [("action", "end"), ("id", id.as_str())];
    let page = ann.follow(&ann.post("/settings/sessions", &form).await).await;
    assert!(page.text.contains("There is no such session"), "{}", page.text);
    let _ = other.get("/").await.is(200);
}
