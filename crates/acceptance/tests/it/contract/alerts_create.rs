//! `POST /alerts`: the created alert.

use acceptance::clock::now;
use acceptance::{ServiceSetup, on_both_databases};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

on_both_databases![
    new_alert_is_active_and_has_every_field,
    symbol_is_case_insensitive_and_stored_in_upper_case,
    every_condition_can_be_created,
    alert_on_stock_without_price_has_no_initial_price,
    percent_change_without_price_is_503,
    unknown_symbol_is_404,
    unknown_fields_are_ignored,
    prices_are_exact_to_six_decimals,
    parameters_are_returned_in_canonical_form,
];

async fn new_alert_is_active_and_has_every_field(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 189.2).await;
    let before = now();
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    let created = env.operator.post("/alerts", &body).await.expect_ok(201);
    let alert = created.data();
    for (field, expected) in [
        ("symbol", json!("AAPL")),
        ("condition", json!("price_above")),
        ("threshold", json!(200)),
        ("notification", json!("email")),
        ("status", json!("active")),
        ("initial_price", json!(189.2)),
        ("parameters", Value::Null),
        ("triggered_at", Value::Null),
    ] {
        assert_eq!(alert.get(field), Some(&expected), "{field}: {created}");
    }
    let created_at: Timestamp = created.text_of("created_at").parse().unwrap();
    assert!(
        created_at.duration_since(before).abs() < SignedDuration::from_mins(2),
        "{created}"
    );
    let read = env
        .operator
        .get(&format!("/alerts/{}", created.id()))
        .await
        .expect_ok(200);
    for (field, value) in alert.as_object().unwrap() {
        if field != "evaluation" {
            assert_eq!(&read.data()[field], value, "{field} differs when read: {read}");
        }
    }
}

async fn symbol_is_case_insensitive_and_stored_in_upper_case(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("BRK.B", 400.0).await;
    let body = json!({"symbol": "brk.b", "condition": "price_above", "threshold": 500});
    let created = env.operator.post("/alerts", &body).await.expect_ok(201);
    assert_eq!(created.data()["symbol"], "BRK.B");
}

async fn every_condition_can_be_created(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let tomorrow = (now() + SignedDuration::from_hours(24))
        .strftime("%FT%T%.3fZ")
        .to_string();
    for (condition, threshold, parameters) in [
        ("price_above", json!(200), Value::Null),
        ("price_below", json!(50), Value::Null),
        ("price_change_up", json!(5), Value::Null),
        ("price_change_down", json!(100), Value::Null),
        ("new_high", Value::Null, Value::Null),
        ("new_low", Value::Null, Value::Null),
        ("ma_crossover_golden", Value::Null, Value::Null),
        ("ma_crossover_death", Value::Null, Value::Null),
        ("ma_touch_above", json!(50), Value::Null),
        ("ma_touch_below", json!(400), Value::Null),
        ("rsi_limit", json!(70), json!({"direction": "above"})),
        ("volume_change", json!(150), json!({"volumeBaseline": "ma100"})),
        ("pe_ratio_below", json!(10), Value::Null),
        ("pe_ratio_above", json!(40), Value::Null),
        ("forward_pe_below", json!(10.5), Value::Null),
        ("forward_pe_above", json!(40), Value::Null),
        ("social_buzz", Value::Null, json!({"direction": "rising"})),
        (
            "insider_transactions",
            json!(500_000),
            json!({"direction": "buy", "minExecutives": 2, "windowDays": 7}),
        ),
        ("reminder", Value::Null, json!({"date": tomorrow})),
        (
            "daily_reminder",
            Value::Null,
            json!({"deliveryTime": "after_market_close"}),
        ),
        ("earnings_announcement", json!(3), Value::Null),
        ("dividend_ex_date", json!(1), Value::Null),
        ("dividend_payment", Value::Null, json!({"shares": 12.5})),
    ] {
        let mut body = json!({"symbol": "AAPL", "condition": condition});
        if !threshold.is_null() {
            body["threshold"] = threshold.clone();
        }
        if !parameters.is_null() {
            body["parameters"] = parameters.clone();
        }
        let created = env.operator.post("/alerts", &body).await.expect_ok(201);
        assert_eq!(created.data()["condition"], condition);
        assert_eq!(created.data()["threshold"], threshold, "{created}");
        for (name, value) in parameters.as_object().into_iter().flatten() {
            assert_eq!(&created.data()["parameters"][name], value, "{created}");
        }
    }
}

async fn alert_on_stock_without_price_has_no_initial_price(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["NEWCO"]).await;
    let body = json!({"symbol": "NEWCO", "condition": "price_above", "threshold": 10});
    let created = env.operator.post("/alerts", &body).await.expect_ok(201);
    assert_eq!(created.data()["initial_price"], Value::Null);
}

async fn percent_change_without_price_is_503(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stocks(&["NEWCO"]).await;
    for condition in ["price_change_up", "price_change_down"] {
        let body = json!({"symbol": "NEWCO", "condition": condition, "threshold": 10});
        let refused = env.operator.post("/alerts", &body).await;
        let _ = refused.expect_error(503, "SERVICE_UNAVAILABLE");
    }
}

async fn unknown_symbol_is_404(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let body = json!({"symbol": "NOSUCH", "condition": "price_above", "threshold": 10});
    let _ = env.operator.post("/alerts", &body).await.expect_error(404, "NOT_FOUND");
}

async fn unknown_fields_are_ignored(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "colour": "red", "id": 7});
    let _ = env.operator.post("/alerts", &body).await.expect_ok(201);
}

async fn prices_are_exact_to_six_decimals(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 0.000_001).await;
    for threshold in [0.000_002, 198.660_001, 1_234_567.654_321] {
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
        let created = env.operator.post("/alerts", &body).await.expect_ok(201);
        assert_eq!(created.data()["threshold"], threshold);
        assert_eq!(created.data()["initial_price"], 0.000_001);
    }
}

async fn parameters_are_returned_in_canonical_form(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "daily_reminder",
        "parameters": {"delivery_time": "after_market_close", "note": "mine"}});
    let created = env.operator.post("/alerts", &body).await.expect_ok(201);
    assert_eq!(created.data()["parameters"]["deliveryTime"], "after_market_close");
    assert_eq!(created.data()["parameters"].get("delivery_time"), None, "{created}");
    assert_eq!(created.data()["parameters"]["note"], "mine");
}
