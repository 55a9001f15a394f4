//! `POST /alerts`: what is refused, and which field is named.

use acceptance::{Setup, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    a_wrong_body_is_refused_by_the_field_that_is_wrong,
    a_threshold_is_refused_where_none_belongs,
    a_threshold_is_demanded_where_one_belongs,
    all_faults_are_told_at_once,
    a_refused_alert_is_not_made,
    the_message_names_the_mend,
];

/// A sound alert with one field changed.
fn sound_but(field: &str, value: Value) -> Value {
    let mut body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
    body[field] = value;
    body
}

/// An alert of that condition.
fn of(condition: &str, threshold: Value, parameters: Value) -> Value {
    json!({"symbol": "AAPL", "condition": condition, "threshold": threshold, "parameters": parameters})
}

async fn a_wrong_body_is_refused_by_the_field_that_is_wrong(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    for (body, field) in [
        (json!({"condition": "price_above", "threshold": 1}), "symbol"),
        (json!({"symbol": "AAPL", "threshold": 1}), "condition"),
        (sound_but("symbol", json!("")), "symbol"),
        (sound_but("symbol", json!("A B")), "symbol"),
        (sound_but("symbol", json!("ELEVENCHARS")), "symbol"),
        (sound_but("symbol", json!("ÄÖÜ")), "symbol"),
        (sound_but("symbol", json!(5)), "symbol"),
        (sound_but("symbol", Value::Null), "symbol"),
        (sound_but("condition", json!("to_the_moon")), "condition"),
        (sound_but("condition", json!(["price_above"])), "condition"),
        (sound_but("threshold", json!("200")), "threshold"),
        (sound_but("threshold", json!(0)), "threshold"),
        (sound_but("threshold", json!(-1)), "threshold"),
        (sound_but("threshold", json!(true)), "threshold"),
        (sound_but("threshold", json!(1e300)), "threshold"),
        (sound_but("notification", json!("pigeon")), "notification"),
        (sound_but("notification", json!(1)), "notification"),
        (sound_but("parameters", json!("none")), "parameters"),
        (sound_but("parameters", json!([])), "parameters"),
        (of("price_change_up", json!(0), Value::Null), "threshold"),
        (of("price_change_down", json!(100.000_001), Value::Null), "threshold"),
        (of("ma_touch_above", json!(1), Value::Null), "threshold"),
        (of("ma_touch_above", json!(401), Value::Null), "threshold"),
        (of("ma_touch_below", json!(50.5), Value::Null), "threshold"),
        (of("rsi_limit", json!(-1), Value::Null), "threshold"),
        (of("rsi_limit", json!(100.1), Value::Null), "threshold"),
        (
            of("rsi_limit", json!(70), json!({"direction": "sideways"})),
            "parameters.direction",
        ),
        (of("volume_change", json!(0), Value::Null), "threshold"),
        (
            of("volume_change", json!(50), json!({"volumeBaseline": "ma7"})),
            "parameters.volumeBaseline",
        ),
        (of("pe_ratio_above", json!(0), Value::Null), "threshold"),
        (of("insider_transactions", json!(0), Value::Null), "threshold"),
        (
            of("insider_transactions", json!(1), json!({"direction": "hold"})),
            "parameters.direction",
        ),
        (
            of("insider_transactions", json!(1), json!({"minExecutives": 0})),
            "parameters.minExecutives",
        ),
        (
            of("insider_transactions", json!(1), json!({"windowDays": 0})),
            "parameters.windowDays",
        ),
        (
            of("insider_transactions", json!(1), json!({"openMarketOnly": "yes"})),
            "parameters.openMarketOnly",
        ),
        (of("social_buzz", Value::Null, Value::Null), "parameters.direction"),
        (
            of("social_buzz", Value::Null, json!({"direction": "up"})),
            "parameters.direction",
        ),
        (of("earnings_announcement", json!(366), Value::Null), "threshold"),
        (of("earnings_announcement", json!(-1), Value::Null), "threshold"),
        (of("earnings_announcement", json!(1.5), Value::Null), "threshold"),
        (of("dividend_ex_date", json!(366), Value::Null), "threshold"),
        (
            of("dividend_payment", Value::Null, json!({"shares": 0})),
            "parameters.shares",
        ),
        (
            of("daily_reminder", Value::Null, json!({"deliveryTime": "noon"})),
            "parameters.deliveryTime",
        ),
        (
            of("reminder", Value::Null, json!({"date": "2020-01-01"})),
            "parameters.date",
        ),
        (of("reminder", Value::Null, json!({"date": "soon"})), "parameters.date"),
        (of("reminder", Value::Null, Value::Null), "parameters.date"),
    ] {
        let _ = world.me.post("/alerts", &body).await.wrong_field(field);
    }
}

async fn a_threshold_is_refused_where_none_belongs(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    for condition in [
        "new_high",
        "new_low",
        "ma_crossover_golden",
        "ma_crossover_death",
        "daily_reminder",
        "dividend_payment",
        "social_buzz",
    ] {
        let body = of(condition, json!(1), json!({"direction": "rising"}));
        let refused = world.me.post("/alerts", &body).await.wrong_field("threshold");
        let fault = refused.body["error"]["details"]["fields"]["threshold"][0]
            .as_str()
            .unwrap();
        assert!(fault.contains("omitted") && fault.contains(condition), "{refused}");
    }
}

async fn a_threshold_is_demanded_where_one_belongs(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
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
        let _ = world.me.post("/alerts", &body).await.wrong_field("threshold");
        let null = of(condition, Value::Null, Value::Null);
        let _ = world.me.post("/alerts", &null).await.wrong_field("threshold");
    }
}

async fn all_faults_are_told_at_once(setup: Setup) {
    let world = setup.world().await;
    let body = json!({"condition": "price_above", "threshold": "much", "notification": "pigeon"});
    let refused = world.me.post("/alerts", &body).await;
    let refused = refused.wrong_field("symbol").wrong_field("threshold");
    let _ = refused.wrong_field("notification");
}

async fn a_refused_alert_is_not_made(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let _ = world
        .me
        .post("/alerts", &sound_but("threshold", json!(-1)))
        .await
        .wrong_field("threshold");
    assert_eq!(world.me.get("/alerts").await.ok(200).items().len(), 0);
}

async fn the_message_names_the_mend(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let refused = world
        .me
        .post("/alerts", &sound_but("notification", json!("pigeon")))
        .await;
    let refused = refused.wrong_field("notification");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("notification") && message.contains("email"),
        "{refused}"
    );
}
