//! `GET /alerts/{id}`

use acceptance::market::{bars, flat};
use acceptance::{ServiceSetup, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    response_has_the_stock_under_both_names,
    evaluation_is_ok_with_a_price,
    evaluation_is_waiting_without_history,
    evaluation_is_blind_without_fundamentals,
    malformed_id_is_422,
    unknown_id_is_404,
];

async fn response_has_the_stock_under_both_names(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["AAPL"]).await;
    env.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 210])})).await;
    env.quote("AAPL", 110.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    let read = env.operator.get(&format!("/alerts/{id}")).await.expect_ok(200);
    let stock = &read.data()["stock"];
    assert_eq!(stock, &read.data()["stocks"]);
    // The current price counts as today's close: 49 or 199 closes at 100 and one at 110.
    for (field, expected) in [
        ("name", json!("AAPL Company")),
        ("last_price", json!(110)),
        ("high_52w", json!(110)),
        ("low_52w", json!(100)),
        ("rsi", json!(100)),
        ("ma_50", json!(100.2)),
        ("ma_200", json!(100.05)),
    ] {
        assert_eq!(stock[field], expected, "{field}: {read}");
    }
    assert_eq!(read.data().get("triggered_at"), Some(&Value::Null));
    env.quote("AAPL", 200.0).await;
    let read = env.operator.get(&format!("/alerts/{id}")).await.expect_ok(200);
    assert!(read.data()["triggered_at"].is_string(), "{read}");
}

/// Returns the field `evaluation` of a new alert on AAPL at 100.
async fn evaluation(setup: ServiceSetup, condition: &str, threshold: Value) -> Value {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": condition, "threshold": threshold});
    let id = env.operator.post("/alerts", &body).await.expect_ok(201).id();
    let read = env.operator.get(&format!("/alerts/{id}")).await.expect_ok(200);
    read.data()["evaluation"].clone()
}

async fn evaluation_is_ok_with_a_price(setup: ServiceSetup) {
    let evaluation = evaluation(setup, "price_above", json!(200)).await;
    assert_eq!(evaluation["state"], "ok", "{evaluation}");
    assert!(
        evaluation.get("reason").is_some() && evaluation.get("since").is_some(),
        "{evaluation}"
    );
}

async fn evaluation_is_waiting_without_history(setup: ServiceSetup) {
    let evaluation = evaluation(setup, "ma_crossover_golden", Value::Null).await;
    assert_eq!(evaluation["state"], "waiting", "{evaluation}");
    assert!(evaluation["reason"].is_string(), "{evaluation}");
}

async fn evaluation_is_blind_without_fundamentals(setup: ServiceSetup) {
    let evaluation = evaluation(setup, "pe_ratio_above", json!(20)).await;
    assert_eq!(evaluation["state"], "blind", "{evaluation}");
    assert!(evaluation["reason"].is_string(), "{evaluation}");
}

async fn malformed_id_is_422(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for id in [
        "7",
        "not-a-uuid",
        "00000000-0000-4000-8000-00000000000",
        "%00",
        "%F0%9F%98%80",
    ] {
        let path = format!("/alerts/{id}");
        let _ = env.operator.get(&path).await.expect_error(422, "VALIDATION_ERROR");
        let _ = env
            .operator
            .put(&path, &json!({"threshold": 1}))
            .await
            .expect_error(422, "VALIDATION_ERROR");
        let _ = env.operator.delete(&path).await.expect_error(422, "VALIDATION_ERROR");
        for verb in ["pause", "activate"] {
            let response = env.operator.post_empty(&format!("{path}/{verb}")).await;
            let _ = response.expect_error(422, "VALIDATION_ERROR");
        }
        let _ = env
            .operator
            .get(&format!("{path}/history"))
            .await
            .expect_error(422, "VALIDATION_ERROR");
    }
}

async fn unknown_id_is_404(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let path = "/alerts/11111111-1111-4111-8111-111111111111";
    let _ = env.operator.get(path).await.expect_error(404, "NOT_FOUND");
    let _ = env
        .operator
        .get(&format!("{path}/history"))
        .await
        .expect_error(404, "NOT_FOUND");
    let upper = "/alerts/AAAAAAAA-1111-4111-8111-111111111111";
    let _ = env.operator.get(upper).await.expect_error(404, "NOT_FOUND");
}
