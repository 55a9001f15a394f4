//! `GET /alerts/{id}`

use acceptance::market::{bars, flat};
use acceptance::{Setup, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    a_single_read_shows_the_stock_twice,
    an_alert_that_can_be_judged_says_so,
    an_alert_that_waits_for_history_says_so,
    an_alert_that_cannot_be_judged_says_so,
    an_id_that_is_none_is_refused,
    an_id_that_nobody_has_is_not_found,
];

async fn a_single_read_shows_the_stock_twice(setup: Setup) {
    let world = setup.world().await;
    world.stocks(&["AAPL"]).await;
    world.ingest(json!({"bars": bars("AAPL", &[flat(100.0); 210])})).await;
    world.quote("AAPL", 110.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    let read = world.me.get(&format!("/alerts/{id}")).await.ok(200);
    let stock = &read.data()["stock"];
    assert_eq!(stock, &read.data()["stocks"]);
    // The current price stands in for today's close: 49 or 199 closes at 100 and one at 110.
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
    world.quote("AAPL", 200.0).await;
    let read = world.me.get(&format!("/alerts/{id}")).await.ok(200);
    assert!(read.data()["triggered_at"].is_string(), "{read}");
}

/// How an alert of AAPL at 100 says it is judged.
async fn evaluation(setup: Setup, condition: &str, threshold: Value) -> Value {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": condition, "threshold": threshold});
    let id = world.me.post("/alerts", &body).await.ok(201).id();
    let read = world.me.get(&format!("/alerts/{id}")).await.ok(200);
    read.data()["evaluation"].clone()
}

async fn an_alert_that_can_be_judged_says_so(setup: Setup) {
    let evaluation = evaluation(setup, "price_above", json!(200)).await;
    assert_eq!(evaluation["state"], "ok", "{evaluation}");
    assert!(
        evaluation.get("reason").is_some() && evaluation.get("since").is_some(),
        "{evaluation}"
    );
}

async fn an_alert_that_waits_for_history_says_so(setup: Setup) {
    let evaluation = evaluation(setup, "ma_crossover_golden", Value::Null).await;
    assert_eq!(evaluation["state"], "waiting", "{evaluation}");
    assert!(evaluation["reason"].is_string(), "{evaluation}");
}

async fn an_alert_that_cannot_be_judged_says_so(setup: Setup) {
    let evaluation = evaluation(setup, "pe_ratio_above", json!(20)).await;
    assert_eq!(evaluation["state"], "blind", "{evaluation}");
    assert!(evaluation["reason"].is_string(), "{evaluation}");
}

async fn an_id_that_is_none_is_refused(setup: Setup) {
    let world = setup.world().await;
    for id in [
        "7",
        "not-a-uuid",
        "00000000-0000-4000-8000-00000000000",
        "%00",
        "%F0%9F%98%80",
    ] {
        let path = format!("/alerts/{id}");
        let _ = world.me.get(&path).await.refused(422, "VALIDATION_ERROR");
        let _ = world
            .me
            .put(&path, &json!({"threshold": 1}))
            .await
            .refused(422, "VALIDATION_ERROR");
        let _ = world.me.delete(&path).await.refused(422, "VALIDATION_ERROR");
        for verb in ["pause", "activate"] {
            let answer = world.me.post_empty(&format!("{path}/{verb}")).await;
            let _ = answer.refused(422, "VALIDATION_ERROR");
        }
        let _ = world
            .me
            .get(&format!("{path}/history"))
            .await
            .refused(422, "VALIDATION_ERROR");
    }
}

async fn an_id_that_nobody_has_is_not_found(setup: Setup) {
    let world = setup.world().await;
    let path = "/alerts/11111111-1111-4111-8111-111111111111";
    let _ = world.me.get(path).await.refused(404, "NOT_FOUND");
    let _ = world.me.get(&format!("{path}/history")).await.refused(404, "NOT_FOUND");
    let upper = "/alerts/AAAAAAAA-1111-4111-8111-111111111111";
    let _ = world.me.get(upper).await.refused(404, "NOT_FOUND");
}
