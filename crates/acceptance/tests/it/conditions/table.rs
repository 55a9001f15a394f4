//! Conditions on market data: a table of cases, each with a separate stock.

use acceptance::{ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};

use crate::conditions::{facts, prices};

on_both_databases![every_condition_fires_exactly_at_its_threshold];

/// One condition with the market data before and after the creation of the alert. `$` stands for the symbol.
pub(crate) struct ConditionCase {
    pub(crate) condition: &'static str,
    /// Threshold and parameters of the alert.
    pub(crate) settings: Value,
    /// Data pushed before the alert is created; the stock itself exists already.
    pub(crate) data_before: Vec<Value>,
    /// Data pushed afterwards that must not fire the alert; the last is one step short of the threshold.
    pub(crate) not_firing: Vec<Value>,
    /// Data that fires the alert.
    pub(crate) firing: Value,
    /// Price at which the alert fires.
    pub(crate) price: f64,
}

pub(crate) fn cases() -> Vec<ConditionCase> {
    let mut cases = prices::cases();
    cases.extend(facts::cases());
    cases
}

/// Returns a batch with one quote.
pub(crate) fn quote(price: f64) -> Value {
    json!({"quotes": [{"symbol": "$", "price": price}]})
}

/// Returns the batch with the symbol in place of `$`.
fn for_symbol(symbol: &str, batch: &Value) -> Value {
    serde_json::from_str(&batch.to_string().replace("\"$\"", &format!("\"{symbol}\""))).unwrap()
}

/// Creates the alert, pushes the data of the case and returns the alert's id.
async fn run_case(env: &TestEnvironment, symbol: &str, case: &ConditionCase) -> Result<String, String> {
    env.stocks(&[symbol]).await;
    for batch in &case.data_before {
        env.ingest(for_symbol(symbol, batch)).await;
    }
    let mut body = case.settings.clone();
    body["symbol"] = json!(symbol);
    body["condition"] = json!(case.condition);
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    for batch in &case.not_firing {
        env.ingest(for_symbol(symbol, batch)).await;
        let (status, firings) = (env.status_of(&id).await, env.firings_of(&id).await);
        if status != "active" || !firings.is_empty() {
            return Err(format!(
                "is {status} after {batch}, which must not fire it: {firings:?}"
            ));
        }
    }
    // The same data twice: only the first push fires the alert.
    for _ in 0..2 {
        env.ingest(for_symbol(symbol, &case.firing)).await;
    }
    check_fired_once(env, &id, case.price).await.map(|()| id)
}

async fn check_fired_once(env: &TestEnvironment, id: &str, price: f64) -> Result<(), String> {
    let (status, firings) = (env.status_of(id).await, env.firings_of(id).await);
    let prices: Vec<_> = firings.iter().map(|firing| firing["trigger_price"].as_f64()).collect();
    if status == "triggered" && prices == [Some(price)] {
        Ok(())
    } else {
        let alert = env.operator.get(&format!("/alerts/{id}")).await;
        Err(format!(
            "is {status} with firings at {prices:?}, not triggered once at {price}: {alert}"
        ))
    }
}

async fn every_condition_fires_exactly_at_its_threshold(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let mut failures = Vec::new();
    let mut fired = Vec::new();
    for (index, case) in cases().into_iter().enumerate() {
        match run_case(&env, &format!("T{index}"), &case).await {
            Ok(id) => fired.push((id, case)),
            Err(failure) => failures.push(format!("{} {}: {failure}", case.condition, case.settings)),
        }
    }
    let env = env.restart().await;
    for (id, case) in &fired {
        if let Err(failure) = check_fired_once(&env, id, case.price).await {
            failures.push(format!("{} after a crash: {failure}", case.condition));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
