//! Email and text messages over HTTP: the outbox, unsubscribe links, provider reports.

use alerts::Plan;
use foundation::Scope;
use serde_json::{Value, json};

use crate::http::test_server::{TestResponse, TestServer, above};

/// Waits for `count` messages to an address, and returns them newest first. They are sent in the background.
async fn wait_for_emails(server: &TestServer, to: &str, count: usize) -> Vec<Value> {
    let asking = async {
        loop {
            let response = server.get(&format!("/v1/outbox?to={to}")).await.ok(200);
            let found = response.body["data"].as_array().unwrap().clone();
            if found.len() >= count {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(testkit::HANG_LIMIT, asking).await;
    found.unwrap_or_else(|_| panic!("there are not {count} messages to {to}"))
}

/// Sends Ann an email about her alert at 200. Returns her key and the path of the unsubscribe link.
async fn email_ann(server: &TestServer) -> (String, String) {
    let key = server
        .account("ann@example.com", Plan::Premium, false, Scope::PUBLIC)
        .await;
    server.set_price("AAPL", 190.0).await;
    fire(server, &key, 200).await;
    let mail = wait_for_emails(server, "ann@example.com", 1).await.remove(0);
    let text = mail["text"].as_str().unwrap();
    let link = text
        .split_whitespace()
        .find(|word| word.contains("/unsubscribe?"))
        .unwrap();
    let path = link.strip_prefix("https://alerts.example.com").unwrap();
    (key, path.to_owned())
}

/// Creates an alert at a level, fires it, and returns its id.
async fn fire(server: &TestServer, key: &str, level: i64) -> String {
    let made = server.anonymous("POST", "/v1/alerts").header("x-api-key", key);
    let made = made.json(&above(level)).send().await.ok(201);
    let quotes = json!({"quotes": [{"symbol": "AAPL", "price": level}, {"symbol": "AAPL", "price": level - 1}]});
    server.post("/v1/market/ingest", quotes).await.ok(200);
    made.body["data"]["id"].as_str().unwrap().to_owned()
}

/// Returns the newest notification entry in an alert's history.
async fn latest_notification(server: &TestServer, key: &str, alert: &str) -> Value {
    let path = format!("/v1/alerts/{alert}/history");
    let asking = async {
        loop {
            let response = server
                .anonymous("GET", &path)
                .header("x-api-key", key)
                .send()
                .await
                .ok(200);
            let entries = response.body["data"].as_array().unwrap();
            let is_notification = |entry: &&Value| entry["action_type"].as_str().unwrap().starts_with("notification_");
            if let Some(entry) = entries.iter().find(is_notification) {
                return entry.clone();
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(testkit::HANG_LIMIT, asking).await.unwrap()
}

#[track_caller]
fn page(response: &TestResponse, status: u16) -> &str {
    assert_eq!(
        (response.status, response.header("content-type")),
        (status, "text/html; charset=utf-8"),
        "{response:?}"
    );
    assert!(
        response
            .header("content-security-policy")
            .starts_with("default-src 'none'")
    );
    assert_eq!(response.header("cache-control"), "no-store");
    &response.text
}

#[tokio::test]
async fn outbox_is_readable_only_by_operators() {
    let server = TestServer::new().await;
    let (key, _) = email_ann(&server).await;

    let response = server
        .get("/v1/outbox?channel=email&to=Ann@Example.com&limit=1")
        .await
        .ok(200);
    let mail = &response.body["data"][0];
    assert_eq!(
        (&mail["channel"], &mail["to"]),
        (&json!("email"), &json!("ann@example.com"))
    );
    assert_eq!(mail["created_at"], "2024-03-08T15:00:00.000Z");
    assert!(mail["html"].as_str().unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(response.body["meta"]["pagination"]["total"], 1);
    let none = server.get("/v1/outbox?channel=sms").await.ok(200);
    assert_eq!(none.body["data"], json!([]));
    server
        .get("/v1/outbox?channel=fax")
        .await
        .refused(422, "VALIDATION_ERROR");

    server
        .anonymous("GET", "/v1/outbox")
        .send()
        .await
        .refused(401, "UNAUTHORIZED");
    let refused = server
        .anonymous("GET", "/v1/outbox")
        .header("x-api-key", &key)
        .send()
        .await;
    let refused = refused.refused(403, "FORBIDDEN");
    assert_eq!(
        refused.body["error"]["details"],
        json!({"reason": "scope", "required": "outbox:read"})
    );
}

#[tokio::test]
async fn unsubscribe_link_requires_post() {
    let server = TestServer::new().await;
    let (key, path) = email_ann(&server).await;

    // A link scanner that opens every link changes nothing.
    let opened = server.anonymous("GET", &path).send().await;
    let shown = page(&opened, 200);
    assert!(
        shown.contains("ann@example.com") && shown.contains(&format!("action=\"{path}\"")),
        "{shown}"
    );
    fire(&server, &key, 210).await;
    wait_for_emails(&server, "ann@example.com", 2).await;

    // A one-click request of an email program (RFC 8058): cross-site, sent twice.
    for _ in 0..2 {
        let sent = server
            .anonymous("POST", &path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", "https://mail.example.net")
            .header("sec-fetch-site", "cross-site")
            .body("List-Unsubscribe=One-Click")
            .send()
            .await;
        assert!(page(&sent, 200).contains("You are unsubscribed"));
    }
    let alert = fire(&server, &key, 220).await;
    assert_eq!(
        latest_notification(&server, &key, &alert).await["action_type"],
        "notification_failed"
    );

    let again = path.replace("/unsubscribe?", "/subscribe?");
    let sent = server.anonymous("POST", &again).send().await;
    assert!(page(&sent, 200).contains("Alert emails go to ann@example.com again."));
    let alert = fire(&server, &key, 230).await;
    assert_eq!(
        latest_notification(&server, &key, &alert).await["action_type"],
        "notification_sent"
    );
    assert_eq!(wait_for_emails(&server, "ann@example.com", 3).await.len(), 3);
}

#[tokio::test]
async fn tampered_unsubscribe_link_is_rejected() {
    let server = TestServer::new().await;
    let (key, path) = email_ann(&server).await;
    let cut = &path[..path.len() - 1];
    for wrong in [
        cut,
        "/unsubscribe",
        "/unsubscribe?token=",
        "/unsubscribe?token=%3Cscript%3E",
        "/subscribe?token=x",
    ] {
        let response = server.anonymous("POST", wrong).send().await;
        let shown = page(&response, 400);
        assert!(
            shown.contains("This link does not work") && !shown.contains("<script"),
            "{shown}"
        );
    }
    page(&server.anonymous("GET", cut).send().await, 400);
    let alert = fire(&server, &key, 210).await;
    assert_eq!(
        latest_notification(&server, &key, &alert).await["action_type"],
        "notification_sent"
    );
}

#[tokio::test]
async fn sms_status_route_is_disabled_without_a_provider() {
    let server = TestServer::new().await;
    let report = |kind: &'static str| {
        let sending = server.anonymous("POST", "/sms/status").header("content-type", kind);
        sending
            .header("x-twilio-signature", "AAAA")
            .body("MessageSid=SM1&MessageStatus=delivered")
            .send()
    };
    report("application/x-www-form-urlencoded")
        .await
        .refused(404, "NOT_FOUND");
    report("application/json").await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
}

/// Returns the link targets in an email's text and HTML.
fn links(mail: &Value) -> Vec<String> {
    let mut links = Vec::new();
    for form in ["text", "html"] {
        for rest in mail[form].as_str().unwrap().split("https://alerts.example.com").skip(1) {
            let end = rest
                .find(|c: char| c.is_whitespace() || "\"<".contains(c))
                .unwrap_or(rest.len());
            links.push(rest[..end].replace("&#38;", "&"));
        }
    }
    links
}

#[tokio::test]
async fn every_email_link_leads_to_a_page() {
    let server = TestServer::with_config(crate::http::identity::unlimited()).await;
    server.set_price("AAPL", 190.0).await;
    let ann = server.create_user("ann", Plan::Premium).await;
    fire(&server, &ann.key, 200).await;
    let known = json!({"email": ann.email, "password": "correct horse"});
    let _ = server.post_auth("register", known).await.ok(201);
    let _ = server.register("new@example.com", "correct horse").await;
    let _ = server.magic_link(&ann.email).await;
    let _ = server.reset_link(&ann.email).await;
    let guest = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 300, "email": "new@example.com"});
    let _ = server.anonymous("POST", "/v1/alerts").json(&guest).send().await.ok(201);
    let changed = json!({"current_password": "correct horse", "new_password": "battery staple"});
    let _ = ann.post("/v1/user/account/password", changed).await.ok(200);
    let other = json!({"email": "ann@example.org"});
    let _ = ann.send("PUT", "/v1/user/account/email", other).await.ok(200);
    let mut subjects = std::collections::BTreeSet::new();
    for (to, count) in [(ann.email.as_str(), 5), ("new@example.com", 2), ("ann@example.org", 1)] {
        for mail in wait_for_emails(&server, to, count).await {
            let links = links(&mail);
            assert!(!links.is_empty(), "{mail}");
            for link in links {
                let mut page = server.anonymous("GET", &link).send().await;
                if page.status == 303 {
                    // The page of an alert asks to sign in first.
                    assert!(page.header("location").starts_with("/sign-in?next="), "{page:?}");
                    page = server.anonymous("GET", page.header("location")).send().await;
                }
                assert_eq!(page.status, 200, "{link} in {mail}");
                assert!(page.header("content-type").starts_with("text/html"), "{link}");
            }
            subjects.insert(mail["subject"].to_string());
        }
    }
    assert_eq!(subjects.len(), 8, "{subjects:?}");
}
