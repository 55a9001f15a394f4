//! Notification channels of the experiments, and alerts that fire for them.

use acceptance::environment::{ALL_SCOPES, ingest};
use acceptance::{ApiClient, DatabaseKind, ScriptedServer, ServiceSetup};
use serde_json::{Value, json};

use crate::survival::with_webhooks;

/// Returns settings that permit channels on this machine, and a key of an account.
pub(super) async fn setup_with_key(database: DatabaseKind) -> (ServiceSetup, String) {
    let setup = with_webhooks(ServiceSetup::on(database).await).set("webhooks.allow_private_cidrs", "127.0.0.0/8");
    setup.create_user("ann@example.com", "premium", &["--operator"]).await;
    let key = setup.create_key("ann@example.com", Some(ALL_SCOPES)).await;
    (setup, key)
}

/// Adds the stock of the alerts.
pub(super) async fn add_stock(client: &ApiClient) {
    let stocks = json!([{"symbol": "ACME", "name": "Acme"}]);
    let quotes = json!([{"symbol": "ACME", "price": 100}]);
    ingest(client, json!({"stocks": stocks, "quotes": quotes})).await;
}

/// Creates an ntfy channel. `more` has further fields. Returns its id.
pub(super) async fn create_channel(client: &ApiClient, topic: &str, server: &ScriptedServer, more: Value) -> String {
    let mut body = json!({"type": "ntfy", "name": topic, "config": {"url": server.url(), "topic": topic}});
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    client.post("/notification-channels", &body).await.expect_ok(201).id()
}

/// Creates some alerts with a route, and lets them fire at once.
pub(super) async fn fire(client: &ApiClient, round: u32, alerts: u32, route: &Value) {
    let price = 100 + round;
    for nth in 0..alerts {
        let threshold = f64::from(price) - f64::from(nth) / 100.0;
        let mut body = json!({"symbol": "ACME", "condition": "price_above", "threshold": threshold});
        body.as_object_mut()
            .unwrap()
            .extend(route.as_object().cloned().unwrap());
        let _ = client.post("/alerts", &body).await.expect_ok(201);
    }
    ingest(client, json!({"quotes": [{"symbol": "ACME", "price": price}]})).await;
}
