//! Folded messages are kept through kills: each firing goes out in exactly one message, at whatever time the service is killed.
//!
//! In each round more alerts fire at once than their channel gets separate messages for. The service is killed while they are folded and
//! sent. A message that is sent again has the same id and the same firings.

use std::collections::HashMap;
use std::time::Duration;

use acceptance::{ApiClient, Behaviour, DatabaseKind, ScriptedServer, clock};
use serde_json::{Value, json};

use crate::survival::channels::{add_stock, create_channel, fire, setup_with_key};
use crate::survival::plan;
use crate::survival::worker::random_below;

/// Alerts that fire in a round.
const ALERTS_PER_ROUND: u32 = 8;
/// Separate messages within a minute.
const BURST_LIMIT: u32 = 3;
/// Maximum time between the quote and the kill, in milliseconds.
const MAX_RUN_TIME_MS: u64 = 250;

/// Waits until the messages of all firings are accepted. Returns the number of firings of each message.
async fn firings_by_message(client: &ApiClient, fired: u32) -> HashMap<String, u64> {
    clock::wait_for("all firings are accepted", async || {
        let mut messages = HashMap::new();
        for page in 1..=fired.div_ceil(100) {
            let firings = client
                .get(&format!("/firings?limit=100&page={page}"))
                .await
                .expect_ok(200);
            for firing in firings.items() {
                let [message] = &firing["messages"].as_array().unwrap()[..] else {
                    return None;
                };
                if message["state"] != json!("accepted") {
                    return None;
                }
                *messages.entry(message["id"].as_str().unwrap().to_owned()).or_default() += 1;
            }
        }
        (messages.values().sum::<u64>() == u64::from(fired)).then_some(messages)
    })
    .await
}

/// Returns the number of firings that a message says it has.
fn announced_firings(body: &Value) -> u64 {
    let title = body["title"].as_str().unwrap();
    title
        .strip_suffix(" alerts have fired")
        .map_or(1, |number| number.parse().unwrap())
}

async fn run(database: DatabaseKind, percent: u32) {
    let (rounds, mut rng) = plan(percent);
    let (setup, key) = setup_with_key(database).await;
    let server = ScriptedServer::start().await;
    server.set_behaviour(Behaviour::Respond(200, Vec::new(), json!({"id": "1"}).to_string()));
    let mut process = setup.start().await;
    let mut client = process.anonymous_client().with_key(&key);
    add_stock(&client).await;
    let channel = create_channel(&client, "folded", &server, json!({"burst_limit": BURST_LIMIT})).await;
    for round in 1..=rounds {
        fire(&client, round, ALERTS_PER_ROUND, &json!({"channels": [channel]})).await;
        // The time of the kill is the random variable of the experiment.
        tokio::time::sleep(Duration::from_millis(random_below(&mut rng, MAX_RUN_TIME_MS))).await;
        process.kill().await;
        process = setup.start().await;
        client = process.anonymous_client().with_key(&key);
    }
    let fired = rounds * ALERTS_PER_ROUND;
    let expected = firings_by_message(&client, fired).await;
    assert!(
        expected.values().any(|firings| *firings > 1),
        "nothing was folded: {expected:?}"
    );
    let mut received: HashMap<String, u64> = HashMap::new();
    for request in server.received() {
        let body = request.json();
        let (id, firings) = (
            body["sequence_id"].as_str().unwrap().to_owned(),
            announced_firings(&body),
        );
        let first = *received.entry(id.clone()).or_insert(firings);
        assert_eq!(first, firings, "the message {id} has been sent with other firings");
    }
    assert_eq!(received, expected, "each firing has gone out in one message");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folded_messages_survive_kills_on_sqlite() {
    run(DatabaseKind::Sqlite, 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folded_messages_survive_kills_on_postgres() {
    run(DatabaseKind::Postgres, 15).await;
}
