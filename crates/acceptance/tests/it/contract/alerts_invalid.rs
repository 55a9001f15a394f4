//! `POST /alerts`: rejected requests and the reported fields.

use acceptance::{ServiceSetup, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    invalid_field_is_422_with_field_name,
    threshold_is_rejected_where_not_allowed,
    threshold_is_required_where_needed,
    all_errors_are_reported_together,
    rejected_alert_is_not_created,
    message_lists_the_allowed_values,
];

/// Returns a valid request with one field changed.
fn valid_except(field: &str, value: Value) -> Value {
    let mut body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    body[field] = value;
    body
}

/// Returns a request with this condition.
fn request(condition: &str, threshold: Value, parameters: Value) -> Value {
    json!({"symbol": "AAPL", "condition": condition, "threshold": threshold, "parameters": parameters})
}

async fn invalid_field_is_422_with_field_name(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    for (body, field) in [
        (json!({"condition": "price_above", "threshold": 1}), "symbol"),
        (json!({"symbol": "AAPL", "threshold": 1}), "condition"),
        (valid_except("symbol", json!("")), "symbol"),
        (valid_except("symbol", json!("A B")), "symbol"),
        (valid_except("symbol", json!("ELEVENCHARS")), "symbol"),
        (valid_except("symbol", json!("ÄÖÜ")), "symbol"),
        (valid_except("symbol", json!(5)), "symbol"),
        (valid_except("symbol", Value::Null), "symbol"),
        (valid_except("condition", json!("to_the_moon")), "condition"),
        (valid_except("condition", json!(["price_above"])), "condition"),
        (valid_except("threshold", json!("200")), "threshold"),
        (valid_except("threshold", json!(0)), "threshold"),
        (valid_except("threshold", json!(-1)), "threshold"),
        (valid_except("threshold", json!(true)), "threshold"),
        (valid_except("threshold", json!(1e300)), "threshold"),
        (valid_except("notification", json!("pigeon")), "notification"),
        (valid_except("notification", json!(1)), "notification"),
        (valid_except("parameters", json!("none")), "parameters"),
        (valid_except("parameters", json!([])), "parameters"),
        (request("price_change_up", json!(0), Value::Null), "threshold"),
        (
            request("price_change_down", json!(100.000_001), Value::Null),
            "threshold",
        ),
        (request("ma_touch_above", json!(1), Value::Null), "threshold"),
        (request("ma_touch_above", json!(401), Value::Null), "threshold"),
        (request("ma_touch_below", json!(50.5), Value::Null), "threshold"),
        (request("rsi_limit", json!(-1), Value::Null), "threshold"),
        (request("rsi_limit", json!(100.1), Value::Null), "threshold"),
        (
            request("rsi_limit", json!(70), json!({"direction": "sideways"})),
            "parameters.direction",
        ),
        (request("volume_change", json!(0), Value::Null), "threshold"),
        (
            request("volume_change", json!(50), json!({"volumeBaseline": "ma7"})),
            "parameters.volumeBaseline",
        ),
        (request("pe_ratio_above", json!(0), Value::Null), "threshold"),
        (request("insider_transactions", json!(0), Value::Null), "threshold"),
        (
            request("insider_transactions", json!(1), json!({"direction": "hold"})),
            "parameters.direction",
        ),
        (
            request("insider_transactions", json!(1), json!({"minExecutives": 0})),
            "parameters.minExecutives",
        ),
        (
            request("insider_transactions", json!(1), json!({"windowDays": 0})),
            "parameters.windowDays",
        ),
        (
            request("insider_transactions", json!(1), json!({"openMarketOnly": "yes"})),
            "parameters.openMarketOnly",
        ),
        (request("social_buzz", Value::Null, Value::Null), "parameters.direction"),
        (
            request("social_buzz", Value::Null, json!({"direction": "up"})),
            "parameters.direction",
        ),
        (request("earnings_announcement", json!(366), Value::Null), "threshold"),
        (request("earnings_announcement", json!(-1), Value::Null), "threshold"),
        (request("earnings_announcement", json!(1.5), Value::Null), "threshold"),
        (request("dividend_ex_date", json!(366), Value::Null), "threshold"),
        (
            request("dividend_payment", Value::Null, json!({"shares": 0})),
            "parameters.shares",
        ),
        (
            request("daily_reminder", Value::Null, json!({"deliveryTime": "noon"})),
            "parameters.deliveryTime",
        ),
        (
            request("reminder", Value::Null, json!({"date": "2020-01-01"})),
            "parameters.date",
        ),
        (
            request("reminder", Value::Null, json!({"date": "soon"})),
            "parameters.date",
        ),
        (request("reminder", Value::Null, Value::Null), "parameters.date"),
    ] {
        let _ = env.operator.post("/alerts", &body).await.expect_field_error(field);
    }
}

async fn threshold_is_rejected_where_not_allowed(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    for condition in [
        "new_high",
        "new_low",
        "ma_crossover_golden",
        "ma_crossover_death",
        "daily_reminder",
        "dividend_payment",
        "social_buzz",
    ] {
        let body = request(condition, json!(1), json!({"direction": "rising"}));
        let refused = env
            .operator
            .post("/alerts", &body)
            .await
            .expect_field_error("threshold");
        let message = refused.body["error"]["details"]["fields"]["threshold"][0]
            .as_str()
            .unwrap();
        assert!(message.contains("omitted") && message.contains(condition), "{refused}");
    }
}

async fn threshold_is_required_where_needed(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    for condition in [
        "price_above",
        "price_below",
        "price_change_up",
        "price_change_down",
        "ma_touch_above",
        "ma_touch_below",
        "rsi_limit",
        "volume_change",
        "pe_ratio_below",
        "pe_ratio_above",
        "forward_pe_below",
        "forward_pe_above",
        "insider_transactions",
        "earnings_announcement",
    ] {
        let body = json!({"symbol": "AAPL", "condition": condition});
        let _ = env
            .operator
            .post("/alerts", &body)
            .await
            .expect_field_error("threshold");
        let null = request(condition, Value::Null, Value::Null);
        let _ = env
            .operator
            .post("/alerts", &null)
            .await
            .expect_field_error("threshold");
    }
}

async fn all_errors_are_reported_together(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let body = json!({"condition": "price_above", "threshold": "much", "notification": "pigeon"});
    let refused = env.operator.post("/alerts", &body).await;
    let refused = refused.expect_field_error("symbol").expect_field_error("threshold");
    let _ = refused.expect_field_error("notification");
}

async fn rejected_alert_is_not_created(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let _ = env
        .operator
        .post("/alerts", &valid_except("threshold", json!(-1)))
        .await
        .expect_field_error("threshold");
    assert_eq!(env.operator.get("/alerts").await.expect_ok(200).items().len(), 0);
}

async fn message_lists_the_allowed_values(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let refused = env
        .operator
        .post("/alerts", &valid_except("notification", json!("pigeon")))
        .await;
    let refused = refused.expect_field_error("notification");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("notification") && message.contains("email"),
        "{refused}"
    );
}
