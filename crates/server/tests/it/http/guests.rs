//! Guest alerts over HTTP.

use delivery::messages::{OutboxFilter, OutboxMessage};
use jiff::SignedDuration;
use serde_json::{Value, json};
use server::{HttpConfig, RateLimits};

use crate::http::test_server::{TestResponse, TestServer, above};

const GUEST: &str = "guest@example.com";

fn guest_alert(email: &str, threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "email": email})
}

async fn create(server: &TestServer, body: &Value) -> TestResponse {
    server.anonymous("POST", "/v1/alerts").json(body).send().await
}

async fn verify(server: &TestServer, token: &str) -> TestResponse {
    let body = json!({"token": token});
    server.anonymous("POST", "/v1/alerts/verify").json(&body).send().await
}

/// Waits for `count` emails to an address, and returns them newest first.
async fn wait_for_emails(server: &TestServer, to: &str, count: usize) -> Vec<OutboxMessage> {
    let operator = server
        .service
        .authenticator
        .authenticate_key(&server.key)
        .await
        .unwrap();
    let asking = async {
        loop {
            let filter = OutboxFilter {
                to: Some(to.to_owned()),
                ..OutboxFilter::default()
            };
            let page = store::model::PageRequest { page: 1, limit: 100 };
            let found = server
                .service
                .outbox
                .outbox(&operator, filter, page)
                .await
                .unwrap()
                .items;
            if found.len() >= count {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(testkit::HANG_LIMIT, asking).await;
    found.unwrap_or_else(|_| panic!("fewer than {count} mails to {to}"))
}

/// Returns the word after `text` in the newest email.
async fn word_after(server: &TestServer, to: &str, count: usize, text: &str) -> String {
    let mail = wait_for_emails(server, to, count).await.remove(0).text;
    let start = mail.find(text).unwrap_or_else(|| panic!("no {text} in {mail}")) + text.len();
    mail[start..].chars().take_while(|c| !c.is_whitespace()).collect()
}

#[tokio::test]
async fn guest_creates_verifies_and_receives_an_alert() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let made = create(&server, &guest_alert(GUEST, 200)).await.ok(201);
    let data = &made.body["data"];
    assert_eq!((&data["status"], &data["symbol"]), (&json!("inactive"), &json!("AAPL")));
    assert_eq!(
        (&data["triggered_at"], &data["initial_price"]),
        (&Value::Null, &json!(189.2))
    );
    assert!(!made.text.contains(GUEST));
    let again = create(&server, &guest_alert("Guest@example.com", 200)).await.ok(200);
    assert_eq!(&again.body["data"], data);
    let token = word_after(&server, GUEST, 1, "/verify-alert?token=").await;
    let _ = verify(&server, &format!("x{}", &token[1..]))
        .await
        .refused(404, "NOT_FOUND");
    server.set_price("AAPL", 191.0).await;
    let verified = verify(&server, &token).await.ok(200);
    assert_eq!(
        verified.body["data"],
        json!({"alert_id": data["id"], "symbol": "AAPL", "status": "active"})
    );
    let _ = verify(&server, &token).await.refused(400, "BAD_REQUEST");
    server.set_price("AAPL", 200.0).await;
    let news = wait_for_emails(&server, GUEST, 2).await.remove(0);
    assert_eq!(
        news.subject.as_deref(),
        Some("AAPL: price 200.00 is at or above 200.00")
    );
    // The alert belongs to no account.
    let list = server.get("/v1/alerts").await.ok(200);
    assert_eq!(list.body["data"], json!([]));
    let id = data["id"].as_str().unwrap();
    let _ = server.get(&format!("/v1/alerts/{id}")).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn request_without_an_email_is_unauthenticated() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    for body in [
        json!({}),
        above(200),
        json!({"email": null}),
        json!([GUEST]),
        json!("text"),
    ] {
        let _ = create(&server, &body).await.refused(401, "UNAUTHORIZED");
    }
    let _ = server
        .anonymous("POST", "/v1/alerts")
        .send()
        .await
        .refused(401, "UNAUTHORIZED");
    let broken = server
        .anonymous("POST", "/v1/alerts")
        .header("content-type", "application/json");
    let _ = broken.body("{\"email\":").send().await.refused(401, "UNAUTHORIZED");
    let form = server.anonymous("POST", "/v1/alerts").body("email=guest@example.com");
    let _ = form.send().await.refused(401, "UNAUTHORIZED");
    let large = server
        .anonymous("POST", "/v1/alerts")
        .header("content-type", "application/json");
    let large = large.body(" ".repeat(2 << 20)).send().await;
    let _ = large.refused(413, "PAYLOAD_TOO_LARGE");
    // A request with an unknown credential is not a guest request.
    let wrong = format!("sk_{}", "0".repeat(64));
    let known = server.anonymous("POST", "/v1/alerts").header("x-api-key", &wrong);
    let _ = known
        .json(&guest_alert(GUEST, 200))
        .send()
        .await
        .refused(401, "UNAUTHORIZED");
    // An authenticated user needs no email, and gets an own alert even with one.
    let own = server.post("/v1/alerts", guest_alert(GUEST, 200)).await.ok(201);
    assert_eq!(own.body["data"]["status"], "active");
}

#[tokio::test]
async fn guest_restrictions_are_explained() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let mut paid = guest_alert(GUEST, 70);
    paid["condition"] = json!("rsi_limit");
    let refused = create(&server, &paid).await.refused(403, "FORBIDDEN");
    assert_eq!(
        refused.body["error"]["details"],
        json!({"reason": "plan", "required": "premium"})
    );
    let mut sms = guest_alert(GUEST, 200);
    sms["notification"] = json!("sms");
    let _ = create(&server, &sms).await.refused(403, "FORBIDDEN");
    for email in [
        "guest",
        "guest@example.com\r\nBcc: victim@example.com",
        "a@example.com,b@example.com",
    ] {
        let refused = create(&server, &guest_alert(email, 200))
            .await
            .refused(422, "VALIDATION_ERROR");
        assert!(refused.body["error"]["details"]["fields"]["email"].is_array());
        assert!(!refused.text.contains("victim"));
    }
    let mut unknown = guest_alert(GUEST, 200);
    unknown["symbol"] = json!("NOSUCH");
    let _ = create(&server, &unknown).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn guest_alerts_are_limited_per_client_address_and_hour() {
    let settings = HttpConfig {
        trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        ..HttpConfig::default()
    };
    let server = TestServer::with_config(settings).await;
    server.set_price("AAPL", 189.2).await;
    let ask_from = async |address: &str, email: &str| {
        let asking = server.anonymous("POST", "/v1/alerts").at_address(address);
        asking.json(&guest_alert(email, 200)).send().await
    };
    for number in 0..5 {
        // Rejected requests do not count.
        let _ = ask_from("192.0.2.1", "guest").await.refused(422, "VALIDATION_ERROR");
        let made = ask_from("192.0.2.1", &format!("guest{number}@example.com"))
            .await
            .ok(201);
        let remaining = 4 - number;
        assert_eq!(made.header("x-ratelimit-limit"), "5");
        assert_eq!(made.header("x-ratelimit-remaining"), remaining.to_string());
        assert_eq!(made.body["meta"]["rate_limit"]["remaining"], remaining);
    }
    let refused = ask_from("192.0.2.1", "guest6@example.com")
        .await
        .refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "3600");
    assert_eq!(refused.header("x-ratelimit-limit"), "5");
    // Behind a proxy the client's address counts, and for IPv6 its network.
    let through = server.anonymous("POST", "/v1/alerts").at_address("10.0.0.1");
    let through = through
        .header("x-forwarded-for", "192.0.2.1")
        .json(&guest_alert(GUEST, 300));
    let _ = through.send().await.refused(429, "RATE_LIMITED");
    for host in 1..=5 {
        let _ = ask_from(&format!("2001:db8::{host}"), &format!("v6{host}@example.com"))
            .await
            .ok(201);
    }
    let _ = ask_from("2001:db8::6", "v6@example.com")
        .await
        .refused(429, "RATE_LIMITED");
    let _ = ask_from("192.0.2.2", "guest6@example.com").await.ok(201);
    // Other requests still work, and a request without an email is unauthenticated as before.
    let _ = verify(&server, "x").await.refused(404, "NOT_FOUND");
    let _ = create(&server, &above(200)).await.refused(401, "UNAUTHORIZED");
    server.clock.advance(SignedDuration::from_hours(1));
    let _ = ask_from("192.0.2.1", "guest7@example.com").await.ok(201);
}

#[tokio::test]
async fn concurrent_guest_alerts_respect_the_limit() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let bodies: Vec<Value> = (0..50)
        .map(|n| guest_alert(&format!("guest{n}@example.com"), 200))
        .collect();
    let responses = futures_util::future::join_all(bodies.iter().map(|body| create(&server, body))).await;
    assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 5);
    assert_eq!(responses.iter().filter(|response| response.status == 429).count(), 45);
}

#[tokio::test]
async fn guest_emails_are_limited_per_recipient_and_day() {
    let limits = RateLimits {
        guest_alerts_per_hour: 100,
        ..RateLimits::default()
    };
    let server = TestServer::with_config(HttpConfig {
        limits,
        ..HttpConfig::default()
    })
    .await;
    server.set_price("AAPL", 189.2).await;
    for threshold in 0..5 {
        let _ = create(&server, &guest_alert(GUEST, 200 + threshold)).await.ok(201);
    }
    let refused = create(&server, &guest_alert(GUEST, 300))
        .await
        .refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "86401");
    assert_eq!(refused.header("x-ratelimit-limit"), "100");
    let _ = create(&server, &guest_alert("other@example.com", 300)).await.ok(201);
}

#[tokio::test]
async fn confirmed_account_takes_over_guest_alerts() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let made = create(&server, &guest_alert(GUEST, 200)).await.ok(201);
    let id = made.body["data"]["id"].clone();
    let token = word_after(&server, GUEST, 1, "/verify-alert?token=").await;
    let _ = verify(&server, &token).await.ok(200);
    let send = async |path: &str, body: Value| server.anonymous("POST", path).json(&body).send().await;
    let user = json!({"email": GUEST, "password": "correct horse"});
    let _ = send("/v1/auth/register", user.clone()).await.ok(201);
    let attach = async |bearer: &str| {
        let asking = server.anonymous("POST", "/v1/alerts/verify/attach");
        let asking = asking.header("authorization", &format!("Bearer {bearer}"));
        asking.json(&json!({"alert_id": id})).send().await
    };
    let sign_in = async || {
        let signed_in = send("/v1/auth/login", user.clone()).await.ok(200);
        signed_in.body["data"]["access_token"].as_str().unwrap().to_owned()
    };
    let refused = attach(&sign_in().await).await.refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["reason"], "email_confirmation");
    let link = word_after(&server, GUEST, 2, "/confirm?token=").await;
    let _ = send("/v1/auth/confirm", json!({"token": link})).await.ok(200);
    let bearer = sign_in().await;
    for _ in 0..2 {
        let attached = attach(&bearer).await.ok(200);
        assert_eq!(attached.body["data"]["status"], "active");
        assert_eq!(attached.body["data"]["id"], id);
    }
    let history = format!("/v1/alerts/{}/history", id.as_str().unwrap());
    let history = server
        .anonymous("GET", &history)
        .header("authorization", &format!("Bearer {bearer}"));
    let history = history.send().await.ok(200);
    let actions: Vec<&Value> = history.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["action_type"])
        .collect();
    assert_eq!(actions, ["updated", "verified", "created"]);
}

#[tokio::test]
async fn claiming_an_alert_requires_a_session() {
    let server = TestServer::new().await;
    let path = "/v1/alerts/verify/attach";
    let body = json!({"alert_id": "11111111-1111-4111-8111-111111111111"});
    let unauthenticated = server.anonymous("POST", path).json(&body).send().await;
    let _ = unauthenticated.refused(401, "UNAUTHORIZED");
    let refused = server.post(path, body).await.refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["reason"], "session_required");
}

#[tokio::test]
async fn verification_token_is_not_stored_in_plain_text() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let _ = create(&server, &guest_alert(GUEST, 200)).await.ok(201);
    let token = word_after(&server, GUEST, 1, "/verify-alert?token=").await;
    let file = server.database.file().unwrap();
    let mut bytes = Vec::new();
    for suffix in ["", "-wal"] {
        bytes.extend(std::fs::read(format!("{}{suffix}", file.display())).unwrap_or_default());
    }
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has(GUEST), "the database was read");
    assert!(!has(&token) && !has("verify-alert?token"));
}
