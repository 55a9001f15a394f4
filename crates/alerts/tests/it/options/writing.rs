//! Options as JSON: only those that are set, in one order.

use alerts::Condition;
use alerts::condition::Side;
use alerts::options::{
    AlertOptions, Cooldown, Expiry, Hold, PercentBase, Rearm, Repeat, SessionScope, TriggerPrice, restore_options,
};
use jiff::Timestamp;
use jiff::civil::date;
use market::Decimal;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

#[test]
fn only_set_options_are_written_in_one_order() {
    let sent = json!({
        "max_firings": 5,
        "expires_at": "2030-01-31T09:30:00-05:00",
        "cooldown": "120m",
        "repeat": "each_time",
        "session": "regular",
        "cooldown_refire": false,
        "rearm": {"at": 182.5},
    });
    let options = restore_options(&sent).unwrap();
    assert_eq!(
        Value::Object(options.to_json()).to_string(),
        r#"{"repeat":"each_time","cooldown":"120m","rearm":{"at":182.5},"expires_at":"2030-01-31T14:30:00.000Z","max_firings":5}"#
    );
    assert!(AlertOptions::default().to_json().is_empty());
}

#[test]
fn split_converts_the_rearm_level_of_a_price_only() {
    let options = AlertOptions {
        rearm: Some(Rearm::At("200".parse().unwrap())),
        ..AlertOptions::default()
    };
    let price = Condition::Price {
        side: Side::Above,
        threshold: "210".parse().unwrap(),
    };
    let percent = Condition::PriceChange {
        side: Side::Above,
        percent: "210".parse().unwrap(),
    };
    let ratio = "4".parse().unwrap();
    let split = options.clone().after_split(&price, ratio);
    assert_eq!(split.rearm, Some(Rearm::At("50".parse().unwrap())));
    assert_eq!(options.clone().after_split(&percent, ratio), options);
    let relative = AlertOptions {
        rearm: Some(Rearm::Percent("2".parse().unwrap())),
        ..options
    };
    assert_eq!(relative.clone().after_split(&price, ratio), relative);
}

fn span() -> impl Strategy<Value = String> {
    (1_u32..2_000, select(vec!["m", "h", "d"])).prop_map(|(count, unit)| format!("{count}{unit}"))
}

/// Instants in milliseconds, from 1970 to 2100.
fn instant() -> impl Strategy<Value = Timestamp> {
    (0_i64..4_102_444_800_000).prop_map(|millisecond| Timestamp::from_millisecond(millisecond).unwrap())
}

fn options() -> impl Strategy<Value = AlertOptions> {
    let rearm = prop_oneof![
        (-1_000_000_000_000_i64..1_000_000_000_000).prop_map(|micros| Rearm::At(Decimal::from_micros(micros))),
        (1_i64..=100_000_000).prop_map(|micros| Rearm::Percent(Decimal::from_micros(micros))),
    ];
    let expiry = prop_oneof![
        (1970_i16..2100, 1_i8..=12, 1_i8..=28).prop_map(|(year, month, day)| Expiry::Date(date(year, month, day))),
        instant().prop_map(Expiry::Instant),
    ];
    let names = (
        select(Repeat::ALL),
        select(SessionScope::ALL),
        select(TriggerPrice::ALL),
        select(PercentBase::ALL),
    );
    let spans = (prop::option::of(span()), prop::option::of(span()));
    let ends = (prop::option::of(expiry), prop::option::of(instant()));
    let flags = (any::<bool>(), any::<bool>());
    (
        names,
        spans,
        prop::option::of(rearm),
        ends,
        flags,
        prop::option::of(1_u16..=1_000),
    )
        .prop_map(
            |(
                (repeat, session, trigger, base),
                (cooldown, hold),
                rearm,
                (expires_at, snoozed_until),
                flags,
                max_firings,
            )| {
                AlertOptions {
                    repeat,
                    cooldown: cooldown.and_then(|text| Cooldown::new(text.parse().unwrap())),
                    cooldown_refire: flags.0,
                    rearm,
                    hold: hold.and_then(|text| Hold::new(text.parse().unwrap())),
                    expires_at,
                    notify_on_expiry: flags.1,
                    snoozed_until,
                    session,
                    trigger,
                    base,
                    max_firings: max_firings.filter(|firings| repeat != Repeat::Once || *firings == 1),
                }
            },
        )
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec![
            "1m",
            "5d",
            "each_time",
            "2030-01-31",
            "9999-12-31",
            "two_lasts",
            "é"
        ])
        .prop_map(Value::from),
    ];
    let name = select(vec![
        "at",
        "percent",
        "repeat",
        "cooldown",
        "hold",
        "rearm",
        "expires_at",
        "max_firings",
        "é",
    ]);
    leaf.prop_recursive(3, 16, 6, move |inner| {
        prop::collection::vec((name.clone(), inner), 0..6).prop_map(|members| {
            members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()
        })
    })
}

proptest! {
    #[test]
    fn all_options_are_read_as_they_were_written(options in options()) {
        let text = Value::Object(options.to_json()).to_string();
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(restore_options(&value), Ok(options));
    }

    #[test]
    fn no_value_makes_the_reader_panic(value in json_value()) {
        if let Ok(options) = restore_options(&value) {
            prop_assert_eq!(restore_options(&Value::Object(options.to_json())), Ok(options));
        }
    }
}
