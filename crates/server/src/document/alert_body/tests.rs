//! What the schemas allow is taken, and what lies just beyond is not.

use alerts::ConditionKind;
use alerts::ConditionKind as Kind;
use alerts::request::{Context, RequestError, parse_create};
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::{Value, json};

use super::examples::example;
use super::shapes::{LEAST, Threshold, shapes};

fn read(body: &Value) -> Result<alerts::NewAlert, RequestError> {
    let context = Context {
        now: "2026-12-01T15:00:00Z".parse().unwrap(),
        time_zone: &TimeZone::UTC,
        calendar: &Calendar::nyse(),
    };
    parse_create(body, &context)
}

#[test]
fn every_condition_has_one_shape_and_an_example_that_is_taken() {
    let shapes = shapes();
    for kind in ConditionKind::ALL {
        let found = shapes.iter().filter(|shape| shape.kinds.contains(kind)).count();
        assert_eq!(found, 1, "{kind}");
        let alert = read(&example(*kind)).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(alert.condition.kind(), *kind);
    }
}

/// The values at both ends of what a schema allows, and those just beyond.
fn ends(schema: &Value) -> (Vec<Value>, Vec<Value>) {
    let step = if schema["type"].to_string().contains("integer") {
        1.0
    } else {
        LEAST
    };
    let (least, most) = (&schema["minimum"], &schema["maximum"]);
    let below = least.as_f64().map(|least| json!(least - step));
    let beyond = most.as_f64().map(|most| json!(most + step.max(most / 1e12)));
    let inside = [least, most].into_iter().filter(|end| !end.is_null()).cloned();
    (inside.collect(), below.into_iter().chain(beyond).collect())
}

fn check(kind: ConditionKind, place: &[&str], values: &[Value], is_taken: bool) {
    for value in values {
        let mut body = example(kind);
        let mut member = &mut body;
        for name in place {
            member = &mut member[*name];
        }
        *member = value.clone();
        assert_eq!(read(&body).is_ok(), is_taken, "{body}");
    }
}

#[test]
fn thresholds_are_taken_to_both_ends_of_their_schema_and_no_further() {
    for shape in shapes() {
        for kind in shape.kinds.iter().filter(|kind| **kind != Kind::Reminder) {
            let schema = match &shape.threshold {
                Threshold::Omitted => {
                    check(*kind, &["threshold"], &[Value::Null], true);
                    check(*kind, &["threshold"], &[json!(1)], false);
                    continue;
                }
                Threshold::Ignored(schema) | Threshold::Optional(schema) => {
                    check(*kind, &["threshold"], &[Value::Null], true);
                    schema
                }
                Threshold::Required(schema) => {
                    check(*kind, &["threshold"], &[Value::Null], false);
                    schema
                }
            };
            let (inside, outside) = ends(schema);
            assert_eq!((inside.len(), outside.len()), (2, 2), "{kind}");
            check(*kind, &["threshold"], &inside, true);
            check(*kind, &["threshold"], &outside, false);
        }
    }
}

#[test]
fn parameters_are_taken_as_their_schema_says() {
    for shape in shapes() {
        for kind in shape.kinds.iter().filter(|kind| **kind != Kind::Reminder) {
            for (name, schema) in &shape.parameters {
                let place = ["parameters", *name];
                let words = schema["enum"].as_array().cloned().unwrap_or_default();
                check(*kind, &place, &words, true);
                let (inside, outside) = ends(schema);
                check(*kind, &place, &inside, true);
                check(*kind, &place, &outside, false);
                check(*kind, &place, &[json!({})], false);
                let is_free_text = schema["maxLength"].is_number();
                check(*kind, &place, &[json!("nonsense")], is_free_text);
                let may_be_left_out = !shape.required.contains(name);
                check(*kind, &place, &[Value::Null], may_be_left_out);
            }
        }
    }
}

#[test]
fn reminders_are_taken_in_each_of_their_forms() {
    let of = |threshold: Value, parameters: Value| {
        read(&json!({"symbol": "AAPL", "condition": "reminder", "threshold": threshold, "parameters": parameters}))
    };
    for (threshold, parameters, is_taken) in [
        (Value::Null, json!({"date": "2027-01-01"}), true),
        (json!(-5.5), json!({"date": "2028-02-29T09:30:00-05:00"}), true),
        (Value::Null, json!({"date": "2999-12-31T23:59:59.999999"}), true),
        (
            Value::Null,
            json!({"reminder_date": "2027-01-01", "reminder_time": "09:30"}),
            true,
        ),
        (
            Value::Null,
            json!({"reminder_date": "2027-01-01", "reminder_time": null}),
            true,
        ),
        (json!(1), Value::Null, true),
        (json!(36_500), json!({"date": null}), true),
        (json!(36_501), Value::Null, false),
        (Value::Null, Value::Null, false),
        (Value::Null, json!({"date": "2026-11-30"}), false),
        (Value::Null, json!({"date": "2027-02-29"}), false),
        (Value::Null, json!({"reminder_time": "09:30"}), false),
    ] {
        assert_eq!(
            of(threshold.clone(), parameters.clone()).is_ok(),
            is_taken,
            "{threshold} {parameters}"
        );
    }
}
