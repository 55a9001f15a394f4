//! What waits for observations and facts: one case after the other, each with a stock of its own.

use acceptance::{Setup, World, on_both_databases};
use serde_json::{Value, json};

use crate::{facts, prices};

on_both_databases![every_condition_fires_at_its_level_and_not_one_step_short];

/// One condition, what is known before the alert is made, and what comes afterwards. In all texts `$` is the symbol.
pub(crate) struct Case {
    pub(crate) condition: &'static str,
    /// Threshold and parameters.
    pub(crate) asked: Value,
    /// What is known before; the stock itself need not be named.
    pub(crate) known: Vec<Value>,
    /// What comes then and must not fire, the last of it one step short.
    pub(crate) quiet: Vec<Value>,
    /// What fires.
    pub(crate) fires: Value,
    /// The price at which it fires.
    pub(crate) price: f64,
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = prices::cases();
    cases.extend(facts::cases());
    cases
}

/// An observation.
pub(crate) fn quote(price: f64) -> Value {
    json!({"quotes": [{"symbol": "$", "price": price}]})
}

/// The batch with the symbol in its place.
fn of(symbol: &str, batch: &Value) -> Value {
    serde_json::from_str(&batch.to_string().replace("\"$\"", &format!("\"{symbol}\""))).unwrap()
}

/// Makes the alert and plays the case; answers the alert's id.
async fn play(world: &World, symbol: &str, case: &Case) -> Result<String, String> {
    world.stocks(&[symbol]).await;
    for batch in &case.known {
        world.ingest(of(symbol, batch)).await;
    }
    let mut body = case.asked.clone();
    body["symbol"] = json!(symbol);
    body["condition"] = json!(case.condition);
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    for batch in &case.quiet {
        world.ingest(of(symbol, batch)).await;
        let (status, firings) = (world.status_of(&id).await, world.firings_of(&id).await);
        if status != "active" || !firings.is_empty() {
            return Err(format!("is {status} after {batch}, which is short of it: {firings:?}"));
        }
    }
    // The same twice: only the first may fire.
    for _ in 0..2 {
        world.ingest(of(symbol, &case.fires)).await;
    }
    fired_once(world, &id, case.price).await.map(|()| id)
}

async fn fired_once(world: &World, id: &str, price: f64) -> Result<(), String> {
    let (status, firings) = (world.status_of(id).await, world.firings_of(id).await);
    let prices: Vec<_> = firings.iter().map(|firing| firing["trigger_price"].as_f64()).collect();
    if status == "triggered" && prices == [Some(price)] {
        Ok(())
    } else {
        let alert = world.me.get(&format!("/alerts/{id}")).await;
        Err(format!(
            "is {status} with firings at {prices:?}, not triggered once at {price}: {alert}"
        ))
    }
}

async fn every_condition_fires_at_its_level_and_not_one_step_short(setup: Setup) {
    let world = setup.world().await;
    let mut faults = Vec::new();
    let mut fired = Vec::new();
    for (place, case) in cases().into_iter().enumerate() {
        match play(&world, &format!("T{place}"), &case).await {
            Ok(id) => fired.push((id, case)),
            Err(fault) => faults.push(format!("{} {}: {fault}", case.condition, case.asked)),
        }
    }
    let world = world.restart().await;
    for (id, case) in &fired {
        if let Err(fault) = fired_once(&world, id, case.price).await {
            faults.push(format!("{} after a crash: {fault}", case.condition));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
