//! An alert that fires each time keeps its life cycle through kills: each move to its level fires it exactly once, on each of its
//! stocks, until it has fired as often as it may.
//!
//! A price at the level fires, a price at the level of `rearm` arms it again. The service is killed at a random instant around each of
//! these prices. A price without a response is sent again after the restart, so the expected number of firings is certain.

use std::time::Duration;

use acceptance::environment::{ALL_SCOPES, ingest};
use acceptance::{ApiClient, DatabaseKind, RunningService, ServiceSetup};
use rand_chacha::ChaCha8Rng;
use reqwest::Method;
use serde_json::{Value, json};

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
    symbols: &'static [&'static str],
    kills: u32,
}

impl RepeatingAlert {
    async fn start(database: DatabaseKind, symbols: &'static [&'static str], max_firings: u32) -> Self {
        let setup = ServiceSetup::on(database)
            .await
            .set("limits.premium_per_hour", "100000000");
        setup.create_user("ann@example.com", "premium", &["--operator"]).await;
        let key = setup.create_key("ann@example.com", Some(ALL_SCOPES)).await;
        let process = setup.start().await;
        let client = process.anonymous_client().with_key(&key);
        let stocks: Vec<_> = symbols
            .iter()
            .map(|symbol| json!({"symbol": symbol, "name": symbol}))
            .collect();
        ingest(
            &client,
            json!({"stocks": stocks, "quotes": quotes(symbols, REARM_LEVEL)}),
        )
        .await;
        let mut body = json!({
            "condition": "expression", "parameters": {"when": format!("price >= {LEVEL}")},
            "options": {"repeat": "each_time", "rearm": {"at": REARM_LEVEL}, "max_firings": max_firings},
        });
        match symbols {
            [symbol] => body["symbol"] = json!(symbol),
            _ => body["scope"] = json!({"symbols": symbols}),
        }
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
            symbols,
            kills: 0,
        }
    }

    fn client(&self) -> ApiClient {
        self.process.as_ref().unwrap().anonymous_client().with_key(&self.key)
    }

    /// Sends a price until it is acknowledged. Kills the service meanwhile in every second case.
    async fn move_to(&mut self, price: i64, rng: &mut ChaCha8Rng) {
        loop {
            let batch = json!({"quotes": quotes(self.symbols, price)});
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

    /// Returns the number of firings of each stock, and that of all events.
    async fn firings(&self) -> (Vec<usize>, i64) {
        let snapshot = read_database(self.setup.database(), self.setup.database_url()).await;
        let fired = snapshot.alerts.values().map(|alert| alert.fired.len());
        (fired.filter(|fired| *fired > 0).collect(), snapshot.events)
    }
}

fn quotes(symbols: &[&str], price: i64) -> Value {
    symbols
        .iter()
        .map(|symbol| json!({"symbol": symbol, "price": price}))
        .collect()
}

async fn run(database: DatabaseKind, symbols: &'static [&'static str], percent: u32) {
    let (rounds, mut rng) = plan(percent);
    let mut alert = RepeatingAlert::start(database, symbols, rounds).await;
    // In the last round the alert has fired as often as it may.
    for round in 1..=rounds + 1 {
        alert.move_to(LEVEL + i64::from(round % 3), &mut rng).await;
        alert.move_to(REARM_LEVEL - i64::from(round % 2), &mut rng).await;
        let fired = usize::try_from(round.min(rounds)).unwrap();
        let events = i64::try_from(fired * symbols.len()).unwrap();
        assert_eq!(
            alert.firings().await,
            (vec![fired; symbols.len()], events),
            "firings and events after round {round}"
        );
    }
    println!("{} kills, {rounds} firings of {symbols:?}", alert.kills);
    let path = format!("/alerts/{}", alert.id);
    let shown = alert.client().get(&path).await.expect_ok(200);
    assert_eq!(shown.data()["status"], json!("triggered"));
    if symbols.len() == 1 {
        assert_eq!(shown.data()["trigger_count"], json!(rounds));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeating_alert_fires_once_for_each_move_on_sqlite() {
    run(DatabaseKind::Sqlite, &["ACME"], 25).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeating_alert_fires_once_for_each_move_on_postgres() {
    run(DatabaseKind::Postgres, &["ACME"], 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alert_over_many_stocks_fires_once_for_each_move_of_each_on_sqlite() {
    run(DatabaseKind::Sqlite, &["ACME", "BOLT", "CORE"], 25).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alert_over_many_stocks_fires_once_for_each_move_of_each_on_postgres() {
    run(DatabaseKind::Postgres, &["ACME", "BOLT", "CORE"], 20).await;
}
