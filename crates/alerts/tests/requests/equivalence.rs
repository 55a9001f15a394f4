//! Which requests ask for what is there.

use alerts::equivalence::equivalent;
use alerts::{Alert, NewAlert, Status};
use serde_json::{Value, json};

use crate::support::{alert, asked, body, create_at, minimal};

fn with_status(mut alert: Alert, status: Status) -> Alert {
    alert.status = status;
    alert
}

#[test]
fn the_same_request_again_is_equivalent_until_the_alert_has_fired() {
    for (name, more) in minimal() {
        for (status, expected) in [
            (Status::Active, true),
            (Status::Paused, true),
            (Status::Inactive, true),
            (Status::Triggered, false),
        ] {
            let existing = with_status(alert(name, &more), status);
            assert_eq!(
                equivalent(&existing, &asked(name, &more)),
                expected,
                "{name} {status:?}"
            );
        }
    }
}

#[test]
fn no_two_of_the_minimal_conditions_are_equivalent() {
    let alerts: Vec<Alert> = minimal().iter().map(|(name, more)| alert(name, more)).collect();
    let requests: Vec<NewAlert> = minimal().iter().map(|(name, more)| asked(name, more)).collect();
    for (at, existing) in alerts.iter().enumerate() {
        for (place, request) in requests.iter().enumerate() {
            assert_eq!(equivalent(existing, request), at == place);
        }
    }
}

#[test]
fn what_is_judged_in_the_same_way_is_equivalent_however_it_is_written() {
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
            equivalent(&alert(name, &one), &asked(name, &other)),
            expected,
            "{one} {other}"
        );
        assert_eq!(
            equivalent(&alert(name, &other), &asked(name, &one)),
            expected,
            "{other} {one}"
        );
    }
}

#[test]
fn another_symbol_is_another_alert() {
    let mut request = body("new_high", &json!({}));
    request["symbol"] = json!("MSFT");
    let request = create_at(crate::support::NOW, &request).unwrap();
    assert!(!equivalent(&alert("new_high", &json!({})), &request));
}

#[test]
fn the_same_onboarding_id_is_a_repeat_whatever_else_it_says() {
    let marked = |id: Value| json!({"parameters": {"onboarding_id": id}});
    let existing = |id: Value, status| with_status(alert("new_high", &marked(id)), status);
    for status in Status::ALL {
        assert!(equivalent(
            &existing(json!("o-1"), *status),
            &asked("new_low", &marked(json!("o-1")))
        ));
    }
    for (id, other) in [
        (json!("o-1"), json!("o-2")),
        (json!(""), json!("")),
        (json!(null), json!(null)),
        (json!([1]), json!([1])),
    ] {
        let existing = existing(id, Status::Active);
        assert!(!equivalent(&existing, &asked("new_low", &marked(other))));
    }
}

#[test]
fn an_alert_of_the_analyst_cannot_stand_for_one_of_the_owner() {
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
        let found = equivalent(&alert("new_high", &existing), &asked("new_high", &request));
        assert_eq!(found, expected, "{existing} {request}");
    }
}
