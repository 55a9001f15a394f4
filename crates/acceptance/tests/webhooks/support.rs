//! A world whose webhooks may call this machine.

use acceptance::clock::wait_for;
use acceptance::{Receiver, Setup, World};
use serde_json::{Value, json};

/// A world in which this machine may be called, and what failed is tried again soon.
pub(crate) async fn world(setup: Setup) -> World {
    let setup = setup
        .set("webhooks.allow_private_cidrs", "127.0.0.0/8")
        .set("webhooks.retry_delays", "200ms,200ms,200ms")
        .set("webhooks.timeout", "2s")
        .set("limits.webhook_test_per_minute", "1000");
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    world
}

/// A webhook of the operator, and its secret.
#[derive(Debug)]
pub(crate) struct Hook {
    pub(crate) id: String,
    pub(crate) secret: String,
}

pub(crate) async fn hook(world: &World, receiver: &Receiver, more: Value) -> Hook {
    let mut body = json!({"url": receiver.url(), "events": ["alert.triggered"]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = world.me.post("/webhooks", &body).await.ok(201);
    Hook {
        id: made.id(),
        secret: made.text_of("secret").to_owned(),
    }
}

/// Lets an alert fire, and answers its id.
pub(crate) async fn fire(world: &World, threshold: f64) -> String {
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    world.quote("AAPL", threshold).await;
    world.quote("AAPL", 100.0).await;
    id
}

/// A webhook's deliveries, newest first.
pub(crate) async fn deliveries(world: &World, hook: &Hook) -> Vec<Value> {
    let path = format!("/webhooks/{}/deliveries", hook.id);
    world.me.get(&path).await.ok(200).items().to_vec()
}

/// Waits until the newest delivery is of a status, and answers it.
pub(crate) async fn settled(world: &World, hook: &Hook, status: &str) -> Value {
    wait_for(&format!("a delivery that is {status}"), || async {
        let newest = deliveries(world, hook).await.into_iter().next();
        newest.filter(|delivery| delivery["status"] == status)
    })
    .await
}

/// What came of the attempts of a delivery.
pub(crate) fn outcomes(delivery: &Value) -> Vec<&str> {
    let attempts = delivery["attempts"].as_array().unwrap();
    attempts
        .iter()
        .map(|attempt| attempt["outcome"].as_str().unwrap())
        .collect()
}
