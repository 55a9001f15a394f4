//! Alerts of people without an account, from the request to the mail, and where the secrets do not lie.

use acceptance::{Answer, Database, Setup, World, on_both_databases};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

on_both_databases![
    a_guest_asks_verifies_is_told_and_takes_the_alert_over,
    what_a_guest_was_mailed_lies_nowhere_in_plain,
    fifty_who_show_a_link_at_once_verify_it_once,
];

const GUEST: &str = "guest@example.com";

fn wish(threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "email": GUEST})
}

async fn show(world: &World, token: &str) -> Answer {
    let body = json!({"token": token});
    world.server.anybody().post("/alerts/verify", &body).await
}

/// The newest mail to the guest, once there are so many.
async fn mail(world: &World, count: usize) -> String {
    let found = tokio::time::timeout(testkit::HANG_LIMIT, async {
        loop {
            let kept = world.me.get(&format!("/outbox?channel=email&to={GUEST}")).await.ok(200);
            if kept.items().len() >= count {
                return kept.items()[0]["text"].as_str().unwrap().to_owned();
            }
        }
    });
    found.await.unwrap_or_else(|_| panic!("fewer than {count} mails"))
}

/// What stands after a text in the newest mail, up to the next blank.
async fn after(world: &World, count: usize, text: &str) -> String {
    let mail = mail(world, count).await;
    let start = mail.find(text).unwrap_or_else(|| panic!("no {text} in {mail}")) + text.len();
    mail[start..].chars().take_while(|c| !c.is_whitespace()).collect()
}

async fn a_guest_asks_verifies_is_told_and_takes_the_alert_over(setup: Setup) {
    let world = setup.world().await;
    let anybody = world.server.anybody();
    world.stock_at("AAPL", 189.2).await;
    let made = anybody.post("/alerts", &wish(200)).await.ok(201);
    assert_eq!(made.text_of("status"), "inactive");
    assert_eq!(anybody.post("/alerts", &wish(200)).await.ok(200).id(), made.id());
    world.quote("AAPL", 205.0).await;
    world.quote("AAPL", 189.2).await;
    let token = after(&world, 1, "/verify-alert?token=").await;
    let verified = show(&world, &token).await.ok(200);
    assert_eq!(
        verified.data(),
        &json!({"alert_id": made.id(), "symbol": "AAPL", "status": "active"})
    );
    let _ = show(&world, &token).await.refused(400, "BAD_REQUEST");
    let _ = show(&world, "unknown").await.refused(404, "NOT_FOUND");
    world.quote("AAPL", 200.0).await;
    let news = mail(&world, 2).await;
    assert!(
        news.contains("price 200.00 is at or above 200.00") && news.contains("/unsubscribe?token="),
        "{news}"
    );
    // The guest registers, confirms the address and signs in.
    let person = json!({"email": GUEST, "password": "correct horse"});
    let _ = anybody.post("/auth/register", &person).await.ok(201);
    let link = after(&world, 3, "/confirm?token=").await;
    let _ = anybody.post("/auth/confirm", &json!({"token": link})).await.ok(200);
    let signed_in = anybody.post("/auth/login", &person).await.ok(200);
    let bearer = format!("Bearer {}", signed_in.text_of("access_token"));
    let attach = anybody.request(reqwest::Method::POST, "/alerts/verify/attach");
    let attach = attach
        .header("Authorization", &bearer)
        .json(&json!({"alert_id": made.id()}));
    assert_eq!(attach.send().await.ok(200).text_of("status"), "triggered");
    let list = anybody
        .request(reqwest::Method::GET, "/alerts")
        .header("Authorization", &bearer);
    assert_eq!(list.send().await.ok(200).items().len(), 1);
}

/// All that the database holds of codes, messages and the outbox, with bytes as they are.
async fn dump(setup: &Setup) -> Vec<u8> {
    match setup.database() {
        Database::Postgres => {
            let mut link = PgConnection::connect(setup.database_url()).await.unwrap();
            let mut all = Vec::new();
            for rows in [
                "SELECT CAST(codes AS TEXT) || encode(hash, 'escape') FROM codes",
                "SELECT CAST(messages AS TEXT) || COALESCE(encode(content, 'escape'), '') FROM messages",
                "SELECT CAST(outbox AS TEXT) || encode(content, 'escape') FROM outbox",
                "SELECT CAST(alerts AS TEXT) FROM alerts",
                "SELECT CAST(history AS TEXT) FROM history",
            ] {
                let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&mut link).await.unwrap();
                assert!(!rows.is_empty());
                all.extend(rows.concat().into_bytes());
            }
            all
        }
        Database::Sqlite => {
            let file = setup.database_url().trim_start_matches("sqlite://");
            let parts = ["", "-wal"].map(|end| std::fs::read(format!("{file}{end}")).unwrap_or_default());
            assert!(!parts[0].is_empty(), "{file} is empty");
            parts.concat()
        }
    }
}

async fn what_a_guest_was_mailed_lies_nowhere_in_plain(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 189.2).await;
    let _ = world.server.anybody().post("/alerts", &wish(200)).await.ok(201);
    let token = after(&world, 1, "/verify-alert?token=").await;
    let places = async || {
        let all = dump(&world.setup).await;
        let has = |text: &str| all.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(has(GUEST), "the database was read");
        (has(&token) || has("verify-alert?"), world.server.log().contains(&token))
    };
    assert_eq!(places().await, (false, false));
    let _ = show(&world, &token).await.ok(200);
    let _ = show(&world, &token).await.refused(400, "BAD_REQUEST");
    assert_eq!(places().await, (false, false));
    assert!(
        !world.server.log().contains(GUEST),
        "whose alert it is, is nothing for the log"
    );
}

async fn fifty_who_show_a_link_at_once_verify_it_once(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 189.2).await;
    let _ = world.server.anybody().post("/alerts", &wish(200)).await.ok(201);
    let token = after(&world, 1, "/verify-alert?token=").await;
    let mut showing = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (anybody, body) = (world.server.anybody(), json!({"token": token}));
        showing.spawn(async move { anybody.post("/alerts/verify", &body).await.status });
    }
    let mut statuses = showing.join_all().await;
    statuses.sort_unstable();
    assert_eq!((statuses[0], &statuses[1..]), (200, &[400; 49][..]));
}
