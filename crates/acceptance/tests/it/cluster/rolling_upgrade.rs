use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use acceptance::clock::wait_for;
use acceptance::{ApiClient, Behaviour, ScriptedServer};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::query_as;

use super::harness::{TestCluster, quotes, symbols, wait_until};

const ROLES: [&str; 6] = ["api", "api", "evaluator", "evaluator", "dispatcher", "dispatcher"];
const APIS: [&str; 2] = ["node-0", "node-1"];
const DISPATCHERS: [&str; 2] = ["node-4", "node-5"];
const SYMBOLS: usize = 4;
/// The number of different prices, each of which fires one alert on each stock: more than are pushed during the upgrade.
const LEVELS: i64 = 250;
/// The first price, in cents.
const FIRST_PRICE: i64 = 10_100;
/// The database stores prices in millionths.
const MICROS_PER_CENT: i64 = 10_000;

/// Returns the price at which the alerts of a level fire, and at which those of the next one do not.
fn price(level: i64) -> f64 {
    (FIRST_PRICE + level) as f64 / 100.0
}

/// The clients of the running API nodes. An operator's load balancer knows them.
type ApiClients = Arc<Mutex<Vec<ApiClient>>>;

/// Pushes rising prices until the upgrade has ended, in turn to all nodes, each price again until a node accepts it. Returns the number of
/// prices.
async fn push_rising_prices(clients: ApiClients, has_ended: Arc<AtomicBool>) -> i64 {
    let symbols = symbols(SYMBOLS);
    let (mut level, mut turn) = (0, 0);
    loop {
        let rise = json!({"quotes": quotes(&symbols, price(level))});
        turn = push_until_accepted(&clients, turn, &rise).await;
        if has_ended.load(Ordering::Acquire) {
            return level + 1;
        }
        level = (level + 1).min(LEVELS - 1);
    }
}

/// Pushes a batch, first to the node whose turn it is. Returns the next turn.
async fn push_until_accepted(clients: &ApiClients, mut turn: usize, batch: &Value) -> usize {
    wait_for("a node accepts the push", || {
        let client = {
            let clients = clients.lock().unwrap();
            clients[turn % clients.len()].clone()
        };
        turn += 1;
        async move {
            let pushed = client
                .request(Method::POST, "/market/ingest")
                .json(batch)
                .try_send()
                .await;
            pushed.ok().filter(|response| response.status == 200)
        }
    })
    .await;
    turn
}

#[tokio::test]
async fn nodes_that_are_upgraded_one_after_the_other_lose_no_push_and_fire_each_alert_once() {
    let settings = [("webhooks.allow_private_cidrs", "127.0.0.0/8")];
    let mut cluster = TestCluster::with_settings(&ROLES, &settings).await;
    cluster.wait_until_dispatched_by(&DISPATCHERS).await;
    let receiver = ScriptedServer::with_script(vec![Behaviour::status(200)]).await;
    create_webhook_and_alerts(&cluster, &receiver).await;
    let operators = APIS.map(|name| cluster.node(name).operator.clone());
    let clients: ApiClients = Arc::new(Mutex::new(operators.to_vec()));
    let has_ended = Arc::new(AtomicBool::new(false));
    let pushes = tokio::spawn(push_rising_prices(Arc::clone(&clients), Arc::clone(&has_ended)));
    for (number, _) in ROLES.iter().enumerate() {
        let name = format!("node-{number}");
        cluster.upgrade(&name).await;
        if number < APIS.len() {
            clients.lock().unwrap()[number] = cluster.node(&name).operator.clone();
        }
        cluster.wait_until_shared().await;
        cluster.wait_until_dispatched_by(&DISPATCHERS).await;
    }
    has_ended.store(true, Ordering::Release);
    let pushed = pushes.await.unwrap();
    let fired = firings(&cluster).await;
    let expected = (0..pushed).map(|level| (FIRST_PRICE + level) * MICROS_PER_CENT);
    // An alert whose push was lost would have fired at the price of a later one.
    let expected: Vec<(i64, i64)> = expected.flat_map(|price| [(price, price); SYMBOLS]).collect();
    assert_eq!(fired, expected);
    wait_until("each firing is delivered", || async {
        let ids: BTreeSet<String> = receiver.received().iter().map(|request| request.id()).collect();
        ids.len() == fired.len()
    })
    .await;
}

async fn create_webhook_and_alerts(cluster: &TestCluster, receiver: &ScriptedServer) {
    let api = cluster.first();
    let webhook = json!({"url": receiver.url(), "events": ["alert.triggered"]});
    let created = api.operator.post("/webhooks", &webhook).await;
    assert_eq!(created.status, 201, "{created}");
    let symbols = symbols(SYMBOLS);
    api.add_stocks(&symbols).await;
    let alerts = symbols.iter().flat_map(|symbol| {
        let alert = move |level| json!({"symbol": symbol, "condition": "price_above", "threshold": price(level)});
        (0..LEVELS).map(alert)
    });
    let created = api
        .operator
        .post("/alerts/batch", &json!({"create": alerts.collect::<Value>()}))
        .await;
    assert_eq!(created.status, 200, "{created}");
}

/// Returns the threshold and the price of each firing, in order.
async fn firings(cluster: &TestCluster) -> Vec<(i64, i64)> {
    let sql = "SELECT alerts.threshold, history.price FROM history JOIN alerts ON alerts.seq = history.alert_seq
               WHERE history.action = 'triggered' ORDER BY alerts.threshold, history.price";
    query_as(sql).fetch_all(&mut cluster.connect().await).await.unwrap()
}
