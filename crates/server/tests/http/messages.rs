//! Mail and text messages over HTTP: the outbox, the link that ends mail, reports of the provider.

use alerts::Plan;
use serde_json::{Value, json};
use service::Scope;

use crate::world::{Answer, World, above};

/// The messages to an address, newest first, once there are so many. They are sent in the background.
async fn mailed(world: &World, to: &str, count: usize) -> Vec<Value> {
    let asking = async {
        loop {
            let answer = world.get(&format!("/v1/outbox?to={to}")).await.ok(200);
            let found = answer.body["data"].as_array().unwrap().clone();
            if found.len() >= count {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(testkit::HANG_LIMIT, asking).await;
    found.unwrap_or_else(|_| panic!("there are not {count} messages to {to}"))
}

/// Ann's key, and the path of the link in a mail to her about an alert of hers at 200.
async fn ann_is_mailed(world: &World) -> (String, String) {
    let key = world
        .account("ann@example.com", Plan::Basic, false, Scope::PUBLIC)
        .await;
    world.stock_at("AAPL", 190.0).await;
    fire(world, &key, 200).await;
    let mail = mailed(world, "ann@example.com", 1).await.remove(0);
    let text = mail["text"].as_str().unwrap();
    let link = text
        .split_whitespace()
        .find(|word| word.contains("/unsubscribe?"))
        .unwrap();
    let path = link.strip_prefix("https://alerts.example.com").unwrap();
    (key, path.to_owned())
}

/// Fires a new alert of somebody's at a level, and answers its id.
async fn fire(world: &World, key: &str, level: i64) -> String {
    let made = world.stranger("POST", "/v1/alerts").header("x-api-key", key);
    let made = made.json(&above(level)).send().await.ok(201);
    let quotes = json!({"quotes": [{"symbol": "AAPL", "price": level}, {"symbol": "AAPL", "price": level - 1}]});
    world.post("/v1/market/ingest", quotes).await.ok(200);
    made.body["data"]["id"].as_str().unwrap().to_owned()
}

/// The newest entry about a notification in an alert's history.
async fn told(world: &World, key: &str, alert: &str) -> Value {
    let path = format!("/v1/alerts/{alert}/history");
    let asking = async {
        loop {
            let answer = world
                .stranger("GET", &path)
                .header("x-api-key", key)
                .send()
                .await
                .ok(200);
            let entries = answer.body["data"].as_array().unwrap();
            let is_told = |entry: &&Value| entry["action_type"].as_str().unwrap().starts_with("notification_");
            if let Some(entry) = entries.iter().find(is_told) {
                return entry.clone();
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(testkit::HANG_LIMIT, asking).await.unwrap()
}

#[track_caller]
fn page(answer: &Answer, status: u16) -> &str {
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (status, "text/html; charset=utf-8"),
        "{answer:?}"
    );
    assert!(
        answer
            .header("content-security-policy")
            .starts_with("default-src 'none'")
    );
    assert_eq!(answer.header("cache-control"), "no-store");
    &answer.text
}

#[tokio::test]
async fn operators_read_what_was_kept_and_others_do_not() {
    let world = World::new().await;
    let (key, _) = ann_is_mailed(&world).await;

    let answer = world
        .get("/v1/outbox?channel=email&to=Ann@Example.com&limit=1")
        .await
        .ok(200);
    let mail = &answer.body["data"][0];
    assert_eq!(
        (&mail["channel"], &mail["to"]),
        (&json!("email"), &json!("ann@example.com"))
    );
    assert_eq!(mail["created_at"], "2024-03-08T15:00:00.000Z");
    assert!(mail["html"].as_str().unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(answer.body["meta"]["pagination"]["total"], 1);
    let none = world.get("/v1/outbox?channel=sms").await.ok(200);
    assert_eq!(none.body["data"], json!([]));
    world
        .get("/v1/outbox?channel=fax")
        .await
        .refused(422, "VALIDATION_ERROR");

    world
        .stranger("GET", "/v1/outbox")
        .send()
        .await
        .refused(401, "UNAUTHORIZED");
    let refused = world
        .stranger("GET", "/v1/outbox")
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
async fn the_link_in_a_mail_ends_mail_about_alerts_by_post_alone() {
    let world = World::new().await;
    let (key, path) = ann_is_mailed(&world).await;

    // What opens every link in a mail changes nothing.
    let opened = world.stranger("GET", &path).send().await;
    let shown = page(&opened, 200);
    assert!(
        shown.contains("ann@example.com") && shown.contains(&format!("action=\"{path}\"")),
        "{shown}"
    );
    fire(&world, &key, 210).await;
    mailed(&world, "ann@example.com", 2).await;

    // As a mail program sends it (RFC 8058): from elsewhere, twice for good measure.
    for _ in 0..2 {
        let sent = world
            .stranger("POST", &path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", "https://mail.example.net")
            .header("sec-fetch-site", "cross-site")
            .body("List-Unsubscribe=One-Click")
            .send()
            .await;
        assert!(page(&sent, 200).contains("Mail about alerts has ended"));
    }
    let alert = fire(&world, &key, 220).await;
    assert_eq!(told(&world, &key, &alert).await["action_type"], "notification_failed");

    let again = path.replace("/unsubscribe?", "/subscribe?");
    let sent = world.stranger("POST", &again).send().await;
    assert!(page(&sent, 200).contains("goes to ann@example.com again"));
    let alert = fire(&world, &key, 230).await;
    assert_eq!(told(&world, &key, &alert).await["action_type"], "notification_sent");
    assert_eq!(mailed(&world, "ann@example.com", 3).await.len(), 3);
}

#[tokio::test]
async fn a_link_that_was_changed_ends_nothing_and_says_so() {
    let world = World::new().await;
    let (key, path) = ann_is_mailed(&world).await;
    let cut = &path[..path.len() - 1];
    for wrong in [
        cut,
        "/unsubscribe",
        "/unsubscribe?token=",
        "/unsubscribe?token=%3Cscript%3E",
        "/subscribe?token=x",
    ] {
        let answer = world.stranger("POST", wrong).send().await;
        let shown = page(&answer, 400);
        assert!(
            shown.contains("This link does not work") && !shown.contains("<script"),
            "{shown}"
        );
    }
    page(&world.stranger("GET", cut).send().await, 400);
    let alert = fire(&world, &key, 210).await;
    assert_eq!(told(&world, &key, &alert).await["action_type"], "notification_sent");
}

#[tokio::test]
async fn without_a_provider_nobody_reports_on_text_messages() {
    let world = World::new().await;
    let report = |kind: &'static str| {
        let sending = world.stranger("POST", "/sms/status").header("content-type", kind);
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

/// Where the links of a mail lead, in its text and in its HTML.
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
async fn every_link_in_a_mail_leads_to_a_page() {
    let world = World::with(crate::signing::unlimited()).await;
    world.stock_at("AAPL", 190.0).await;
    let ann = world.person("ann", Plan::Premium).await;
    fire(&world, &ann.key, 200).await;
    let known = json!({"email": ann.email, "password": "correct horse"});
    let _ = world.ask("register", known).await.ok(201);
    let _ = world.register("new@example.com", "correct horse").await;
    let _ = world.magic_link(&ann.email).await;
    let _ = world.reset_link(&ann.email).await;
    let guest = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 300, "email": "new@example.com"});
    let _ = world.stranger("POST", "/v1/alerts").json(&guest).send().await.ok(201);
    let changed = json!({"current_password": "correct horse", "new_password": "battery staple"});
    let _ = ann.post("/v1/user/account/password", changed).await.ok(200);
    let other = json!({"email": "ann@example.org"});
    let _ = ann.send("PUT", "/v1/user/account/email", other).await.ok(200);
    let mut subjects = std::collections::BTreeSet::new();
    for (to, count) in [(ann.email.as_str(), 5), ("new@example.com", 2), ("ann@example.org", 1)] {
        for mail in mailed(&world, to, count).await {
            let links = links(&mail);
            assert!(!links.is_empty(), "{mail}");
            for link in links {
                let page = world.stranger("GET", &link).send().await;
                assert_eq!(page.status, 200, "{link} in {mail}");
                assert!(page.header("content-type").starts_with("text/html"), "{link}");
            }
            subjects.insert(mail["subject"].to_string());
        }
    }
    assert_eq!(subjects.len(), 8, "{subjects:?}");
}
