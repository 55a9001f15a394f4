//! An alert that fires each time keeps its life cycle through kills: each move to its level fires it exactly once.
//!
//! A price at the level fires, a price at the level of `rearm` arms it again. The service is killed at a random instant around each of
//! these prices. A price without a response is sent again after the restart, so the expected number of firings is certain.

use std::time::Duration;

use acceptance::environment::{ALL_SCOPES, ingest};
use acceptance::{ApiClient, DatabaseKind, RunningService, ServiceSetup};
use rand_chacha::ChaCha8Rng;
use reqwest::Method;
use serde_json::json;

use crate::survival::audit::read_database;
use crate::survival::plan;
use crate::survival::worker::random_below;

const LEVEL: i64 = 100;
const REARM_LEVEL: i64 = 90;
/// Maximum time between a quote and its kill, in milliseconds.
const MAX_DELAY_MS: u64 = 12;

struct RepeatingAlert {
    setup: ServiceSetup,
    key: String,
    process: Option<RunningService>,
    id: String,
    kills: u32,
}

impl RepeatingAlert {
    async fn start(database: DatabaseKind) -> Self {
        let setup = ServiceSetup::on(database)
            .await
            .set("limits.premium_per_hour", "100000000");
        setup.create_user("ann@example.com", "premium", &["--operator"]).await;
        let key = setup.create_key("ann@example.com", Some(ALL_SCOPES)).await;
        let process = setup.start().await;
        let client = process.anonymous_client().with_key(&key);
        let stocks = json!([{"symbol": "ACME", "name": "Acme"}]);
        ingest(
            &client,
            json!({"stocks": stocks, "quotes": [{"symbol": "ACME", "price": REARM_LEVEL}]}),
        )
        .await;
        let body = json!({
            "symbol": "ACME", "condition": "expression", "parameters": {"when": format!("price >= {LEVEL}")},
            "options": {"repeat": "each_time", "rearm": {"at": REARM_LEVEL}},
        });
        let created = client
            .request(Method::POST, "/alerts")
            .json(&body)
            .send()
            .await
            .expect_ok(201);
        let id = created.data()["id"].as_str().unwrap().to_owned();
        let process = Some(process);
        Self {
            setup,
            key,
            process,
            id,
            kills: 0,
        }
    }

    fn client(&self) -> ApiClient {
        self.process.as_ref().unwrap().anonymous_client().with_key(&self.key)
    }

    /// Sends a price until it is acknowledged. Kills the service meanwhile in every second case.
    async fn move_to(&mut self, price: i64, rng: &mut ChaCha8Rng) {
        loop {
            let batch = json!({"quotes": [{"symbol": "ACME", "price": price}]});
            let request = self.client().request(Method::POST, "/market/ingest").json(&batch);
            let sent = tokio::spawn(request.try_send());
            let is_killed = random_below(rng, 2) == 0;
            if is_killed {
                // The time of the kill is the random variable of the experiment.
                tokio::time::sleep(Duration::from_millis(random_below(rng, MAX_DELAY_MS))).await;
                self.process.take().unwrap().kill().await;
                self.kills += 1;
                self.process = Some(self.setup.start().await);
            }
            if sent.await.unwrap().is_ok_and(|response| response.status == 200) {
                return;
            }
        }
    }

    async fn firings(&self) -> (usize, i64) {
        let snapshot = read_database(self.setup.database(), self.setup.database_url()).await;
        let recorded = &snapshot.alerts[&self.id];
        (recorded.fired.len(), recorded.events)
    }
}

async fn run(database: DatabaseKind, percent: u32) {
    let (rounds, mut rng) = plan(percent);
    let mut alert = RepeatingAlert::start(database).await;
    for round in 1..=rounds {
        alert.move_to(LEVEL + i64::from(round % 3), &mut rng).await;
        alert.move_to(REARM_LEVEL - i64::from(round % 2), &mut rng).await;
        let expected = (usize::try_from(round).unwrap(), i64::from(round));
        assert_eq!(
            alert.firings().await,
            expected,
            "firings and events after round {round}"
        );
    }
    println!("{} kills, {rounds} firings", alert.kills);
    let path = format!("/alerts/{}", alert.id);
    let shown = alert.client().get(&path).await.expect_ok(200);
    assert_eq!(
        (&shown.data()["status"], &shown.data()["trigger_count"]),
        (&json!("active"), &json!(rounds))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeating_alert_fires_once_for_each_move_on_sqlite() {
    run(DatabaseKind::Sqlite, 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeating_alert_fires_once_for_each_move_on_postgres() {
    run(DatabaseKind::Postgres, 30).await;
}
