//! Alerts of people without an account, over HTTP.

use jiff::SignedDuration;
use serde_json::{Value, json};
use server::{Limits, Settings};
use service::messages::{OutboxFilter, OutboxMessage};

use crate::world::{Answer, World, above};

const GUEST: &str = "guest@example.com";

fn wish(email: &str, threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "email": email})
}

async fn ask(world: &World, body: &Value) -> Answer {
    world.stranger("POST", "/v1/alerts").json(body).send().await
}

async fn show(world: &World, token: &str) -> Answer {
    let body = json!({"token": token});
    world.stranger("POST", "/v1/alerts/verify").json(&body).send().await
}

/// What was mailed to an address, newest first, once there are so many.
async fn mailed(world: &World, to: &str, count: usize) -> Vec<OutboxMessage> {
    let operator = world.service.authenticator.authenticate_key(&world.key).await.unwrap();
    let asking = async {
        loop {
            let filter = OutboxFilter {
                to: Some(to.to_owned()),
                ..OutboxFilter::default()
            };
            let page = service::PageRequest { page: 1, limit: 100 };
            let found = world
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

/// What stands after a text in the newest mail, up to the next blank.
async fn after(world: &World, to: &str, count: usize, text: &str) -> String {
    let mail = mailed(world, to, count).await.remove(0).text;
    let start = mail.find(text).unwrap_or_else(|| panic!("no {text} in {mail}")) + text.len();
    mail[start..].chars().take_while(|c| !c.is_whitespace()).collect()
}

#[tokio::test]
async fn a_guest_asks_verifies_and_is_told() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let made = ask(&world, &wish(GUEST, 200)).await.ok(201);
    let data = &made.body["data"];
    assert_eq!((&data["status"], &data["symbol"]), (&json!("inactive"), &json!("AAPL")));
    assert_eq!(
        (&data["triggered_at"], &data["initial_price"]),
        (&Value::Null, &json!(189.2))
    );
    assert!(!made.text.contains(GUEST));
    let again = ask(&world, &wish("Guest@example.com", 200)).await.ok(200);
    assert_eq!(&again.body["data"], data);
    let token = after(&world, GUEST, 1, "/verify-alert?token=").await;
    let _ = show(&world, &format!("x{}", &token[1..]))
        .await
        .refused(404, "NOT_FOUND");
    world.stock_at("AAPL", 191.0).await;
    let verified = show(&world, &token).await.ok(200);
    assert_eq!(
        verified.body["data"],
        json!({"alert_id": data["id"], "symbol": "AAPL", "status": "active"})
    );
    let _ = show(&world, &token).await.refused(400, "BAD_REQUEST");
    world.stock_at("AAPL", 200.0).await;
    let news = mailed(&world, GUEST, 2).await.remove(0);
    assert_eq!(
        news.subject.as_deref(),
        Some("AAPL: price 200.00 is at or above 200.00")
    );
    // It is nobody's but the guest's.
    let list = world.get("/v1/alerts").await.ok(200);
    assert_eq!(list.body["data"], json!([]));
    let id = data["id"].as_str().unwrap();
    let _ = world.get(&format!("/v1/alerts/{id}")).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn whoever_sends_no_address_is_nobody() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    for body in [
        json!({}),
        above(200),
        json!({"email": null}),
        json!([GUEST]),
        json!("text"),
    ] {
        let _ = ask(&world, &body).await.refused(401, "UNAUTHORIZED");
    }
    let _ = world
        .stranger("POST", "/v1/alerts")
        .send()
        .await
        .refused(401, "UNAUTHORIZED");
    let broken = world
        .stranger("POST", "/v1/alerts")
        .header("content-type", "application/json");
    let _ = broken.body("{\"email\":").send().await.refused(401, "UNAUTHORIZED");
    let form = world.stranger("POST", "/v1/alerts").body("email=guest@example.com");
    let _ = form.send().await.refused(401, "UNAUTHORIZED");
    let large = world
        .stranger("POST", "/v1/alerts")
        .header("content-type", "application/json");
    let large = large.body(" ".repeat(2 << 20)).send().await;
    let _ = large.refused(413, "PAYLOAD_TOO_LARGE");
    // Whoever shows something that is not known is no guest.
    let wrong = format!("sk_{}", "0".repeat(64));
    let known = world.stranger("POST", "/v1/alerts").header("x-api-key", &wrong);
    let _ = known.json(&wish(GUEST, 200)).send().await.refused(401, "UNAUTHORIZED");
    // And whoever is known needs no address, and gets an alert of their own if they send one.
    let own = world.post("/v1/alerts", wish(GUEST, 200)).await.ok(201);
    assert_eq!(own.body["data"]["status"], "active");
}

#[tokio::test]
async fn what_guests_cannot_have_is_refused_and_says_why() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let mut paid = wish(GUEST, 70);
    paid["condition"] = json!("rsi_limit");
    let refused = ask(&world, &paid).await.refused(403, "FORBIDDEN");
    assert_eq!(
        refused.body["error"]["details"],
        json!({"reason": "plan", "required": "premium"})
    );
    let mut sms = wish(GUEST, 200);
    sms["notification"] = json!("sms");
    let _ = ask(&world, &sms).await.refused(403, "FORBIDDEN");
    for email in [
        "guest",
        "guest@example.com\r\nBcc: victim@example.com",
        "a@example.com,b@example.com",
    ] {
        let refused = ask(&world, &wish(email, 200)).await.refused(422, "VALIDATION_ERROR");
        assert!(refused.body["error"]["details"]["fields"]["email"].is_array());
        assert!(!refused.text.contains("victim"));
    }
    let mut unknown = wish(GUEST, 200);
    unknown["symbol"] = json!("NOSUCH");
    let _ = ask(&world, &unknown).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_clients_address_has_five_alerts_an_hour_whomever_they_are_for() {
    let settings = Settings {
        trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        ..Settings::default()
    };
    let world = World::with(settings).await;
    world.stock_at("AAPL", 189.2).await;
    let ask_from = async |address: &str, email: &str| {
        let asking = world.stranger("POST", "/v1/alerts").at_address(address);
        asking.json(&wish(email, 200)).send().await
    };
    for number in 0..5 {
        // What is refused is not counted.
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
    // Through a proxy it is the client's address that counts, and of version 6 its network.
    let through = world.stranger("POST", "/v1/alerts").at_address("10.0.0.1");
    let through = through.header("x-forwarded-for", "192.0.2.1").json(&wish(GUEST, 300));
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
    // All else goes on from there, and whoever sends no address is nobody as before.
    let _ = show(&world, "x").await.refused(404, "NOT_FOUND");
    let _ = ask(&world, &above(200)).await.refused(401, "UNAUTHORIZED");
    world.clock.advance(SignedDuration::from_hours(1));
    let _ = ask_from("192.0.2.1", "guest7@example.com").await.ok(201);
}

#[tokio::test]
async fn fifty_at_once_from_one_address_make_five_alerts() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let bodies: Vec<Value> = (0..50).map(|n| wish(&format!("guest{n}@example.com"), 200)).collect();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| ask(&world, body))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 5);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 45);
}

#[tokio::test]
async fn an_address_is_mailed_five_links_a_day_from_wherever_they_are_asked_for() {
    let limits = Limits {
        guest_alerts_per_hour: 100,
        ..Limits::default()
    };
    let world = World::with(Settings {
        limits,
        ..Settings::default()
    })
    .await;
    world.stock_at("AAPL", 189.2).await;
    for threshold in 0..5 {
        let _ = ask(&world, &wish(GUEST, 200 + threshold)).await.ok(201);
    }
    let refused = ask(&world, &wish(GUEST, 300)).await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "86401");
    assert_eq!(refused.header("x-ratelimit-limit"), "100");
    let _ = ask(&world, &wish("other@example.com", 300)).await.ok(201);
}

#[tokio::test]
async fn who_registers_and_confirms_the_address_takes_the_alert_over() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let made = ask(&world, &wish(GUEST, 200)).await.ok(201);
    let id = made.body["data"]["id"].clone();
    let token = after(&world, GUEST, 1, "/verify-alert?token=").await;
    let _ = show(&world, &token).await.ok(200);
    let send = async |path: &str, body: Value| world.stranger("POST", path).json(&body).send().await;
    let person = json!({"email": GUEST, "password": "correct horse"});
    let _ = send("/v1/auth/register", person.clone()).await.ok(201);
    let attach = async |bearer: &str| {
        let asking = world.stranger("POST", "/v1/alerts/verify/attach");
        let asking = asking.header("authorization", &format!("Bearer {bearer}"));
        asking.json(&json!({"alert_id": id})).send().await
    };
    let sign_in = async || {
        let signed_in = send("/v1/auth/login", person.clone()).await.ok(200);
        signed_in.body["data"]["access_token"].as_str().unwrap().to_owned()
    };
    let refused = attach(&sign_in().await).await.refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["reason"], "email_confirmation");
    let link = after(&world, GUEST, 2, "/confirm?token=").await;
    let _ = send("/v1/auth/confirm", json!({"token": link})).await.ok(200);
    let bearer = sign_in().await;
    for _ in 0..2 {
        let attached = attach(&bearer).await.ok(200);
        assert_eq!(attached.body["data"]["status"], "active");
        assert_eq!(attached.body["data"]["id"], id);
    }
    let history = format!("/v1/alerts/{}/history", id.as_str().unwrap());
    let history = world
        .stranger("GET", &history)
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
async fn taking_an_alert_over_takes_a_session() {
    let world = World::new().await;
    let path = "/v1/alerts/verify/attach";
    let body = json!({"alert_id": "11111111-1111-4111-8111-111111111111"});
    let nobody = world.stranger("POST", path).json(&body).send().await;
    let _ = nobody.refused(401, "UNAUTHORIZED");
    let refused = world.post(path, body).await.refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["reason"], "session_required");
}

#[tokio::test]
async fn the_token_lies_nowhere_in_plain() {
    let world = World::new().await;
    world.stock_at("AAPL", 189.2).await;
    let _ = ask(&world, &wish(GUEST, 200)).await.ok(201);
    let token = after(&world, GUEST, 1, "/verify-alert?token=").await;
    let file = world.database.file().unwrap();
    let mut bytes = Vec::new();
    for suffix in ["", "-wal"] {
        bytes.extend(std::fs::read(format!("{}{suffix}", file.display())).unwrap_or_default());
    }
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has(GUEST), "the database was read");
    assert!(!has(&token) && !has("verify-alert?token"));
}
