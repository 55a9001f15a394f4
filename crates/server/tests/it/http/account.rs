//! The account and its settings over HTTP.

use alerts::Plan;
use delivery::messages::{MessageChannel, OutboxFilter};
use jiff::SignedDuration;
use serde_json::{Value, json};
use store::model::PageRequest;
use store::{Store, StoreOptions};

use crate::http::test_server::{TestServer, above};
use crate::http::test_user::{PASSWORD, TestUser};

const PHONE: &str = "+14155550123";

/// Returns the latest message to an address or number, after the queue is empty.
async fn last_sent(server: &TestServer, channel: MessageChannel, to: &str) -> String {
    let store = Store::open(StoreOptions::new(server.database.url())).await.unwrap();
    let nothing_waits = async {
        while !store.pending_endpoints(channel, i64::MIN, 1).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let nothing_waits = tokio::time::timeout(testkit::HANG_LIMIT, nothing_waits).await;
    assert!(nothing_waits.is_ok(), "messages are not sent");
    store.close().await;
    let operator = server
        .service
        .authenticator
        .authenticate_key(&server.key)
        .await
        .unwrap();
    let filter = OutboxFilter {
        channel: Some(channel),
        to: Some(to.to_owned()),
    };
    let page = PageRequest { page: 1, limit: 1 };
    let page = server.service.outbox.outbox(&operator, filter, page).await.unwrap();
    page.items
        .into_iter()
        .next()
        .unwrap_or_else(|| panic!("nothing was sent to {to}"))
        .text
}

async fn last_code(server: &TestServer) -> String {
    let text = last_sent(server, MessageChannel::Sms, PHONE).await;
    let mut words = text.split(|c: char| !c.is_ascii_digit());
    words.find(|word| word.len() == 6).unwrap().to_owned()
}

#[tokio::test]
async fn profile_is_read_and_updated() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let shown = ann.get("/v1/user/session").await.ok(200);
    let data = &shown.body["data"];
    assert_eq!(
        (&data["user"]["email"], &data["status"]),
        (&json!("ann@example.com"), &json!("active"))
    );
    assert_eq!((&data["phone"], &data["quiet_hours"]), (&Value::Null, &Value::Null));
    assert!(data["session"]["id"].is_string());
    let name = "Ann\u{202e} \"O'Neil\" <script>";
    let changed = ann
        .send("PATCH", "/v1/user/session", json!({"full_name": name}))
        .await
        .ok(200);
    assert_eq!(changed.body["data"]["user"]["full_name"], name);
    assert_eq!(
        ann.get("/v1/auth/session").await.ok(200).body["data"]["user"]["full_name"],
        name
    );
    for wrong in [
        json!({"full_name": "Ann\r\nBcc: all@example.com"}),
        json!({"full_name": ""}),
        json!({"full_name": "a".repeat(101)}),
        json!({"full_name": "a\u{0}b"}),
    ] {
        let refused = ann
            .send("PATCH", "/v1/user/session", wrong)
            .await
            .refused(422, "VALIDATION_ERROR");
        assert!(refused.body["error"]["details"]["fields"]["full_name"].is_array());
    }
}

#[tokio::test]
async fn preferences_are_updated_and_read() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let path = "/api/v1/user/preferences";
    let before = ann.get(path).await.ok(200);
    assert_eq!(
        before.body["data"],
        json!({"time_zone": "America/New_York", "quiet_hours": null, "away_until": null, "notify_blind": false})
    );
    let night = json!({"time_zone": "Europe/Berlin", "quiet_hours": {"start": "22:00", "end": "07:05"}, "away_until": "2030-08-15T08:00:00.000Z", "notify_blind": true});
    assert_eq!(ann.send("PUT", path, night.clone()).await.ok(200).body["data"], night);
    assert_eq!(ann.get(path).await.ok(200).body["data"], night);
    let wrong = json!({"quiet_hours": {"start": "22:00", "end": "22:00"}});
    let _ = ann.send("PUT", path, wrong).await.refused(422, "VALIDATION_ERROR");
    let ended = ann.send("PUT", path, json!({"quiet_hours": null})).await.ok(200);
    assert_eq!(ended.body["data"]["quiet_hours"], Value::Null);
    assert_eq!(ended.body["data"]["notify_blind"], true);
}

#[tokio::test]
async fn email_change_is_confirmed_by_link() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let body = json!({"email": "ann@example.org"});
    let asked = ann.send("PUT", "/v1/user/account/email", body).await.ok(200);
    let known = json!({"email": "operator@example.com"});
    let same = ann.send("PUT", "/v1/user/account/email", known).await.ok(200);
    assert_eq!(asked.body["data"], same.body["data"]);
    let body = json!({"email": "ann@example.org"});
    let _ = ann.send("PUT", "/v1/user/account/email", body).await.ok(200);
    let letter = last_sent(&server, MessageChannel::Email, "ann@example.org").await;
    let (_, token) = letter.split_once("confirm-address?token=").unwrap();
    let token: String = token.chars().take_while(|c| !c.is_whitespace()).collect();
    let confirm = async |token: &str| {
        let request = server.anonymous("POST", "/v1/user/account/email/confirm");
        request.json(&json!({"token": token})).send().await
    };
    let done = confirm(&token).await.ok(200);
    assert_eq!(done.body["data"], json!({"email": "ann@example.org"}));
    let _ = confirm(&token).await.refused(400, "BAD_REQUEST");
    let _ = confirm("' OR ''='").await.refused(400, "BAD_REQUEST");
    let shown = ann.get("/v1/user/session").await.ok(200);
    assert_eq!(shown.body["data"]["user"]["email"], "ann@example.org");
    let own = ann
        .send("PUT", "/v1/user/account/email", json!({"email": "ANN@example.org"}))
        .await;
    let _ = own.refused(422, "VALIDATION_ERROR");
}

#[tokio::test]
async fn phone_number_is_verified_by_code() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Premium).await;
    server.set_price("AAPL", 100.0).await;
    let mut by_sms = above(200);
    by_sms["notification"] = json!("sms");
    let refused = ann.post("/v1/alerts", by_sms.clone()).await.refused(403, "FORBIDDEN");
    let details = json!({"reason": "phone", "required": "verified_phone"});
    assert_eq!(refused.body["error"]["details"], details);
    let asked = ann
        .post("/v1/user/account/phone", json!({"phone": PHONE, "sms_consent": true}))
        .await
        .ok(200);
    assert_eq!(asked.body["data"], json!({"phone": PHONE, "expires_in": 600}));
    let code = last_code(&server).await;
    assert!(!asked.text.contains(&code));
    let show = async |token: &str| {
        let body = json!({"phone": PHONE, "token": token});
        ann.post("/v1/user/account/phone/verify", body).await
    };
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let refused = show(wrong).await.refused(400, "BAD_REQUEST");
    assert!(
        refused.body["error"]["message"]
            .as_str()
            .unwrap()
            .contains("4 attempts are left")
    );
    let verified = json!({"phone": PHONE, "verified_at": "2024-03-08T15:00:00.000Z"});
    assert_eq!(show(&code).await.ok(200).body["data"], verified);
    assert_eq!(
        ann.get("/v1/user/session").await.ok(200).body["data"]["phone"],
        verified
    );
    let made = ann.post("/v1/alerts", by_sms).await.ok(201);
    assert_eq!(made.body["data"]["notification"], "sms");
    let left = json!({"channel": "sms", "limit": 50, "remaining": 50, "reset": 1_711_929_600_000_i64});
    assert_eq!(made.body["meta"]["notification_quota"], left);
    let by_mail = ann.post("/v1/alerts", above(201)).await.ok(201);
    assert_eq!(by_mail.body["meta"].get("notification_quota"), None);
}

#[tokio::test]
async fn phone_codes_are_limited_with_retry_after() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let ask = async || {
        ann.post("/v1/user/account/phone", json!({"phone": PHONE, "sms_consent": true}))
            .await
    };
    for _ in 0..3 {
        let _ = ask().await.ok(200);
    }
    let refused = ask().await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "3600");
    server.clock.advance(SignedDuration::from_hours(1));
    // The access token has expired by then.
    let (token, _) = ann.sign_in(PASSWORD).await.unwrap();
    let again = server.anonymous("POST", "/v1/user/account/phone");
    let again = again.header("authorization", &format!("Bearer {token}"));
    let _ = again
        .json(&json!({"phone": PHONE, "sms_consent": true}))
        .send()
        .await
        .ok(200);
}

#[tokio::test]
async fn password_change_ends_other_sessions() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let (token, cookie) = ann.sign_in(PASSWORD).await.unwrap();
    let by_token = async |token: &str| {
        let request = server.anonymous("GET", "/v1/user/session");
        request.header("authorization", &format!("Bearer {token}")).send().await
    };
    let by_cookie = async || {
        let cookie = format!("__Host-bellwether_session={cookie}");
        server
            .anonymous("GET", "/v1/user/session")
            .header("cookie", &cookie)
            .send()
            .await
    };
    let _ = (by_token(&token).await.ok(200), by_cookie().await.ok(200));
    let change = async |current: &str| {
        let body = json!({"current_password": current, "new_password": "battery staple"});
        ann.post("/v1/user/account/password", body).await
    };
    let refused = change("wrong horse").await.refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["current_password"].is_array());
    let _ = by_token(&token).await.ok(200);
    let changed = change(PASSWORD).await.ok(200);
    assert!(!changed.text.contains("battery"));
    let _ = by_token(&token).await.refused(401, "UNAUTHORIZED");
    let _ = by_cookie().await.refused(401, "UNAUTHORIZED");
    let _ = by_token(&ann.token).await.ok(200);
    let _ = ann.send_with_key("GET", "/v1/alerts", None).await.ok(200);
    ann.sign_in("battery staple").await.unwrap();
}

#[tokio::test]
async fn deactivated_account_is_read_only_until_reactivated() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Premium).await;
    server.set_price("AAPL", 100.0).await;
    let id = ann.post("/v1/alerts", above(200)).await.ok(201).body["data"]["id"].clone();
    let path = format!("/v1/alerts/{}", id.as_str().unwrap());
    let rests = ann.request("POST", "/v1/user/account/deactivate").send().await.ok(200);
    assert_eq!(rests.body["data"], json!({"status": "deactivated", "paused_alerts": 1}));
    for (path, body) in [
        ("/v1/alerts".to_owned(), above(300)),
        (format!("{path}/activate"), json!({})),
        (
            "/v1/webhooks".to_owned(),
            json!({"url": "https://93.184.215.14/h", "events": ["alert.triggered"]}),
        ),
        ("/v1/api-keys".to_owned(), json!({"name": "a"})),
    ] {
        let refused = ann.post(&path, body).await.refused(403, "FORBIDDEN");
        let details = json!({"reason": "deactivated", "required": "active_account"});
        assert_eq!(refused.body["error"]["details"], details, "{path}");
    }
    assert_eq!(ann.get(&path).await.ok(200).body["data"]["status"], "paused");
    let subscription = ann.send_with_key("GET", "/v1/user/subscription", None).await.ok(200);
    assert_eq!(subscription.body["data"]["status"], "deactivated");
    assert_eq!(
        ann.get("/v1/user/session").await.ok(200).body["data"]["status"],
        "deactivated"
    );
    let awake = ann.request("POST", "/v1/user/account/reactivate").send().await.ok(200);
    assert_eq!(awake.body["data"], json!({"status": "active"}));
    let _ = ann.post(&format!("{path}/activate"), json!({})).await.ok(200);
}

#[tokio::test]
async fn account_deletion_removes_keys_and_sessions() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let delete = async |body: Value| ann.send("DELETE", "/v1/user/account", body).await;
    let _ = delete(json!({})).await.refused(422, "VALIDATION_ERROR");
    let _ = delete(json!({"confirmation": "yes"}))
        .await
        .refused(422, "VALIDATION_ERROR");
    let gone = delete(json!({"confirmation": "DELETE"})).await.ok(200);
    assert_eq!(gone.body["data"], json!({"deleted": true}));
    assert!(
        gone.header("set-cookie")
            .starts_with("__Host-bellwether_session=; Path=/; Max-Age=0")
    );
    let _ = ann.get("/v1/user/session").await.refused(401, "UNAUTHORIZED");
    let _ = ann
        .send_with_key("GET", "/v1/alerts", None)
        .await
        .refused(401, "UNAUTHORIZED");
    assert!(ann.sign_in(PASSWORD).await.is_err());
}

#[tokio::test]
async fn export_contains_all_stored_data() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Premium).await;
    server.set_price("AAPL", 100.0).await;
    for threshold in 200..230 {
        let _ = ann.post("/v1/alerts", above(threshold)).await.ok(201);
    }
    let export = ann.get("/v1/user/account/export").await.ok(200);
    assert_eq!(export.header("content-type"), "application/json");
    assert_eq!(export.header("cache-control"), "no-store");
    assert!(export.header("content-disposition").contains("attachment"));
    let remaining = export.header("x-ratelimit-remaining").parse::<u32>().unwrap();
    assert_eq!(export.body["meta"]["rate_limit"]["remaining"], remaining);
    let data = &export.body["data"];
    assert_eq!(data["account"]["email"], "ann@example.com");
    assert_eq!(data["alerts"].as_array().unwrap().len(), 30);
    assert!(!export.text.contains(&ann.key) && !export.text.contains(&ann.token) && !export.text.contains(&ann.cookie));
    let names: Vec<_> = data.as_object().unwrap().keys().collect();
    let document = server::document::generate();
    let described = document["components"]["schemas"]["AccountExport"]["properties"]
        .as_object()
        .unwrap();
    assert!(
        described.keys().all(|name| names.contains(&name)) && described.len() == names.len(),
        "{names:?}"
    );
}

#[tokio::test]
async fn account_routes_require_a_session() {
    let server = TestServer::new().await;
    let ann = server.create_user("ann", Plan::Premium).await;
    for (method, path) in [
        ("GET", "/v1/user/session"),
        ("PATCH", "/v1/user/session"),
        ("GET", "/v1/user/preferences"),
        ("PUT", "/v1/user/preferences"),
        ("PUT", "/v1/user/account/email"),
        ("POST", "/v1/user/account/phone"),
        ("POST", "/v1/user/account/phone/verify"),
        ("POST", "/v1/user/account/password"),
        ("POST", "/v1/user/account/deactivate"),
        ("POST", "/v1/user/account/reactivate"),
        ("DELETE", "/v1/user/account"),
        ("GET", "/v1/user/account/export"),
    ] {
        let refused = ann
            .send_with_key(method, path, Some(json!({})))
            .await
            .refused(403, "FORBIDDEN");
        assert_eq!(
            refused.body["error"]["details"]["reason"], "session_required",
            "{method} {path}"
        );
        let unauthenticated = server.anonymous(method, path).json(&json!({})).send().await;
        let _ = unauthenticated.refused(401, "UNAUTHORIZED");
        if method != "GET" {
            let _ = assert_cross_site_write_is_rejected(&ann, method, path).await;
        }
    }
}

/// Asserts that a cross-site request with a cookie is rejected.
async fn assert_cross_site_write_is_rejected(user: &TestUser<'_>, method: &str, path: &str) {
    let cookie = format!("__Host-bellwether_session={}", user.cookie);
    let request = user.server.anonymous(method, path).header("cookie", &cookie);
    let request = request.header("origin", "https://evil.example.com").json(&json!({}));
    let refused = request.send().await.refused(403, "FORBIDDEN");
    assert_eq!(
        refused.body["error"]["details"]["reason"], "cross_origin",
        "{method} {path}"
    );
}
