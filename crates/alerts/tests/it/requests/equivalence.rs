//! Requests that are equivalent to an existing alert.

use alerts::{Alert, NewAlert, Status};
use serde_json::{Value, json};

use crate::requests::support::{alert, body, create_at, equivalent, minimal, parsed};

fn with_status(mut alert: Alert, status: Status) -> Alert {
    alert.status = status;
    alert
}

#[test]
fn repeated_request_is_equivalent_unless_the_alert_fired() {
    for (name, more) in minimal() {
        for (status, expected) in [
            (Status::Active, true),
            (Status::Paused, true),
            (Status::Inactive, true),
            (Status::Triggered, false),
        ] {
            let existing = with_status(alert(name, &more), status);
            assert_eq!(
                equivalent(&existing, &parsed(name, &more)),
                expected,
                "{name} {status:?}"
            );
        }
    }
}

#[test]
fn different_conditions_are_not_equivalent() {
    let alerts: Vec<Alert> = minimal().iter().map(|(name, more)| alert(name, more)).collect();
    let requests: Vec<NewAlert> = minimal().iter().map(|(name, more)| parsed(name, more)).collect();
    for (at, existing) in alerts.iter().enumerate() {
        for (place, request) in requests.iter().enumerate() {
            assert_eq!(equivalent(existing, request), at == place);
        }
    }
}

#[test]
fn equivalence_ignores_spelling_and_defaults() {
    let rsi = |parameters: Value| json!({"threshold": 70, "parameters": parameters});
    let table = [
        (
            "price_above",
            json!({"threshold": 200}),
            json!({"threshold": 200.0}),
            true,
        ),
        (
            "price_above",
            json!({"threshold": 200}),
            json!({"threshold": 200.000001}),
            false,
        ),
        (
            "price_above",
            json!({"threshold": 200}),
            json!({"threshold": 200, "notification": "sms"}),
            true,
        ),
        ("rsi_limit", rsi(json!(null)), rsi(json!({"direction": "above"})), true),
        (
            "rsi_limit",
            rsi(json!({"direction": "up"})),
            rsi(json!({"direction": "above"})),
            true,
        ),
        (
            "rsi_limit",
            rsi(json!({"direction": "both"})),
            rsi(json!({"direction": "above"})),
            false,
        ),
        (
            "volume_change",
            json!({"threshold": 50}),
            json!({"threshold": 50, "parameters": {"volumeBaseline": "ma20"}}),
            true,
        ),
        (
            "volume_change",
            json!({"threshold": 50}),
            json!({"threshold": 50, "parameters": {"volumeBaseline": "ma50"}}),
            false,
        ),
        (
            "daily_reminder",
            json!({"parameters": {"delivery_time": "after_market_close"}}),
            json!({"parameters": {"deliveryTime": "after_market_close"}}),
            true,
        ),
        (
            "daily_reminder",
            json!({}),
            json!({"parameters": {"deliveryTime": "market_open"}}),
            true,
        ),
        ("dividend_ex_date", json!({}), json!({"threshold": 1}), true),
        (
            "dividend_payment",
            json!({}),
            json!({"parameters": {"shares": 10}}),
            false,
        ),
        (
            "reminder",
            json!({"threshold": 1}),
            json!({"parameters": {"date": "2024-07-02"}}),
            true,
        ),
        (
            "insider_transactions",
            json!({"threshold": 9}),
            json!({"threshold": 9, "parameters": {
                "direction": "both", "minExecutives": 1, "windowDays": 7, "openMarketOnly": true
            }}),
            true,
        ),
        (
            "new_high",
            json!({"parameters": {"source": "web", "rationale": "one"}}),
            json!({"parameters": {"rationale": "two"}}),
            true,
        ),
    ];
    for (name, one, other, expected) in table {
        assert_eq!(
            equivalent(&alert(name, &one), &parsed(name, &other)),
            expected,
            "{one} {other}"
        );
        assert_eq!(
            equivalent(&alert(name, &other), &parsed(name, &one)),
            expected,
            "{other} {one}"
        );
    }
}

#[test]
fn different_symbol_is_not_equivalent() {
    let mut request = body("new_high", &json!({}));
    request["symbol"] = json!("MSFT");
    let request = create_at(crate::requests::support::NOW, &request).unwrap();
    assert!(!equivalent(&alert("new_high", &json!({})), &request));
}

#[test]
fn same_onboarding_id_is_equivalent() {
    let marked = |id: Value| json!({"parameters": {"onboarding_id": id}});
    let existing = |id: Value, status| with_status(alert("new_high", &marked(id)), status);
    for status in Status::ALL {
        assert!(equivalent(
            &existing(json!("o-1"), *status),
            &parsed("new_low", &marked(json!("o-1")))
        ));
    }
    for (id, other) in [
        (json!("o-1"), json!("o-2")),
        (json!(""), json!("")),
        (json!(null), json!(null)),
        (json!([1]), json!([1])),
    ] {
        let existing = existing(id, Status::Active);
        assert!(!equivalent(&existing, &parsed("new_low", &marked(other))));
    }
}

#[test]
fn analyst_alert_is_not_equivalent_to_an_owner_request() {
    let of_item = |item: &str| json!({"parameters": {"source": "ai", "watchlist_item_id": item}});
    let own = json!({"parameters": {"watchlist_item_id": "i-1"}});
    for (existing, request, expected) in [
        (of_item("i-1"), of_item("i-1"), true),
        (of_item("i-1"), of_item("i-2"), false),
        (of_item("i-1"), own.clone(), false),
        (of_item("i-1"), json!({}), false),
        (own, of_item("i-1"), true),
        (json!({}), of_item("i-1"), true),
    ] {
        let found = equivalent(&alert("new_high", &existing), &parsed("new_high", &request));
        assert_eq!(found, expected, "{existing} {request}");
    }
}
