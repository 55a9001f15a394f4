//! The moment of a reminder. The account's time zone is Berlin; the time is Monday, 2024-07-01, 11:00 in New York.

use alerts::Condition;
use serde_json::{Value, json};

use crate::requests::support::{NOW, body, create, create_at, instant};

/// Returns the instant of a reminder and its stored date, or the errors.
fn moment_at(now: &str, more: &Value) -> Result<(String, Value), String> {
    let parsed = create_at(now, &body("reminder", more)).map_err(|error| error.to_string())?;
    let Condition::Reminder { at } = parsed.condition else {
        panic!("{:?}", parsed.condition)
    };
    let parameters = parsed.parameters.unwrap_or_default();
    let names: Vec<_> = parameters.keys().map(String::as_str).collect();
    assert_eq!(names, ["date"], "{more}");
    Ok((at.to_string(), parameters["date"].clone()))
}

fn moment(more: &Value) -> Result<(String, Value), String> {
    moment_at(NOW, more)
}

#[test]
fn all_date_formats_are_normalized() {
    for (more, at, date) in [
        (
            json!({"parameters": {"date": "2024-07-02"}}),
            "2024-07-02T13:30:00Z",
            "2024-07-02",
        ),
        (
            json!({"parameters": {"date": " 2024-12-02 "}}),
            "2024-12-02T14:30:00Z",
            "2024-12-02",
        ),
        // Independence Day and a Sunday: closed, 09:30 in New York.
        (
            json!({"parameters": {"date": "2024-07-04"}}),
            "2024-07-04T13:30:00Z",
            "2024-07-04",
        ),
        (
            json!({"parameters": {"date": "2024-07-07"}}),
            "2024-07-07T13:30:00Z",
            "2024-07-07",
        ),
        (
            json!({"parameters": {"date": "2024-07-02T08:15:00Z"}}),
            "2024-07-02T08:15:00Z",
            "2024-07-02T08:15:00.000Z",
        ),
        (
            json!({"parameters": {"date": "2024-07-02T08:15:00.250-04:00"}}),
            "2024-07-02T12:15:00.25Z",
            "2024-07-02T12:15:00.250Z",
        ),
        (
            json!({"parameters": {"date": " 2024-07-02t08:15:00.1239z "}}),
            "2024-07-02T08:15:00.123Z",
            "2024-07-02T08:15:00.123Z",
        ),
        (
            json!({"parameters": {"date": "2024-07-02T08:15"}}),
            "2024-07-02T06:15:00Z",
            "2024-07-02T06:15:00.000Z",
        ),
        (
            json!({"parameters": {"date": "2024-12-02 08:15:30"}}),
            "2024-12-02T07:15:30Z",
            "2024-12-02T07:15:30.000Z",
        ),
        (
            json!({"parameters": {"reminder_date": "2024-07-02", "reminder_time": "18:05"}}),
            "2024-07-02T16:05:00Z",
            "2024-07-02T16:05:00.000Z",
        ),
        (
            json!({"parameters": {"reminderDate": "2024-07-02", "reminderTime": "18:05:30"}}),
            "2024-07-02T16:05:30Z",
            "2024-07-02T16:05:30.000Z",
        ),
        (
            json!({"parameters": {"date": "2024-07-02", "reminder_time": "18:05"}}),
            "2024-07-02T16:05:00Z",
            "2024-07-02T16:05:00.000Z",
        ),
        (
            json!({"parameters": {
                "date": "2024-07-02", "reminder_date": "2024-07-02", "reminder_time": "18:05"
            }}),
            "2024-07-02T16:05:00Z",
            "2024-07-02T16:05:00.000Z",
        ),
        (
            json!({"parameters": {
                "date": "2024-07-02T16:05:00Z", "reminder_date": "2024-07-02",
                "reminder_time": "18:05"
            }}),
            "2024-07-02T16:05:00Z",
            "2024-07-02T16:05:00.000Z",
        ),
        (
            json!({"parameters": {"reminder_date": "2024-07-02"}}),
            "2024-07-02T13:30:00Z",
            "2024-07-02",
        ),
        // With a date, the threshold is ignored.
        (
            json!({"threshold": "soon", "parameters": {"date": "2024-07-02", "reminder_time": null}}),
            "2024-07-02T13:30:00Z",
            "2024-07-02",
        ),
        // Without a date, it counts calendar days: Thursday is Independence Day.
        (json!({"threshold": 1}), "2024-07-02T13:30:00Z", "2024-07-02"),
        (
            json!({"threshold": 3.0, "parameters": null}),
            "2024-07-04T13:30:00Z",
            "2024-07-04",
        ),
        (
            json!({"threshold": 1, "parameters": {"date": null}}),
            "2024-07-02T13:30:00Z",
            "2024-07-02",
        ),
        (json!({"threshold": 36500}), "2124-06-07T13:30:00Z", "2124-06-07"),
    ] {
        assert_eq!(moment(&more), Ok((at.to_owned(), json!(date))), "{more}");
    }
}

#[test]
fn local_times_in_daylight_saving_gaps_and_folds_are_resolved() {
    for (date, at) in [
        // 02:30 does not exist in Berlin on the first night and occurs twice on the second.
        ("2025-03-30T02:30", "2025-03-30T01:30:00Z"),
        ("2024-10-27T02:30", "2024-10-27T00:30:00Z"),
    ] {
        let found = moment(&json!({"parameters": {"date": date}})).unwrap().0;
        assert_eq!(instant(&found), instant(at));
    }
}

#[test]
fn days_ahead_count_from_the_new_york_date() {
    // In Berlin it is already July 2nd.
    let late = moment_at("2024-07-02T01:00:00Z", &json!({"threshold": 1}));
    assert_eq!(late.unwrap().1, json!("2024-07-02"));
}

#[test]
fn rejects_past_moments_and_accepts_the_present() {
    let at = |now: &str, more: &Value| moment_at(now, more).map(|_| ());
    let today = json!({"parameters": {"date": "2024-07-01"}});
    let zero = json!({"threshold": 0});
    let instant = json!({"parameters": {"date": "2024-07-01T13:30:00Z"}});
    let clock = json!({"parameters": {"reminder_date": "2024-07-01", "reminder_time": "15:30"}});
    for (more, field) in [
        (today, "parameters.date"),
        (zero, "threshold"),
        (instant, "parameters.date"),
        (clock, "parameters.reminder_date"),
    ] {
        assert_eq!(at("2024-07-01T13:30:00Z", &more), Ok(()), "{more}");
        let message = at("2024-07-01T13:30:00.001Z", &more).unwrap_err();
        assert_eq!(
            message,
            format!(
                "{field}: means 2024-07-01T13:30:00Z, which is in the past; give a moment after \
                 2024-07-01T13:30:00Z (a date alone means 09:30 in New York)"
            )
        );
    }
    assert!(moment(&json!({"parameters": {"date": "0001-01-01"}})).is_err());
}

#[test]
fn missing_or_invalid_moment_is_rejected_with_a_fix() {
    let forms = "a date such as 2030-01-31 or a date-time such as 2030-01-31T09:30:00-05:00";
    for (more, expected) in [
        (
            json!({}),
            format!("parameters.date: is required for reminder; give {forms}"),
        ),
        (
            json!({"parameters": {}}),
            format!("parameters.date: is required for reminder; give {forms}"),
        ),
        (
            json!({"threshold": 1.5}),
            "threshold: must be a whole number of calendar days from 0 to 36500 for reminder, but \
             is 1.5"
                .to_owned(),
        ),
        (
            json!({"threshold": -1}),
            "threshold: must be a whole number of calendar days from 0 to 36500 for reminder, but \
             is -1"
                .to_owned(),
        ),
        (
            json!({"threshold": 36501}),
            "threshold: must be a whole number of calendar days from 0 to 36500 for reminder, but \
             is 36501"
                .to_owned(),
        ),
        (
            json!({"parameters": {"date": 1_720_000_000}}),
            format!("parameters.date: must be {forms}, not a number"),
        ),
        (
            json!({"parameters": {"reminder_time": "10:00"}}),
            "parameters.reminder_date: is required with parameters.reminder_time; give a date such \
             as 2030-01-31"
                .to_owned(),
        ),
        (
            json!({"parameters": {"date": "2024-07-02T10:00:00Z", "reminder_time": "10:00"}}),
            "parameters.reminder_time: must be omitted, because the date already has a time".to_owned(),
        ),
        (
            json!({"parameters": {"date": "2024-07-02", "reminder_date": "2024-07-03"}}),
            "parameters.reminder_date: contradicts parameters.date; send only parameters.date".to_owned(),
        ),
    ] {
        assert_eq!(moment(&more), Err(expected), "{more}");
    }
    for date in [
        "",
        "tomorrow",
        "2024-7-2",
        "07/02/2024",
        "2024-02-30",
        "20240702",
        "2024-07-02T25:00",
        "2024-07-02T10:00[Europe/Paris]",
        "2024-07-02T10:00:00+02:00[Europe/Berlin]",
        "10:00",
    ] {
        let rejected = moment(&json!({"parameters": {"date": date}}));
        assert_eq!(rejected, Err(format!("parameters.date: must be {forms}")), "{date}");
    }
    for time in [
        json!("9:30"),
        json!("24:00"),
        json!("10:60"),
        json!("noon"),
        json!(930),
        json!("+1:30"),
    ] {
        let rejected = create(&body(
            "reminder",
            &json!({"parameters": {"reminder_date": "2024-07-02", "reminder_time": time}}),
        ));
        assert_eq!(
            rejected.unwrap_err().to_string(),
            "parameters.reminder_time: must be a time of day as HH:MM, such as 09:30"
        );
    }
}

#[test]
fn all_errors_of_a_reminder_are_reported() {
    let rejected = create(&body(
        "reminder",
        &json!({"parameters": {"date": 1, "reminder_date": 2, "reminder_time": 3}}),
    ));
    assert_eq!(rejected.unwrap_err().to_string().matches(" | ").count(), 2);
}

#[test]
fn normalized_date_parses_to_the_same_moment() {
    let (at, date) = moment(&json!({"parameters": {"date": "2024-07-02T08:15:00.123456-04:00"}})).unwrap();
    assert_eq!(moment(&json!({"parameters": {"date": date}})), Ok((at, date)));
}

#[test]
fn note_is_a_string_of_at_most_2000_characters() {
    let noted = |kind: &str, note: Value| {
        let parameters = json!({"date": "2024-07-02", "note": note});
        create(&body(kind, &json!({"parameters": parameters})))
            .map(|parsed| parsed.parameters.unwrap_or_default().get("note").cloned())
            .map_err(|error| error.to_string())
    };
    for kind in ["reminder", "daily_reminder"] {
        let longest = json!("é".repeat(2_000));
        assert_eq!(noted(kind, longest.clone()), Ok(Some(longest)));
        assert_eq!(
            noted(kind, json!("é".repeat(2_001))),
            Err("parameters.note: must have at most 2000 characters, but has 2001; shorten it".to_owned())
        );
        assert_eq!(
            noted(kind, json!(7)),
            Err("parameters.note: must be a text of at most 2000 characters, not a number".to_owned())
        );
        assert_eq!(noted(kind, json!(" sell half\n")), Ok(Some(json!(" sell half\n"))));
        assert_eq!(noted(kind, json!(" \n")), Ok(None));
        assert_eq!(noted(kind, Value::Null), Ok(None));
    }
    // For other conditions it is client metadata.
    let free = create(&body("new_high", &json!({"parameters": {"note": 7}})));
    assert_eq!(free.unwrap().parameters.unwrap()["note"], json!(7));
}
