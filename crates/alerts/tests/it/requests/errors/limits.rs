//! The limits of thresholds and parameters, from both sides.

use super::*;

#[test]
fn thresholds_are_accepted_up_to_their_limits() {
    let table = [
        (
            "price_above",
            json!(0.000001),
            json!(0),
            "a price in US dollars above 0 and at most 1000000000",
        ),
        (
            "price_below",
            json!(1e9),
            json!(1000000000.000001),
            "a price in US dollars above 0 and at most 1000000000",
        ),
        ("price_change_up", json!(0.000001), json!(0), "a percentage above 0"),
        (
            "price_change_down",
            json!(0.000001),
            json!(-0.000001),
            "a percentage above 0 and at most 100",
        ),
        (
            "price_change_down",
            json!(100),
            json!(100.000001),
            "a percentage above 0 and at most 100",
        ),
        (
            "ma_touch_above",
            json!(2),
            json!(1),
            "a whole number of sessions from 2 to 400",
        ),
        (
            "ma_touch_below",
            json!(400),
            json!(401),
            "a whole number of sessions from 2 to 400",
        ),
        (
            "ma_touch_below",
            json!(50),
            json!(50.5),
            "a whole number of sessions from 2 to 400",
        ),
        ("rsi_limit", json!(0), json!(-0.000001), "a number from 0 to 100"),
        ("rsi_limit", json!(100), json!(100.000001), "a number from 0 to 100"),
        ("volume_change", json!(0.000001), json!(0), "a percentage above 0"),
        ("pe_ratio_below", json!(0.000001), json!(0), "a ratio above 0"),
        ("forward_pe_above", json!(0.000001), json!(-3), "a ratio above 0"),
        (
            "insider_transactions",
            json!(0.01),
            json!(0),
            "an amount in US dollars above 0",
        ),
        (
            "earnings_announcement",
            json!(0),
            json!(-1),
            "a whole number of days from 0 to 365",
        ),
        (
            "earnings_announcement",
            json!(365),
            json!(366),
            "a whole number of days from 0 to 365",
        ),
        (
            "earnings_announcement",
            json!(3),
            json!(3.5),
            "a whole number of days from 0 to 365",
        ),
        (
            "dividend_ex_date",
            json!(0),
            json!(-1),
            "a whole number of days from 0 to 365",
        ),
        (
            "dividend_ex_date",
            json!(365),
            json!(366),
            "a whole number of days from 0 to 365",
        ),
    ];
    for (name, taken, rejected, allowed) in table {
        assert_eq!(
            message(&body(name, &json!({"threshold": taken}))),
            "taken",
            "{name} {taken}"
        );
        let message_text = message(&body(name, &json!({"threshold": rejected})));
        let number: Decimal = rejected.to_string().parse().unwrap();
        assert_eq!(
            message_text,
            format!("threshold: must be {allowed} for {name}, but is {number}")
        );
    }
}

#[test]
fn non_numeric_threshold_is_rejected_with_a_fix() {
    let price = "a price in US dollars above 0 and at most 1000000000";
    for (threshold, expected) in [
        (
            json!("200"),
            "must be a number, not a string; write 200 without quotes".to_owned(),
        ),
        (
            json!(" 1.50 "),
            "must be a number, not a string; write 1.5 without quotes".to_owned(),
        ),
        (
            json!("<b>"),
            format!("must be a number, not a string; it must be {price}"),
        ),
        (
            json!(true),
            format!("must be a number, not a boolean; it must be {price}"),
        ),
        (
            json!([200]),
            format!("must be a number, not an array; it must be {price}"),
        ),
        (
            json!({}),
            format!("must be a number, not an object; it must be {price}"),
        ),
        (json!(1e300), format!("is too large; it must be {price}")),
        (Value::Null, format!("is required for price_above; it must be {price}")),
    ] {
        let message_text = message(&body("price_above", &json!({"threshold": threshold})));
        assert_eq!(message_text, format!("threshold: {expected}"));
    }
}

#[test]
fn parameters_are_accepted_up_to_their_limits() {
    let insiders = |parameters: Value| {
        body(
            "insider_transactions",
            &json!({"threshold": 1, "parameters": parameters}),
        )
    };
    let payment = |parameters: Value| body("dividend_payment", &json!({"parameters": parameters}));
    for (taken, rejected, expected) in [
        (
            insiders(json!({"minExecutives": 1})),
            insiders(json!({"minExecutives": 0})),
            "parameters.minExecutives: must be a whole number from 1 to 100, but is 0",
        ),
        (
            insiders(json!({"minExecutives": 100})),
            insiders(json!({"minExecutives": 101})),
            "parameters.minExecutives: must be a whole number from 1 to 100, but is 101",
        ),
        (
            insiders(json!({"windowDays": 1})),
            insiders(json!({"window_days": 1.5})),
            "parameters.window_days: must be a whole number of days from 1 to 365, but is 1.5",
        ),
        (
            insiders(json!({"windowDays": 365})),
            insiders(json!({"windowDays": 366})),
            "parameters.windowDays: must be a whole number of days from 1 to 365, but is 366",
        ),
        (
            insiders(json!({"openMarketOnly": true})),
            insiders(json!({"openMarketOnly": 1})),
            "parameters.openMarketOnly: must be true or false, not a number",
        ),
        (
            insiders(json!({"direction": "both"})),
            insiders(json!({"direction": "above"})),
            "parameters.direction: must be buy, sell or both",
        ),
        (
            payment(json!({"shares": 0.000001})),
            payment(json!({"shares": 0})),
            "parameters.shares: must be a number of shares above 0, but is 0",
        ),
        (
            payment(json!({"shares": null})),
            payment(json!({"shares": "10"})),
            "parameters.shares: must be a number, not a string; write 10 without quotes",
        ),
        (
            body("social_buzz", &json!({"parameters": {"direction": "falling"}})),
            body("social_buzz", &json!({"parameters": {"direction": "up"}})),
            "parameters.direction: must be rising or falling",
        ),
        (
            body("social_buzz", &json!({"parameters": {"direction": "rising"}})),
            body("social_buzz", &json!({})),
            "parameters.direction: is required for social_buzz; it must be rising or falling",
        ),
        (
            body(
                "rsi_limit",
                &json!({"threshold": 70, "parameters": {"direction": "both"}}),
            ),
            body(
                "rsi_limit",
                &json!({"threshold": 70, "parameters": {"direction": "Above"}}),
            ),
            "parameters.direction: must be above, below or both",
        ),
        (
            body(
                "volume_change",
                &json!({"threshold": 9, "parameters": {"volumeBaseline": "ma100"}}),
            ),
            body(
                "volume_change",
                &json!({"threshold": 9, "parameters": {"volumeBaseline": 100}}),
            ),
            "parameters.volumeBaseline: must be ma20, ma50 or ma100",
        ),
        (
            body(
                "daily_reminder",
                &json!({"parameters": {"delivery_time": "market_open"}}),
            ),
            body("daily_reminder", &json!({"parameters": {"delivery_time": "noon"}})),
            "parameters.delivery_time: must be market_open or after_market_close",
        ),
        (
            body(
                "daily_reminder",
                &json!({"parameters": {"deliveryTime": "market_open"}}),
            ),
            body(
                "daily_reminder",
                &json!({"parameters": {
                    "deliveryTime": "market_open", "delivery_time": "after_market_close"
                }}),
            ),
            "parameters.delivery_time: contradicts parameters.deliveryTime; \
             send only parameters.deliveryTime",
        ),
    ] {
        assert_eq!(message(&taken), "taken", "{taken}");
        assert_eq!(message(&rejected), expected);
    }
}
