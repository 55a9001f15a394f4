//! Checks of the schemas against the parser: values at the bounds are accepted, values beyond are rejected.

use alerts::ConditionKind;
use alerts::ConditionKind as Kind;
use alerts::condition::{ParameterRule, ThresholdNeed};
use alerts::request::{ParseContext, RequestError, parse_create};
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::{Value, json};

use super::example;
use super::schema::{parameter_schema, threshold_schema};

fn read(body: &Value) -> Result<alerts::NewAlert, RequestError> {
    let context = ParseContext {
        now: "2026-12-01T15:00:00Z".parse().unwrap(),
        time_zone: &TimeZone::UTC,
        calendar: &Calendar::nyse(),
    };
    parse_create(body, &context)
}

#[test]
fn every_condition_has_a_valid_example() {
    for kind in ConditionKind::ALL {
        let alert = read(&example(*kind)).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(alert.condition.kind(), *kind);
    }
}

/// Returns the values at both bounds of a schema, and those just beyond.
fn bounds(schema: &Value) -> (Vec<Value>, Vec<Value>) {
    let step = if schema["type"].to_string().contains("integer") {
        1.0
    } else {
        0.000_001
    };
    let (minimum, maximum) = (&schema["minimum"], &schema["maximum"]);
    let below = minimum.as_f64().map(|minimum| json!(minimum - step));
    let beyond = maximum
        .as_f64()
        .map(|maximum| json!(maximum + step.max(maximum / 1e12)));
    let inside = [minimum, maximum].into_iter().filter(|bound| !bound.is_null()).cloned();
    (inside.collect(), below.into_iter().chain(beyond).collect())
}

fn check(kind: ConditionKind, path: &[&str], values: &[Value], is_accepted: bool) {
    for value in values {
        let mut body = example(kind);
        let mut member = &mut body;
        for name in path {
            member = &mut member[*name];
        }
        *member = value.clone();
        assert_eq!(read(&body).is_ok(), is_accepted, "{body}");
    }
}

#[test]
fn thresholds_are_accepted_within_the_bounds_of_their_schema() {
    for kind in ConditionKind::ALL.iter().filter(|kind| **kind != Kind::Reminder) {
        let request = kind.spec().request;
        let is_required = request
            .threshold
            .is_some_and(|threshold| threshold.need == ThresholdNeed::Required);
        check(*kind, &["threshold"], &[Value::Null], !is_required);
        if request.threshold.is_none() {
            check(*kind, &["threshold"], &[json!(1)], false);
            continue;
        }
        let (inside, outside) = bounds(&threshold_schema(request));
        assert_eq!((inside.len(), outside.len()), (2, 2), "{kind}");
        check(*kind, &["threshold"], &inside, true);
        check(*kind, &["threshold"], &outside, false);
    }
}

#[test]
fn parameters_are_accepted_as_their_schema_describes() {
    for kind in ConditionKind::ALL.iter().filter(|kind| **kind != Kind::Reminder) {
        for own in kind.spec().request.parameters {
            let schema = parameter_schema(own);
            let path = ["parameters", own.name];
            let words = schema["enum"].as_array().cloned().unwrap_or_default();
            check(*kind, &path, &words, true);
            let (inside, outside) = bounds(&schema);
            check(*kind, &path, &inside, true);
            check(*kind, &path, &outside, false);
            check(*kind, &path, &[json!({})], false);
            let is_free_text = schema["maxLength"].is_number() && !matches!(own.rule, ParameterRule::Expression);
            check(*kind, &path, &[json!("nonsense")], is_free_text);
            check(*kind, &path, &[Value::Null], !own.is_required);
        }
    }
}

#[test]
fn reminders_are_accepted_in_each_form() {
    let of = |threshold: Value, parameters: Value| {
        read(&json!({"symbol": "AAPL", "condition": "reminder", "threshold": threshold, "parameters": parameters}))
    };
    for (threshold, parameters, is_accepted) in [
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
            is_accepted,
            "{threshold} {parameters}"
        );
    }
}
