//! Arbitrary pushed market data: each element is accepted or rejected, and nothing panics.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use jiff::Timestamp;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use sources::FeedKind;
use sources::ingest::{parse, parse_value};

use crate::ingest::now;

/// Any JSON, with values similar to those of elements.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0.0..1e6).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "[A-Z]{1,5}".prop_map(Value::from),
        "-?[0-9]{1,6}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2}))?".prop_map(Value::from),
        select(vec![
            "2024-03-07",
            "2024-03-07T15:00:00Z",
            "-009999-01-02T01:59:59Z",
            "9999-12-30T22:00:00Z",
            "P",
            "buy"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z]{1,6}", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// An element with member names of real elements and arbitrary values.
fn any_element() -> impl Strategy<Value = Value> {
    let names = vec![
        "symbol",
        "price",
        "volume",
        "time",
        "date",
        "open",
        "high",
        "low",
        "close",
        "name",
        "details",
        "eps_ttm",
        "as_of",
        "ex_date",
        "ratio",
        "filed_on",
        "insider",
        "code",
        "side",
        "shares",
        "mentions",
        "is_active",
    ];
    let element = btree_map(select(names), any_json(), 0..12)
        .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    let near = (any_json(), any_json(), any_json()).prop_map(|(price, volume, time)| {
        json!({"symbol": "AAPL", "price": price, "volume": volume, "time": time, "mentions": 1, "date": "2024-03-07",
               "open": 1, "high": 1, "low": 1, "close": 1})
    });
    prop_oneof![element.prop_map(Value::Object), near, any_json()]
}

proptest! {
    #[test]
    fn every_element_is_accepted_or_rejected(
        body in btree_map(select(FeedKind::ALL.map(FeedKind::name).to_vec()), vec(any_element(), 0..6), 0..9)
    ) {
        let body = Value::Object(body.into_iter().map(|(kind, elements)| (kind.to_owned(), elements.into())).collect());
        let ingested = parse_value(&body, now()).unwrap();
        for (kind, elements) in body.as_object().unwrap() {
            let rejected = ingested.rejected.iter().filter(|row| row.kind == kind).count();
            prop_assert_eq!(ingested.accepted[kind.as_str()] + rejected, elements.as_array().unwrap().len());
        }
        prop_assert_eq!(ingested.batch.len(), ingested.accepted.values().sum::<usize>());
        prop_assert!(ingested.rejected.iter().all(|row| row.reason.chars().count() < 300));
    }

    #[test]
    fn arbitrary_bodies_never_panic(body in any_json(), bytes in vec(any::<u8>(), 0..64)) {
        let _ = parse_value(&body, now());
        let _ = parse(&bytes, now());
        let _ = parse_value(&body, Timestamp::MAX);
        let _ = parse_value(&body, Timestamp::MIN);
    }
}
