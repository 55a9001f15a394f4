//! Conditions from what is kept of them.

use alerts::request::parse_create;
use alerts::restore::{self, Unrestorable};
use alerts::{Condition, ConditionKind};
use market::Decimal;
use serde_json::json;

use crate::support::{NOW, asked, body, in_berlin_at, minimal};

#[test]
fn each_of_the_23_conditions_is_restored() {
    for (name, more) in minimal() {
        let asked = asked(name, &more);
        let (threshold, moment) = (asked.condition.threshold(), restore::moment(&asked.condition));
        let restored = restore::condition(asked.condition.kind(), threshold, asked.parameters.as_ref(), moment);
        assert_eq!(restored, Ok(asked.condition), "{name}");
    }
}

#[test]
fn a_reminder_is_restored_to_the_instant_it_was_set_to_and_not_to_the_words_of_its_date() {
    let asked = in_berlin_at(NOW, |context| {
        parse_create(
            &body("reminder", &json!({"parameters": {"date": "2024-07-02"}})),
            context,
        )
        .unwrap()
    });
    let other = "2031-05-06T07:08:09.000001Z".parse().unwrap();
    assert_eq!(
        restore::condition(ConditionKind::Reminder, None, asked.parameters.as_ref(), Some(other)),
        Ok(Condition::Reminder { at: other })
    );
    assert_eq!(
        restore::condition(ConditionKind::Reminder, None, asked.parameters.as_ref(), None),
        Err(Unrestorable::NoMoment)
    );
}

#[test]
fn parts_that_make_no_condition_are_named() {
    let refusal = restore::condition(ConditionKind::PriceAbove, None, None, None).unwrap_err();
    assert!(refusal.to_string().contains("price_above"), "{refusal}");
    assert!(refusal.to_string().contains("threshold"), "{refusal}");
    let period = Some(Decimal::from_micros(1_500_000));
    assert!(restore::condition(ConditionKind::MaTouchAbove, period, None, None).is_err());
}
