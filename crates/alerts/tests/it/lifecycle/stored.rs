//! The stored form of the state.

use std::cmp::Ordering;

use alerts::condition::Side;
use alerts::expression::{Crossings, Within};
use alerts::lifecycle::{ArmedExtremes, ArmedFigures, Lifecycle, Phase, StoredLifecycleError};
use jiff::{SignedDuration, Timestamp};
use market::Price;
use proptest::prelude::*;
use serde_json::{Value, json};

fn sample() -> Value {
    json!({
        "version": 1,
        "armed_at": "2024-07-01T15:00:00Z",
        "phase": {"cooling": {"until": "2024-07-01T15:01:00Z", "was_left": false}},
        "was_true": true,
        "firings": 3,
        "extremes": {"high_micros": 120_000_000, "low_micros": 99_500_000},
        "crossings": {"within": "15m", "until": [null, "2024-07-01T15:04:00Z"], "orders": ["below", null, "equal", "above"]},
    })
}

fn read(value: &Value) -> Result<Lifecycle, StoredLifecycleError> {
    Lifecycle::from_stored(&value.to_string())
}

#[test]
fn state_is_written_as_it_is_read() {
    let state = read(&sample()).unwrap();
    let written: Value = serde_json::from_str(&state.to_stored().unwrap()).unwrap();
    assert_eq!(written, sample());
    let new = Lifecycle::new(Timestamp::UNIX_EPOCH, None, None);
    assert_eq!(
        new.to_stored().unwrap(),
        r#"{"version":1,"armed_at":"1970-01-01T00:00:00Z","phase":"armed","was_true":false,"firings":0}"#
    );
}

#[test]
fn unknown_versions_are_errors() {
    let mut later = sample();
    later["version"] = json!(2);
    later["new_member"] = json!(true);
    let error = read(&later).unwrap_err();
    assert_eq!(error, StoredLifecycleError::UnknownVersion { version: 2 });
    assert_eq!(
        error.to_string(),
        "the stored life cycle has version 2; this program reads version 1"
    );
}

#[test]
fn unknown_missing_and_invalid_members_are_errors() {
    let pointers = ["", "/phase/cooling", "/extremes", "/crossings"];
    for pointer in pointers {
        let mut value = sample();
        value.pointer_mut(pointer).unwrap()["added"] = json!(1);
        let error = read(&value).unwrap_err().to_string();
        assert!(error.contains("unknown field `added`"), "{pointer}: {error}");
    }
    for (pointer, invalid) in [
        ("/phase", json!("fired")),
        ("/firings", json!(-1)),
        ("/armed_at", json!("yesterday")),
        ("/extremes/high_micros", json!(0)),
        ("/extremes/high_micros", json!(99_499_999)),
        ("/crossings/within", json!("31d")),
        ("/version", json!("1")),
    ] {
        let mut value = sample();
        *value.pointer_mut(pointer).unwrap() = invalid;
        assert!(
            matches!(read(&value), Err(StoredLifecycleError::Invalid { .. })),
            "{pointer}"
        );
    }
    for member in ["version", "armed_at", "phase", "was_true", "firings"] {
        let mut value = sample();
        value.as_object_mut().unwrap().remove(member);
        assert!(read(&value).is_err(), "{member}");
    }
    for text in ["", "[]", "null", "{"] {
        assert!(Lifecycle::from_stored(text).is_err(), "{text}");
    }
}

fn instant() -> impl Strategy<Value = Timestamp> {
    (Timestamp::MIN.as_second()..Timestamp::MAX.as_second(), 0..1_000_000_000)
        .prop_map(|(second, nanosecond)| Timestamp::new(second, nanosecond).unwrap())
}

fn price() -> impl Strategy<Value = Price> {
    (1..=1_000_000_000_000_000_i64).prop_map(|micros| Price::from_micros(micros).unwrap())
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![
        Just(Phase::Armed),
        Just(Phase::WaitingToRearm),
        (instant(), any::<bool>()).prop_map(|(until, was_left)| Phase::Cooling { until, was_left }),
    ]
}

fn crossings() -> impl Strategy<Value = Crossings> {
    let within = prop_oneof![
        Just(Within::Session),
        (1..=43_200_i64).prop_map(|minutes| Within::Duration(SignedDuration::from_mins(minutes))),
    ];
    let until = prop::collection::vec(prop::option::of(instant()), 0..4);
    let orders = prop_oneof![Just(Ordering::Less), Just(Ordering::Equal), Just(Ordering::Greater)];
    let orders = prop::collection::vec(prop::option::of(orders), 0..4);
    (prop::option::of(within), until, orders)
        .prop_map(|(within, until, orders)| Crossings::restored(within, until, orders))
}

fn state() -> impl Strategy<Value = Lifecycle> {
    let instants = (instant(), prop::option::of(instant()), prop::option::of(instant()));
    let extremes = prop::option::of((price(), price()).prop_map(|(one, other)| ArmedExtremes::new(one).with(other)));
    let of_condition = (
        any::<bool>(),
        prop::option::of(prop::sample::select(vec![Side::Above, Side::Below])),
        prop::sample::select(vec![
            ArmedFigures::NotFound,
            ArmedFigures::AtArming,
            ArmedFigures::Judged,
        ]),
    );
    (
        instants,
        phase(),
        any::<bool>(),
        any::<u32>(),
        extremes,
        crossings(),
        of_condition,
    )
        .prop_map(
            |((armed_at, true_since, last_fired_at), phase, was_true, firings, extremes, crossings, of_condition)| {
                Lifecycle {
                    fires_on_change: of_condition.0,
                    rsi_side: of_condition.1,
                    figures: of_condition.2,
                    armed_at,
                    phase,
                    true_since,
                    was_true,
                    firings,
                    last_fired_at,
                    extremes,
                    crossings,
                }
            },
        )
}

proptest! {
    #[test]
    fn every_state_is_read_as_it_was_written(state in state()) {
        let text = state.to_stored().unwrap();
        prop_assert_eq!(Lifecycle::from_stored(&text), Ok(state));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = Lifecycle::from_stored(&text);
    }
}
