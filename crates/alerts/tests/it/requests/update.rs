//! Updates of alerts.

use alerts::condition::{RsiDirection, Side};
use alerts::expression::Expression;
use alerts::options::AlertOptions;
use alerts::request::{AlertChange, RequestError, changes_nothing, parse_update};
use alerts::{Channel, Condition, Tags};
use serde_json::{Value, json};

use crate::requests::support::{alert, condition, errors_of, in_berlin_at, instant, minimal, update};

fn parameters_of(change: AlertChange) -> Value {
    change.parameters.map_or(Value::Null, Value::Object)
}

#[test]
fn empty_update_changes_nothing() {
    for (name, more) in minimal() {
        let current = alert(name, &more);
        let same = AlertChange {
            condition: current.condition.clone(),
            notification: current.notification,
            parameters: current.parameters.clone(),
            note: None,
            tags: Tags::default(),
            options: AlertOptions::default(),
            routing: alerts::Routing::default(),
            managed_by: None,
            rearms: true,
        };
        assert_eq!(update(&current, &json!({})), Ok(same.clone()), "{name}");
        // A client that sends an alert back unchanged changes nothing either.
        let threshold = match current.condition.threshold() {
            Some(threshold) => serde_json::from_str(&threshold.to_string()).unwrap(),
            None => Value::Null,
        };
        let whole = json!({
            "id": current.id.to_string(), "symbol": "MSFT", "condition": name,
            "threshold": threshold, "notification": "email", "parameters": current.parameters,
        });
        assert_eq!(update(&current, &whole), Ok(same), "{name}");
    }
}

#[test]
fn sent_field_replaces_the_current_one() {
    let current = alert(
        "price_above",
        &json!({"threshold": 200, "parameters": {"source": "web"}}),
    );
    let change = update(&current, &json!({"threshold": 210.5})).unwrap();
    assert_eq!(change.condition, condition("price_above", &json!({"threshold": 210.5})));
    assert_eq!(parameters_of(change), json!({"source": "web"}));
    let change = update(&current, &json!({"notification": "sms"})).unwrap();
    assert_eq!(
        (change.notification, change.condition),
        (Channel::Sms, current.condition.clone())
    );
    let change = update(&current, &json!({"parameters": {"note": "x"}})).unwrap();
    assert_eq!(parameters_of(change), json!({"note": "x"}));
    assert_eq!(
        parameters_of(update(&current, &json!({"parameters": null})).unwrap()),
        Value::Null
    );
}

/// Earlier versions accepted it.
#[test]
fn unchanged_expression_stays_valid_with_a_metric_that_no_new_alert_can_have() {
    let mut current = alert("expression", &json!({"parameters": {"when": "macd(12, 26, 9) > 1"}}));
    let stored = Expression::parse("macd(26, 12, 9) > 1", None).unwrap();
    current.condition = Condition::expression(stored.expression, None);
    let same = update(&current, &json!({"parameters": {"when": "macd(26,12,9) > 1"}})).unwrap();
    assert_eq!(same.condition, current.condition);
    let other = update(&current, &json!({"parameters": {"when": "macd(26,12,9) > 2"}}));
    assert!(!errors_of(other).of("parameters.when").is_empty());
}

#[test]
fn null_condition_or_notification_counts_as_omitted() {
    let current = alert("price_above", &json!({"threshold": 200, "notification": "sms"}));
    let change = update(&current, &json!({"condition": null, "notification": null})).unwrap();
    assert_eq!(
        (change.condition, change.notification),
        (current.condition.clone(), Channel::Sms)
    );
}

#[test]
fn null_threshold_removes_an_optional_threshold() {
    let current = alert("price_above", &json!({"threshold": 200}));
    let message = update(&current, &json!({"threshold": null})).unwrap_err().to_string();
    assert!(
        message.starts_with("threshold: is required for price_above"),
        "{message}"
    );
    let current = alert("dividend_ex_date", &json!({"threshold": 5}));
    let change = update(&current, &json!({"threshold": null})).unwrap();
    assert_eq!(change.condition, Condition::DividendExDate { days_ahead: 1 });
}

#[test]
fn new_condition_requires_its_own_threshold() {
    let current = alert("price_above", &json!({"threshold": 99.5}));
    for name in [
        "price_change_down",
        "price_below",
        "ma_touch_below",
        "rsi_limit",
        "earnings_announcement",
    ] {
        let message = update(&current, &json!({"condition": name})).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("threshold: is required for {name}")),
            "{message}"
        );
        let message = update(&current, &json!({"condition": name, "threshold": null}))
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with(&format!("threshold: is required for {name}")),
            "{message}"
        );
    }
    for (body, expected) in [
        (
            json!({"condition": "price_change_down", "threshold": 99.5}),
            condition("price_change_down", &json!({"threshold": 99.5})),
        ),
        (
            json!({"condition": "ma_touch_below", "threshold": 200}),
            Condition::MaTouch {
                side: Side::Below,
                period: 200,
            },
        ),
        (
            json!({"condition": "new_high"}),
            Condition::NewExtreme { side: Side::Above },
        ),
        (
            json!({"condition": "new_high", "threshold": null}),
            Condition::NewExtreme { side: Side::Above },
        ),
        (
            json!({"condition": "dividend_ex_date"}),
            Condition::DividendExDate { days_ahead: 1 },
        ),
        (
            json!({"condition": "dividend_ex_date", "threshold": 3}),
            Condition::DividendExDate { days_ahead: 3 },
        ),
        (
            json!({"condition": "reminder", "threshold": 1}),
            Condition::Reminder {
                at: instant("2024-07-02T13:30:00Z"),
            },
        ),
        // The same condition by name is no change.
        (json!({"condition": "price_above"}), current.condition.clone()),
    ] {
        assert_eq!(update(&current, &body).unwrap().condition, expected, "{body}");
    }
    for (body, expected) in [
        (
            json!({"condition": "new_high", "threshold": 5}),
            "threshold: must be omitted for new_high",
        ),
        (
            json!({"condition": "reminder"}),
            "parameters.date: is required for reminder; give a date such as 2030-01-31 or a \
             date-time such as 2030-01-31T09:30:00-05:00",
        ),
    ] {
        assert_eq!(update(&current, &body).unwrap_err().to_string(), expected);
    }
}

#[test]
fn new_condition_requires_its_own_parameters_and_keeps_client_metadata() {
    let current = alert(
        "insider_transactions",
        &json!({"threshold": 60, "parameters": {"direction": "buy", "windowDays": 9, "source": "web"}}),
    );
    let change = update(&current, &json!({"condition": "rsi_limit", "threshold": 60})).unwrap();
    assert_eq!(
        change.condition,
        Condition::Rsi {
            direction: RsiDirection::Above,
            threshold: "60".parse().unwrap()
        }
    );
    assert_eq!(parameters_of(change), json!({"source": "web"}));

    let current = alert(
        "rsi_limit",
        &json!({"threshold": 60, "parameters": {"direction": "below"}}),
    );
    assert_eq!(
        update(&current, &json!({"condition": "social_buzz"}))
            .unwrap_err()
            .to_string(),
        "parameters.direction: is required for social_buzz; it must be rising or falling"
    );
    let change = update(&current, &json!({"condition": "price_above", "threshold": 60})).unwrap();
    assert_eq!(parameters_of(change), Value::Null);
    let change = update(&current, &json!({"condition": "rsi_limit", "threshold": 70})).unwrap();
    assert_eq!(parameters_of(change), json!({"direction": "below"}));

    // For price_above this is client metadata; for rsi_limit it would be a parameter.
    let current = alert(
        "price_above",
        &json!({"threshold": 60, "parameters": {"direction": "below", "source": "web"}}),
    );
    let change = update(&current, &json!({"condition": "rsi_limit", "threshold": 60})).unwrap();
    assert_eq!(parameters_of(change), json!({"source": "web"}));
}

#[test]
fn body_without_known_members_changes_nothing() {
    for body in [
        json!({}),
        json!({"condition": null, "notification": null}),
        json!({"symbol": "MSFT", "status": "paused"}),
    ] {
        assert!(changes_nothing(&body), "{body}");
    }
    for body in [
        json!({"threshold": null}),
        json!({"parameters": null}),
        json!({"condition": "price_above"}),
        json!({"notification": "email"}),
        json!([]),
    ] {
        assert!(!changes_nothing(&body), "{body}");
    }
}

#[test]
fn complete_result_of_an_update_is_validated() {
    let current = alert("rsi_limit", &json!({"threshold": 60}));
    let rejected = update(
        &current,
        &json!({"threshold": 101, "notification": "fax", "parameters": {"direction": 1}}),
    );
    let RequestError::Invalid(errors) = rejected.unwrap_err() else {
        panic!("an object")
    };
    let fields: Vec<_> = errors.iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["notification", "parameters.direction", "threshold"]);
    assert_eq!(
        update(&current, &json!([])),
        Err(RequestError::NotAnObject { found: "an array" })
    );
}

#[test]
fn past_reminder_may_be_updated_without_changing_its_moment() {
    let current = alert("reminder", &json!({"threshold": 1}));
    assert_eq!(current.parameters.as_ref().unwrap()["date"], json!("2024-07-02"));
    let later = |body: &Value| in_berlin_at("2024-08-01T12:00:00Z", |context| parse_update(&current, body, context));
    for body in [
        json!({"notification": "sms"}),
        json!({"condition": "reminder", "notification": "sms"}),
        json!({"threshold": null, "parameters": {"date": "2024-07-02", "note": "x"}}),
        json!({"threshold": 5}),
        json!({"parameters": {"date": "2024-07-02T13:30:00Z"}}),
    ] {
        assert_eq!(later(&body).unwrap().condition, current.condition, "{body}");
    }
    for (body, field) in [
        (json!({"parameters": {"date": "2024-07-03"}}), "parameters.date: means"),
        (json!({"parameters": null}), "parameters.date: is required"),
    ] {
        let message = later(&body).unwrap_err().to_string();
        assert!(message.starts_with(field), "{message}");
    }
    let moved = later(&json!({"parameters": {"date": "2024-08-02"}})).unwrap();
    assert_eq!(
        moved.condition,
        Condition::Reminder {
            at: instant("2024-08-02T13:30:00Z")
        }
    );
}
