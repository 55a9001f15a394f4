//! Rejected requests and their messages.

use alerts::request::{MAX_PARAMETERS_BYTES, MAX_PARAMETERS_DEPTH, RequestError};
use market::Decimal;
use serde_json::{Value, json};

use crate::requests::support::{body, create, errors_of};

fn message(body: &Value) -> String {
    create(body).map_or_else(|error| error.to_string(), |_| "taken".to_owned())
}

#[test]
fn non_object_body_is_a_separate_error() {
    for (body, found) in [
        (json!(null), "null"),
        (json!([]), "an array"),
        (json!("{}"), "a string"),
        (json!(1), "a number"),
        (json!(true), "a boolean"),
    ] {
        assert_eq!(create(&body), Err(RequestError::NotAnObject { found }));
    }
    assert_eq!(message(&json!([])), "the body must be a JSON object, not an array");
}

#[test]
fn all_errors_of_a_body_are_reported_together() {
    let errors = errors_of(create(&json!({
        "symbol": "TOO LONG!", "condition": "insider_transactions", "threshold": -1,
        "notification": "fax", "email": "nobody",
        "parameters": {
            "direction": "up", "minExecutives": 0, "windowDays": "7", "openMarketOnly": "yes"
        }
    })));
    let fields: Vec<_> = errors.iter().map(|(field, _)| field).collect();
    assert_eq!(
        fields,
        [
            "email",
            "notification",
            "parameters.direction",
            "parameters.minExecutives",
            "parameters.openMarketOnly",
            "parameters.windowDays",
            "symbol",
            "threshold"
        ]
    );
}

#[test]
fn error_in_one_field_does_not_hide_others() {
    for (body, fields) in [
        (json!({}), vec!["condition", "symbol"]),
        (
            json!({"condition": "nope", "threshold": "x"}),
            vec!["condition", "symbol", "threshold"],
        ),
        (
            json!({"symbol": "A", "condition": "nope", "parameters": 1}),
            vec!["condition", "parameters"],
        ),
        (
            json!({"symbol": "A", "condition": "new_high", "threshold": 1, "parameters": []}),
            vec!["parameters", "threshold"],
        ),
        (
            json!({"symbol": "A", "condition": "social_buzz", "parameters": "rising"}),
            vec!["parameters"],
        ),
        (
            json!({"symbol": "A", "condition": "social_buzz", "threshold": 1}),
            vec!["parameters.direction", "threshold"],
        ),
        (
            json!({"symbol": "A", "condition": "rsi_limit", "parameters": {"direction": "left"}}),
            vec!["parameters.direction", "threshold"],
        ),
    ] {
        let errors = errors_of(create(&body));
        let found: Vec<_> = errors.iter().map(|(field, _)| field).collect();
        assert_eq!(found, fields, "{body}");
    }
}

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

#[test]
fn invalid_symbol_or_condition_is_rejected_with_allowed_values() {
    let with_symbol = |symbol: Value| json!({"symbol": symbol, "condition": "new_high"});
    for (body, expected) in [
        (
            json!({"condition": "new_high"}),
            "symbol: is required; give a ticker such as AAPL",
        ),
        (
            with_symbol(Value::Null),
            "symbol: is required; give a ticker such as AAPL",
        ),
        (
            with_symbol(json!(" ")),
            "symbol: must not be empty; give a ticker such as AAPL",
        ),
        (
            with_symbol(json!("ABCDEFGHIJK")),
            "symbol: must have at most 10 characters; give a ticker such as BRK.B",
        ),
        (
            with_symbol(json!("A$PL")),
            "symbol: must consist of A-Z, 0-9, '.' and '-'; give a ticker such as BRK.B",
        ),
        (
            with_symbol(json!(5)),
            "symbol: must be a string, not a number; give a ticker such as AAPL",
        ),
        (with_symbol(json!("ABCDEFGHIJ")), "taken"),
    ] {
        assert_eq!(message(&body), expected);
    }
    for condition in [json!("PRICE_ABOVE"), json!(""), json!(1), json!([])] {
        let message_text = message(&json!({"symbol": "AAPL", "condition": condition}));
        assert!(
            message_text.starts_with("condition: must be one of price_above, price_below, "),
            "{message_text}"
        );
    }
    let message_text = message(&json!({"symbol": "AAPL", "condition": null}));
    assert!(
        message_text.starts_with("condition: is required; give one of price_above, "),
        "{message_text}"
    );
}

#[test]
fn notification_is_email_or_sms_in_lower_case() {
    for value in [json!("SMS"), json!("push"), json!(1), json!("")] {
        let message_text = message(&body("new_high", &json!({"notification": value})));
        assert_eq!(message_text, "notification: must be email or sms");
    }
}

#[test]
fn parameters_are_limited_in_type_size_and_depth() {
    let with = |parameters: &Value| message(&body("new_high", &json!({"parameters": parameters})));
    assert_eq!(with(&json!("x")), "parameters: must be an object or null, not a string");

    // `{"a":"…"}` has eight bytes besides the text.
    let text = |bytes: usize| json!({"a": "x".repeat(bytes - 8)});
    assert_eq!(with(&text(MAX_PARAMETERS_BYTES)), "taken");
    assert_eq!(
        with(&text(MAX_PARAMETERS_BYTES + 1)),
        "parameters: must have at most 16384 bytes as JSON, but have 16385; send less"
    );

    let nested = |depth: usize| {
        let mut value = json!(1);
        for _ in 1..depth {
            value = json!([value]);
        }
        json!({"a": value})
    };
    let too_deep = "parameters: must not be nested deeper than 8 levels nor have the character \
                    U+0000; send plain values";
    assert_eq!(with(&nested(MAX_PARAMETERS_DEPTH)), "taken");
    assert_eq!(with(&nested(MAX_PARAMETERS_DEPTH + 1)), too_deep);
    for unsound in [json!({"a\0": 1}), json!({"a": ["\0"]}), json!({"a": {"\0": 1}})] {
        assert_eq!(with(&unsound), too_deep);
    }
}

#[test]
fn messages_never_repeat_client_text() {
    let evil = "<script>alert(1)</script>";
    for name in [
        "new_high",
        "rsi_limit",
        "reminder",
        "daily_reminder",
        "insider_transactions",
        evil,
    ] {
        let message_text = message(&json!({
            "symbol": evil, "condition": name, "threshold": evil, "notification": evil,
            "email": evil, "parameters": {
                "direction": evil, "date": evil, "reminder_date": evil, "reminder_time": evil,
                "deliveryTime": evil, "minExecutives": evil, "openMarketOnly": evil
            }
        }));
        assert!(
            message_text.contains("symbol") && !message_text.contains("script"),
            "{message_text}"
        );
    }
}
