//! Rejected requests and their messages.

mod limits;

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
