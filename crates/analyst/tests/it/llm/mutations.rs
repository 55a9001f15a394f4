//! Property tests: every answer is either rejected or valid.

use alerts::request::parse_create;
use analyst::{ConditionState, Intention};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::llm::fixture::{completion, fixture, good_content, parse_for};
use crate::support::fires_at_once;

/// A value of any kind, including common mistakes of models.
fn any_value() -> impl Strategy<Value = Value> {
    let words = [
        "price_above",
        "price_below",
        "price_change_up",
        "price_change_down",
        "new_high",
        "new_low",
        "ma_touch_above",
        "ma_crossover_golden",
        "volume_change",
        "rsi_limit",
        "reminder",
        "entry",
        "target",
        "stop",
        "breakout",
        "trend",
        "above",
        "below",
        "105",
        "",
        "The price of 105 is 5 above the level of 100, which held twice.",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
        ".{0,30}".prop_map(Value::from),
        (90.0_f64..120.0).prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<i64>().prop_map(Value::from),
        Just(json!([])),
        Just(json!({"a": 1})),
    ]
}

fn any_change() -> impl Strategy<Value = (usize, usize, Value)> {
    (0_usize..5, 0_usize..6, any_value())
}

fn apply(content: &mut Value, (place, member, value): (usize, usize, Value)) {
    let members = ["role", "condition", "threshold", "direction", "rationale"];
    match content["alerts"].get_mut(place) {
        None => content["summary"] = value,
        Some(alert) => match members.get(member) {
            Some(member) if alert.is_object() => alert[member] = value,
            _ => *alert = value,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn changed_answer_is_rejected_or_its_alerts_are_valid_and_pending(
        changes in prop::collection::vec(any_change(), 1..4),
    ) {
        let fixture = fixture();
        let mut content = good_content();
        changes.into_iter().for_each(|change| apply(&mut content, change));
        let subject = fixture.subject(Intention::Buy);
        let Ok(advice) = parse_for(&fixture, Intention::Buy, &completion(&content.to_string())) else {
            return Ok(());
        };
        prop_assert!((2..=5).contains(&advice.proposals.len()));
        for proposal in &advice.proposals {
            prop_assert_eq!(&parse_create(&proposal.body, &subject.context).unwrap(), &proposal.alert);
            prop_assert_eq!(proposal.alert.symbol, fixture.symbol);
            prop_assert_eq!(ConditionState::of(&proposal.alert.condition, &subject), ConditionState::Pending);
        }
        prop_assert_eq!(fires_at_once(&fixture, &subject, &advice.proposals), []);
    }

    #[test]
    fn any_bytes_are_an_error_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), text in ".{0,200}") {
        let fixture = fixture();
        prop_assert!(parse_for(&fixture, Intention::Sell, &bytes).is_err());
        prop_assert!(parse_for(&fixture, Intention::Sell, &completion(&text)).is_err());
    }
}
