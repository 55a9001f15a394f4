//! Alerts of guests (users without an account): creation, verification, firing, and protection of their tokens.

use acceptance::{CheckedResponse, DatabaseKind, ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

on_both_databases![
    guest_alert_is_verified_fires_and_joins_an_account,
    guest_token_is_not_stored_or_logged_in_plain_text,
    fifty_concurrent_verifications_succeed_once,
];

const GUEST: &str = "guest@example.com";

fn guest_alert(threshold: u32) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold, "email": GUEST})
}

async fn verify(env: &TestEnvironment, token: &str) -> CheckedResponse {
    let body = json!({"token": token});
    env.server.anonymous_client().post("/alerts/verify", &body).await
}

/// Waits for `count` mails to the guest and returns the text of the newest one.
async fn wait_for_mail(env: &TestEnvironment, count: usize) -> String {
    let found = tokio::time::timeout(testkit::HANG_LIMIT, async {
        loop {
            let kept = env
                .operator
                .get(&format!("/outbox?channel=email&to={GUEST}"))
                .await
                .expect_ok(200);
            if kept.items().len() >= count {
                return kept.items()[0]["text"].as_str().unwrap().to_owned();
            }
        }
    });
    found.await.unwrap_or_else(|_| panic!("fewer than {count} mails"))
}

/// Returns the text that follows `text` in the newest mail, up to the next whitespace.
async fn token_after(env: &TestEnvironment, count: usize, text: &str) -> String {
    let mail = wait_for_mail(env, count).await;
    let start = mail.find(text).unwrap_or_else(|| panic!("no {text} in {mail}")) + text.len();
    mail[start..].chars().take_while(|c| !c.is_whitespace()).collect()
}

async fn guest_alert_is_verified_fires_and_joins_an_account(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let anonymous = env.server.anonymous_client();
    env.stock_at("AAPL", 189.2).await;
    let created = anonymous.post("/alerts", &guest_alert(200)).await.expect_ok(201);
    assert_eq!(created.text_of("status"), "inactive");
    assert_eq!(
        anonymous.post("/alerts", &guest_alert(200)).await.expect_ok(200).id(),
        created.id()
    );
    env.quote("AAPL", 205.0).await;
    env.quote("AAPL", 189.2).await;
    let token = token_after(&env, 1, "/verify-alert?token=").await;
    let verified = verify(&env, &token).await.expect_ok(200);
    assert_eq!(
        verified.data(),
        &json!({"alert_id": created.id(), "symbol": "AAPL", "status": "active"})
    );
    let _ = verify(&env, &token).await.expect_error(400, "BAD_REQUEST");
    let _ = verify(&env, "unknown").await.expect_error(404, "NOT_FOUND");
    env.quote("AAPL", 200.0).await;
    let notification = wait_for_mail(&env, 2).await;
    assert!(
        notification.contains("price 200.00 is at or above 200.00") && notification.contains("/unsubscribe?token="),
        "{notification}"
    );
    // The guest registers, confirms the address and signs in.
    let account = json!({"email": GUEST, "password": "correct horse"});
    let _ = anonymous.post("/auth/register", &account).await.expect_ok(201);
    let confirmation_token = token_after(&env, 3, "/confirm?token=").await;
    let _ = anonymous
        .post("/auth/confirm", &json!({"token": confirmation_token}))
        .await
        .expect_ok(200);
    let signed_in = anonymous.post("/auth/login", &account).await.expect_ok(200);
    let bearer = format!("Bearer {}", signed_in.text_of("access_token"));
    let attach = anonymous.request(reqwest::Method::POST, "/alerts/verify/attach");
    let attach = attach
        .header("Authorization", &bearer)
        .json(&json!({"alert_id": created.id()}));
    assert_eq!(attach.send().await.expect_ok(200).text_of("status"), "triggered");
    let list = anonymous
        .request(reqwest::Method::GET, "/alerts")
        .header("Authorization", &bearer);
    assert_eq!(list.send().await.expect_ok(200).items().len(), 1);
}

/// Returns the stored codes, messages and outbox entries, with binary columns unchanged.
async fn dump(setup: &ServiceSetup) -> Vec<u8> {
    match setup.database() {
        DatabaseKind::Postgres => {
            let mut connection = PgConnection::connect(setup.database_url()).await.unwrap();
            let mut dumped = Vec::new();
            for rows in [
                "SELECT CAST(codes AS TEXT) || encode(hash, 'escape') FROM codes",
                "SELECT CAST(messages AS TEXT) || COALESCE(encode(content, 'escape'), '') FROM messages",
                "SELECT CAST(outbox AS TEXT) || encode(content, 'escape') FROM outbox",
                "SELECT CAST(alerts AS TEXT) FROM alerts",
                "SELECT CAST(history AS TEXT) FROM history",
            ] {
                let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&mut connection).await.unwrap();
                assert!(!rows.is_empty());
                dumped.extend(rows.concat().into_bytes());
            }
            dumped
        }
        DatabaseKind::Sqlite => {
            let file = setup.database_url().trim_start_matches("sqlite://");
            let parts = ["", "-wal"].map(|end| std::fs::read(format!("{file}{end}")).unwrap_or_default());
            assert!(!parts[0].is_empty(), "{file} is empty");
            parts.concat()
        }
    }
}

async fn guest_token_is_not_stored_or_logged_in_plain_text(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 189.2).await;
    let _ = env
        .server
        .anonymous_client()
        .post("/alerts", &guest_alert(200))
        .await
        .expect_ok(201);
    let token = token_after(&env, 1, "/verify-alert?token=").await;
    let occurrences = async || {
        let dumped = dump(&env.setup).await;
        let has = |text: &str| dumped.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(has(GUEST), "the database was read");
        (has(&token) || has("verify-alert?"), env.server.log().contains(&token))
    };
    assert_eq!(occurrences().await, (false, false));
    let _ = verify(&env, &token).await.expect_ok(200);
    let _ = verify(&env, &token).await.expect_error(400, "BAD_REQUEST");
    assert_eq!(occurrences().await, (false, false));
    assert!(
        !env.server.log().contains(GUEST),
        "the log contains the address of the guest"
    );
}

async fn fifty_concurrent_verifications_succeed_once(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 189.2).await;
    let _ = env
        .server
        .anonymous_client()
        .post("/alerts", &guest_alert(200))
        .await
        .expect_ok(201);
    let token = token_after(&env, 1, "/verify-alert?token=").await;
    let mut verifying = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (anonymous, body) = (env.server.anonymous_client(), json!({"token": token}));
        verifying.spawn(async move { anonymous.post("/alerts/verify", &body).await.status });
    }
    let mut statuses = verifying.join_all().await;
    statuses.sort_unstable();
    assert_eq!((statuses[0], &statuses[1..]), (200, &[400; 49][..]));
}
