//! Conditions restored from their stored parts.

use alerts::request::parse_create;
use alerts::restore::{self, RestoreError};
use alerts::{Condition, ConditionKind};
use market::Decimal;
use serde_json::json;

use crate::requests::support::{NOW, body, in_berlin_at, minimal, parsed};

#[test]
fn restores_every_condition() {
    for (name, more) in minimal() {
        let parsed = parsed(name, &more);
        let (threshold, moment) = (parsed.condition.threshold(), restore::moment(&parsed.condition));
        let restored = restore::condition(parsed.condition.kind(), threshold, parsed.parameters.as_ref(), moment);
        assert_eq!(restored, Ok(parsed.condition), "{name}");
    }
}

#[test]
fn reminder_is_restored_from_its_moment_not_its_date() {
    let parsed = in_berlin_at(NOW, |context| {
        parse_create(
            &body("reminder", &json!({"parameters": {"date": "2024-07-02"}})),
            context,
        )
        .unwrap()
    });
    let other = "2031-05-06T07:08:09.000001Z".parse().unwrap();
    assert_eq!(
        restore::condition(ConditionKind::Reminder, None, parsed.parameters.as_ref(), Some(other)),
        Ok(Condition::Reminder { at: other })
    );
    assert_eq!(
        restore::condition(ConditionKind::Reminder, None, parsed.parameters.as_ref(), None),
        Err(RestoreError::NoMoment)
    );
}

#[test]
fn restore_error_names_the_invalid_parts() {
    let refusal = restore::condition(ConditionKind::PriceAbove, None, None, None).unwrap_err();
    assert!(refusal.to_string().contains("price_above"), "{refusal}");
    assert!(refusal.to_string().contains("threshold"), "{refusal}");
    let period = Some(Decimal::from_micros(1_500_000));
    assert!(restore::condition(ConditionKind::MaTouchAbove, period, None, None).is_err());
}
