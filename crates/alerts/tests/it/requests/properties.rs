//! Properties of arbitrary bodies.

use alerts::request::{RequestError, parse_update};
use alerts::{ConditionKind, restore};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::requests::support::{NOW, alert_of, create, in_berlin_at};

/// Generates values that are close to valid ones.
fn near_misses() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!("above"),
        json!("both"),
        json!("rising"),
        json!("ma50"),
        json!("market_open"),
        json!("email"),
        json!("sms"),
        json!("AAPL"),
        json!("2024-07-02"),
        json!("2024-07-01"),
        json!("2024-07-02T10:00"),
        json!("9999-12-31"),
        json!("-009999-01-01T00:00Z"),
        json!("9999-12-31T23:59"),
        json!("10:00"),
        json!(""),
        json!(0),
        json!(1),
        json!(-1),
        json!(50),
        json!(0.5),
        json!(1e300),
        json!(-1e-300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!("ann@example.com"),
        json!("@."),
        json!(true),
        json!(36500),
        json!("٢٠٢٤-٠٧-٠٢"),
    ])
}

fn values() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        near_misses(),
    ];
    plain.prop_recursive(10, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn parameters() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "direction",
        "volumeBaseline",
        "minExecutives",
        "window_days",
        "openMarketOnly",
        "date",
        "reminder_date",
        "reminder_time",
        "deliveryTime",
        "delivery_time",
        "shares",
        "source",
    ]);
    let values = prop_oneof![3 => near_misses(), 1 => values()];
    prop::collection::vec((names, values), 0..5).prop_map(|members| {
        Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    })
}

/// Generates bodies with the members of requests, most of them of the right type.
fn bodies() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(ConditionKind::ALL).prop_map(|kind| json!(kind.name()));
    let members: Vec<(&str, BoxedStrategy<Value>)> = vec![
        ("symbol", prop_oneof![4 => Just(json!("AAPL")), 1 => values()].boxed()),
        ("condition", prop_oneof![8 => kind, 1 => values()].boxed()),
        (
            "threshold",
            prop_oneof![(0..500).prop_map(Value::from), near_misses(), values()].boxed(),
        ),
        ("notification", prop_oneof![near_misses(), Just(json!("sms"))].boxed()),
        ("parameters", prop_oneof![6 => parameters(), 1 => values()].boxed()),
        ("email", near_misses().boxed()),
    ];
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| prop::option::weighted(0.7, value).prop_map(move |v| (name, v)))
        .collect();
    members.prop_map(|members| {
        let present = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Value::Object(present.map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

proptest! {
    #[test]
    fn any_json_parses_or_yields_an_error(body in prop_oneof![values(), bodies()]) {
        match create(&body) {
            Ok(_) => prop_assert!(body.is_object()),
            Err(RequestError::NotAnObject { .. }) => prop_assert!(!body.is_object()),
            Err(RequestError::Invalid(errors)) => {
                prop_assert!(!errors.is_empty());
                prop_assert!(!errors.to_string().contains('\n'));
                prop_assert!(errors.iter().all(|(_, messages)| !messages.is_empty()));
            }
        }
    }

    #[test]
    fn normal_form_parses_to_the_same_alert(body in bodies()) {
        if let Ok(parsed) = create(&body) {
            let threshold = match parsed.condition.threshold() {
                Some(threshold) => serde_json::from_str(&threshold.to_string()).unwrap(),
                None => Value::Null,
            };
            let again = json!({
                "symbol": parsed.symbol.as_str(), "condition": parsed.condition.kind().name(),
                "threshold": threshold, "notification": parsed.notification.name(),
                "parameters": parsed.parameters, "email": parsed.email,
            });
            prop_assert_eq!(create(&again), Ok(parsed));
        }
    }

    #[test]
    fn parsed_condition_is_restored_from_its_stored_parts(body in bodies()) {
        if let Ok(parsed) = create(&body) {
            let kept = (parsed.condition.kind(), parsed.condition.threshold(), restore::moment(&parsed.condition));
            let (kind, threshold, moment) = kept;
            let restored = restore::condition(kind, threshold, parsed.parameters.as_ref(), moment);
            prop_assert_eq!(restored, Ok(parsed.condition));
        }
    }

    #[test]
    fn any_update_parses_or_yields_an_error(body in bodies(), change in bodies()) {
        if let Ok(parsed) = create(&body) {
            let current = alert_of(parsed);
            in_berlin_at(NOW, |context| {
                if let Err(RequestError::Invalid(errors)) = parse_update(&current, &change, context) {
                    assert!(!errors.is_empty());
                }
                assert!(parse_update(&current, &Value::Object(Map::new()), context).is_ok());
            });
        }
    }
}
