//! Escalations are kept through kills: a firing whose first channel fails for good reaches the next one, at whatever time the service is
//! killed.
//!
//! In each round some alerts with the policy `failover` fire at once. Their first channel rejects every message. The service is killed
//! while their messages are sent.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use acceptance::{ApiClient, Behaviour, DatabaseKind, ScriptedServer, clock};
use serde_json::{Value, json};

use crate::survival::channels::{add_stock, create_channel, fire, setup_with_key};
use crate::survival::plan;
use crate::survival::worker::random_below;

/// Alerts that fire in a round.
const ALERTS_PER_ROUND: u32 = 8;
/// Maximum time between the quote and the kill, in milliseconds.
const MAX_RUN_TIME_MS: u64 = 250;

/// Waits until the messages of all firings have an end, and returns the firings.
async fn finished_firings(client: &ApiClient, count: u32) -> Vec<Value> {
    clock::wait_for("all firings have reached the second channel", async || {
        let firings = client.get("/firings?limit=200").await.expect_ok(200).items().to_vec();
        let is_finished = |firing: &Value| {
            let messages = firing["messages"].as_array().unwrap();
            messages.len() > 1
                && messages
                    .iter()
                    .all(|message| !matches!(message["state"].as_str(), Some("queued" | "held")))
        };
        (firings.len() >= usize::try_from(count).unwrap() && firings.iter().all(is_finished)).then_some(firings)
    })
    .await
}

/// Returns how often a server got each message id.
fn sequence_ids(server: &ScriptedServer) -> HashMap<String, usize> {
    let mut ids = HashMap::new();
    for request in server.received() {
        let id = request.json()["sequence_id"].as_str().unwrap().to_owned();
        *ids.entry(id).or_default() += 1;
    }
    ids
}

async fn run(database: DatabaseKind, percent: u32) {
    let (rounds, mut rng) = plan(percent);
    let (setup, key) = setup_with_key(database).await;
    let (refusing, accepting) = (ScriptedServer::start().await, ScriptedServer::start().await);
    refusing.set_behaviour(Behaviour::status(410));
    accepting.set_behaviour(Behaviour::Respond(200, Vec::new(), json!({"id": "1"}).to_string()));
    let mut process = setup.start().await;
    let mut client = process.anonymous_client().with_key(&key);
    add_stock(&client).await;
    let first = create_channel(&client, "first", &refusing, json!({})).await;
    let second = create_channel(&client, "second", &accepting, json!({})).await;
    let mut fired = 0;
    for round in 1..=rounds {
        let route = json!({"channels": [first, second], "policy": "failover"});
        fire(&client, round, ALERTS_PER_ROUND, &route).await;
        fired += ALERTS_PER_ROUND;
        // The time of the kill is the random variable of the experiment.
        tokio::time::sleep(Duration::from_millis(random_below(&mut rng, MAX_RUN_TIME_MS))).await;
        process.kill().await;
        process = setup.start().await;
        client = process.anonymous_client().with_key(&key);
    }
    let firings = finished_firings(&client, fired.min(200)).await;
    let total = client.get("/firings?limit=1").await.expect_ok(200).body["meta"]["pagination"]["total"].clone();
    assert_eq!(total, json!(fired), "each alert has fired once");
    let mut ids = HashSet::new();
    for firing in &firings {
        let messages = firing["messages"].as_array().unwrap();
        let states: Vec<(&str, &str)> = messages
            .iter()
            .map(|message| {
                (
                    message["channel_id"].as_str().unwrap(),
                    message["state"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            states,
            [(first.as_str(), "failed"), (second.as_str(), "accepted")],
            "{firing}"
        );
        ids.extend(
            messages
                .iter()
                .map(|message| message["id"].as_str().unwrap().to_owned()),
        );
    }
    assert_eq!(ids.len(), 2 * firings.len(), "each message has its own id");
    for server in [&refusing, &accepting] {
        let received = sequence_ids(server);
        assert_eq!(
            received.len(),
            usize::try_from(fired).unwrap(),
            "each firing has arrived under one id"
        );
        let repeated: usize = received.values().map(|times| times - 1).sum();
        // At most what was on its way at a kill is sent again.
        assert!(
            repeated <= usize::try_from(fired).unwrap(),
            "{repeated} were repeated in {rounds} kills"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn escalations_survive_kills_on_sqlite() {
    run(DatabaseKind::Sqlite, 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn escalations_survive_kills_on_postgres() {
    run(DatabaseKind::Postgres, 15).await;
}
