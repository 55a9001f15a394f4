//! The end of a snooze and of an alert's life are kept through kills: each happens exactly once, at whatever time the service is killed.
//!
//! In each round an alert whose price is at its level is snoozed for a moment, and another one expires. The service is killed at a random
//! time around both instants.

use std::time::Duration;

use acceptance::environment::{ALL_SCOPES, ingest};
use acceptance::{ApiClient, DatabaseKind, ServiceSetup, clock};
use jiff::{SignedDuration, Timestamp};
use rand_chacha::ChaCha8Rng;
use reqwest::Method;
use serde_json::{Value, json};

use crate::survival::plan;
use crate::survival::worker::random_below;

/// Maximum time between the creation of the alerts and the end of their snooze or life, in milliseconds.
const MAX_WAIT_MS: u64 = 400;
/// Maximum time between the creation of the alerts and the kill, in milliseconds.
const MAX_RUN_TIME_MS: u64 = 600;

/// Returns an instant soon, at a whole millisecond.
fn soon(rng: &mut ChaCha8Rng) -> Timestamp {
    let wait = i64::try_from(50 + random_below(rng, MAX_WAIT_MS)).unwrap();
    let now = clock::now().as_millisecond();
    Timestamp::from_millisecond(now).unwrap() + SignedDuration::from_millis(wait)
}

async fn create(client: &ApiClient, when: &str, options: Value) -> String {
    let body = json!({"symbol": "ACME", "condition": "expression", "parameters": {"when": when}, "options": options});
    let created = client.request(Method::POST, "/alerts").json(&body).send().await;
    created.expect_ok(201).data()["id"].as_str().unwrap().to_owned()
}

/// Waits until an alert has a status, and returns the actions in its history but those of messages, oldest first.
async fn actions_when(client: &ApiClient, id: &str, status: &str) -> Vec<String> {
    clock::wait_for(&format!("alert {id} is {status}"), async || {
        let shown = client.get(&format!("/alerts/{id}")).await.expect_ok(200);
        (shown.data()["status"] == status).then_some(())
    })
    .await;
    let history = client
        .get(&format!("/alerts/{id}/history?limit=100"))
        .await
        .expect_ok(200);
    let actions = history
        .items()
        .iter()
        .rev()
        .map(|entry| entry["action_type"].as_str().unwrap().to_owned());
    actions.filter(|action| !action.starts_with("notification_")).collect()
}

async fn run(database: DatabaseKind, percent: u32) {
    let (rounds, mut rng) = plan(percent);
    let setup = ServiceSetup::on(database)
        .await
        .set("limits.premium_per_hour", "100000000");
    setup.create_user("ann@example.com", "premium", &["--operator"]).await;
    let key = setup.create_key("ann@example.com", Some(ALL_SCOPES)).await;
    let mut process = setup.start().await;
    let mut client = process.anonymous_client().with_key(&key);
    let stocks = json!([{"symbol": "ACME", "name": "Acme"}]);
    ingest(
        &client,
        json!({"stocks": stocks, "quotes": [{"symbol": "ACME", "price": 100}]}),
    )
    .await;
    for round in 1..=rounds {
        // Equal alerts would be merged.
        let difference = f64::from(round) / 100.0;
        let snoozed = json!({"snoozed_until": soon(&mut rng).to_string()});
        let snoozed = create(&client, &format!("price >= {}", 90.0 - difference), snoozed).await;
        let expiring = json!({"expires_at": soon(&mut rng).to_string(), "notify_on_expiry": true});
        let expiring = create(&client, &format!("price >= {}", 110.0 + difference), expiring).await;
        // The time of the kill is the random variable of the experiment.
        tokio::time::sleep(Duration::from_millis(random_below(&mut rng, MAX_RUN_TIME_MS))).await;
        process.kill().await;
        process = setup.start().await;
        client = process.anonymous_client().with_key(&key);
        assert_eq!(
            actions_when(&client, &snoozed, "triggered").await,
            ["created", "triggered"],
            "round {round}"
        );
        assert_eq!(
            actions_when(&client, &expiring, "inactive").await,
            ["created", "expired"],
            "round {round}"
        );
    }
    // An expired alert does not fire.
    ingest(&client, json!({"quotes": [{"symbol": "ACME", "price": 200}]})).await;
    let fired = client.get("/alerts?status=triggered&limit=1").await.expect_ok(200);
    assert_eq!(fired.body["meta"]["pagination"]["total"], json!(rounds));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snoozes_and_lives_of_alerts_end_once_on_sqlite() {
    run(DatabaseKind::Sqlite, 25).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snoozes_and_lives_of_alerts_end_once_on_postgres() {
    run(DatabaseKind::Postgres, 20).await;
}
