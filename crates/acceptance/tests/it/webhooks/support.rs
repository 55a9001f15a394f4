//! Shared test support: a service whose webhooks may call this machine.

use acceptance::clock::wait_for;
use acceptance::{ScriptedServer, ServiceSetup, TestEnvironment};
use serde_json::{Value, json};

/// Starts a service that may call this machine and retries failed deliveries soon.
pub(crate) async fn start_environment(setup: ServiceSetup) -> TestEnvironment {
    let setup = setup
        .set("webhooks.allow_private_cidrs", "127.0.0.0/8")
        .set("webhooks.retry_delays", "200ms,200ms,200ms")
        .set("webhooks.timeout", "2s")
        .set("limits.webhook_test_per_minute", "1000");
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    env
}

/// The id and secret of a webhook of the operator.
#[derive(Debug)]
pub(crate) struct CreatedWebhook {
    pub(crate) id: String,
    pub(crate) secret: String,
}

pub(crate) async fn create_webhook(env: &TestEnvironment, receiver: &ScriptedServer, more: Value) -> CreatedWebhook {
    let mut body = json!({"url": receiver.url(), "events": ["alert.triggered"]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let created = env.operator.post("/webhooks", &body).await.expect_ok(201);
    CreatedWebhook {
        id: created.id(),
        secret: created.text_of("secret").to_owned(),
    }
}

/// Creates an alert, fires it and returns its id.
pub(crate) async fn fire_alert(env: &TestEnvironment, threshold: f64) -> String {
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    env.quote("AAPL", threshold).await;
    env.quote("AAPL", 100.0).await;
    id
}

/// Returns the deliveries of a webhook, newest first.
pub(crate) async fn deliveries(env: &TestEnvironment, webhook: &CreatedWebhook) -> Vec<Value> {
    let path = format!("/webhooks/{}/deliveries", webhook.id);
    env.operator.get(&path).await.expect_ok(200).items().to_vec()
}

/// Waits until the newest delivery has a status, and returns it.
pub(crate) async fn wait_for_delivery(env: &TestEnvironment, webhook: &CreatedWebhook, status: &str) -> Value {
    wait_for(&format!("a delivery that is {status}"), || async {
        let newest = deliveries(env, webhook).await.into_iter().next();
        newest.filter(|delivery| delivery["status"] == status)
    })
    .await
}

/// Returns the outcomes of the attempts of a delivery.
pub(crate) fn outcomes(delivery: &Value) -> Vec<&str> {
    let attempts = delivery["attempts"].as_array().unwrap();
    attempts
        .iter()
        .map(|attempt| attempt["outcome"].as_str().unwrap())
        .collect()
}
