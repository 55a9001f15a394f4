//! Options from JSON, and the errors of each field.

use alerts::options::{
    AlertOptions, Cooldown, Expiry, Hold, PercentBase, Rearm, Repeat, SessionScope, TriggerPrice, parse_options,
    restore_options,
};
use alerts::request::FieldErrors;
use jiff::civil::date;
use serde_json::{Value, json};

use crate::requests::support::{NOW, in_berlin_at, instant};

fn read(value: &Value) -> Result<AlertOptions, FieldErrors> {
    in_berlin_at(NOW, |context| parse_options(value, context))
}

/// Returns the errors of options as `field: message`, separated by ` | `.
fn errors(value: &Value) -> String {
    read(value).unwrap_err().to_string()
}

#[test]
fn all_options_are_read() {
    let options = read(&json!({
        "repeat": "each_time",
        "cooldown": "2h",
        "cooldown_refire": true,
        "rearm": {"percent": 1.5},
        "hold": "1d",
        "expires_at": "2024-07-31",
        "notify_on_expiry": true,
        "snoozed_until": "2024-07-02T09:30:00-04:00",
        "session": "extended",
        "trigger": "two_lasts",
        "base": "prev_close",
        "max_firings": 1000,
    }));
    let expected = AlertOptions {
        repeat: Repeat::EachTime,
        cooldown: Cooldown::new("2h".parse().unwrap()),
        cooldown_refire: true,
        rearm: Some(Rearm::Percent("1.5".parse().unwrap())),
        hold: Hold::new("1d".parse().unwrap()),
        expires_at: Some(Expiry::Date(date(2024, 7, 31))),
        notify_on_expiry: true,
        snoozed_until: Some(instant("2024-07-02T13:30:00Z")),
        session: SessionScope::Extended,
        trigger: TriggerPrice::TwoLasts,
        base: PercentBase::PreviousClose,
        max_firings: Some(1_000),
    };
    assert_eq!(options, Ok(expected));
}

#[test]
fn omitted_and_null_options_have_their_defaults() {
    let nulls = json!({"repeat": null, "cooldown": null, "rearm": null, "expires_at": null, "max_firings": null});
    for value in [json!(null), json!({}), nulls] {
        assert_eq!(read(&value), Ok(AlertOptions::default()), "{value}");
    }
    assert_eq!(errors(&json!([])), "options: must be an object or null, not an array");
}

#[test]
fn unknown_names_are_errors_with_a_suggestion() {
    assert_eq!(
        errors(&json!({"cooldwn": "2h"})),
        "options.cooldwn: is unknown; did you mean cooldown?"
    );
    assert_eq!(
        errors(&json!({"colour": "red"})),
        "options.colour: is unknown; give repeat, cooldown, cooldown_refire, rearm, hold, expires_at, \
         notify_on_expiry, snoozed_until, session, trigger, base or max_firings"
    );
    assert_eq!(
        errors(&json!({"rearm": {"at": 5, "precent": 5}})),
        "options.rearm.precent: is unknown; did you mean percent?"
    );
    let hostile = errors(&json!({"<script>cooldown": 1}));
    assert!(
        hostile.starts_with("options: has an unknown member; give repeat"),
        "{hostile}"
    );
}

#[test]
fn wrong_values_name_the_allowed_ones() {
    for (name, value, message) in [
        (
            "repeat",
            json!("each_tine"),
            "must be once, each_time or once_per_day; did you mean each_time?",
        ),
        ("repeat", json!(3), "must be once, each_time or once_per_day"),
        ("session", json!("night"), "must be regular or extended"),
        (
            "trigger",
            json!("open"),
            "must be last, two_lasts, bid, ask, mid or close",
        ),
        ("base", json!("low"), "must be creation, prev_close or open"),
        ("cooldown_refire", json!("yes"), "must be true or false, not a string"),
        ("notify_on_expiry", json!(1), "must be true or false, not a number"),
        (
            "cooldown",
            json!("31d"),
            "must be a duration from 1m to 30d, such as \"15m\", \"2h\" or \"1d\"",
        ),
        (
            "cooldown",
            json!(5),
            "must be a duration from 1m to 30d, such as \"15m\", \"2h\" or \"1d\"",
        ),
        (
            "hold",
            json!("6d"),
            "must be a duration from 1m to 5d of session time, such as \"15m\", \"2h\" or \"1d\"",
        ),
        (
            "hold",
            json!("0m"),
            "must be a duration from 1m to 5d of session time, such as \"15m\", \"2h\" or \"1d\"",
        ),
        (
            "rearm",
            json!(5),
            "must be {\"at\": level} or {\"percent\": number}, not a number",
        ),
        ("rearm", json!({}), "must be {\"at\": level} or {\"percent\": number}"),
        (
            "rearm",
            json!({"at": 1, "percent": 1}),
            "must be {\"at\": level} or {\"percent\": number}",
        ),
        (
            "rearm.at",
            json!({"at": "5"}),
            "must be a number, not a string; write 5 without quotes",
        ),
        (
            "rearm.percent",
            json!({"percent": 0}),
            "must be a percentage above 0 and at most 100, but is 0",
        ),
        (
            "max_firings",
            json!(0),
            "must be a whole number from 1 to 1000, but is 0",
        ),
        (
            "max_firings",
            json!(1001),
            "must be a whole number from 1 to 1000, but is 1001",
        ),
        (
            "max_firings",
            json!(1.5),
            "must be a whole number from 1 to 1000, but is 1.5",
        ),
        (
            "expires_at",
            json!("soon"),
            "must be a date such as 2030-01-31 or a date-time such as 2030-01-31T09:30:00-05:00",
        ),
        (
            "snoozed_until",
            json!("2030-01-31"),
            "must be a date-time such as 2030-01-31T09:30:00-05:00",
        ),
        (
            "snoozed_until",
            json!("2h"),
            "must be a date-time such as 2030-01-31T09:30:00-05:00",
        ),
    ] {
        let mut options = json!({"repeat": "each_time"});
        options[name.split('.').next().unwrap()] = value;
        assert_eq!(errors(&options), format!("options.{name}: {message}"));
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    assert_eq!(
        errors(&json!({"cooldown": "5", "session": "night", "max_firings": -1})),
        "options.cooldown: must be a duration from 1m to 30d, such as \"15m\", \"2h\" or \"1d\" | \
         options.max_firings: must be a whole number from 1 to 1000, but is -1 | \
         options.session: must be regular or extended"
    );
}

#[test]
fn values_at_both_ends_are_accepted() {
    for value in [
        json!({"cooldown": "1m"}),
        json!({"cooldown": "30d"}),
        json!({"hold": "1m"}),
        json!({"hold": "1950m"}),
        json!({"rearm": {"percent": 0.000001}}),
        json!({"rearm": {"percent": 100}}),
        json!({"rearm": {"at": -3.5}}),
        json!({"repeat": "once_per_day", "max_firings": 1}),
        json!({"repeat": "each_time", "max_firings": 1000}),
    ] {
        assert!(read(&value).is_ok(), "{value}");
    }
    assert!(read(&json!({"rearm": {"percent": 100.000001}})).is_err());
}

#[test]
fn alert_that_fires_once_has_at_most_one_firing() {
    assert!(read(&json!({"max_firings": 1})).is_ok());
    assert!(read(&json!({"max_firings": 2, "repeat": "each_time"})).is_ok());
    for value in [json!({"max_firings": 2}), json!({"max_firings": 2, "repeat": "once"})] {
        assert_eq!(
            errors(&value),
            "options.max_firings: must be 1 or omitted for an alert that fires once; \
             set options.repeat to each_time or once_per_day"
        );
    }
    let misspelt = errors(&json!({"max_firings": 2, "repeat": "often"}));
    assert!(!misspelt.contains("max_firings"), "{misspelt}");
}

#[test]
fn expiry_must_be_ahead() {
    // Now is 2024-07-01T15:00:00Z; the day ends in New York at 04:00 UTC.
    for (value, is_valid) in [
        (json!({"expires_at": "2024-07-01"}), true),
        (json!({"expires_at": "2024-06-30"}), false),
        (json!({"expires_at": "2024-07-01T15:00:00Z"}), false),
        (json!({"expires_at": "2024-07-01T15:00:00.001Z"}), true),
        // The account's time zone is Berlin, at UTC + 2.
        (json!({"expires_at": "2024-07-01T17:00"}), false),
        (json!({"expires_at": "2024-07-01T17:01"}), true),
    ] {
        assert_eq!(read(&value).is_ok(), is_valid, "{value}");
        assert!(value["expires_at"].as_str() == Some("2024-07-01T17:00") || restore_options(&value).is_ok());
    }
    assert_eq!(
        errors(&json!({"expires_at": "2024-06-30"})),
        "options.expires_at: means 2024-07-01T04:00:00Z, which is in the past; give a moment after 2024-07-01T15:00:00Z"
    );
    let expiry = read(&json!({"expires_at": "2024-07-01"})).unwrap().expires();
    assert_eq!(expiry, Some(instant("2024-07-02T04:00:00Z")));
}

#[test]
fn snooze_that_has_ended_counts_as_omitted() {
    for (until, is_snoozed) in [
        ("2024-07-01T14:59:59Z", false),
        ("2024-07-01T15:00:00Z", false),
        ("2024-07-01T15:00:00.001Z", true),
    ] {
        let options = read(&json!({"snoozed_until": until})).unwrap();
        assert_eq!(options.snoozed_until.is_some(), is_snoozed, "{until}");
    }
}
