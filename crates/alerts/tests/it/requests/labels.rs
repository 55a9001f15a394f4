//! The note and the tags of an alert in requests.

use alerts::request::{RequestError, changes_nothing};
use alerts::transition::{self, PriceAvailability, Transition};
use alerts::{Alert, Note, Status};
use serde_json::{Value, json};

use crate::requests::support::{NOW, alert, create, equivalent, instant, parsed, update};

fn noted(note: &Value, tags: &Value) -> Alert {
    alert("price_above", &json!({"threshold": 200, "note": note, "tags": tags}))
}

fn note_of(note: Option<&Note>) -> Option<&str> {
    note.map(Note::as_str)
}

#[test]
fn new_alert_has_the_trimmed_note_and_each_tag_once() {
    let alert = noted(&json!(" Sell half. "), &json!(["swing", " earnings", "swing"]));
    assert_eq!(note_of(alert.note.as_ref()), Some("Sell half."));
    assert_eq!(alert.tags.as_slice(), ["swing", "earnings"]);
    for (note, tags) in [(json!(null), json!(null)), (json!(" "), json!([]))] {
        let alert = noted(&note, &tags);
        assert_eq!((alert.note, alert.tags.is_empty()), (None, true));
    }
}

#[test]
fn invalid_notes_and_tags_are_errors_of_their_fields() {
    let long = "🚀".repeat(2_001);
    let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
    for (field, value, expected) in [
        ("note", json!(7), "must be a string or null, not a number"),
        (
            "note",
            json!(long),
            "must have at most 2000 characters, but has 2001; shorten it",
        ),
        (
            "note",
            json!("a\u{1b}b"),
            "must not have control characters other than line breaks and tabs; remove them",
        ),
        (
            "tags",
            json!("swing"),
            "must be an array of strings or null, not a string",
        ),
        ("tags", json!(["a", null]), "must be an array of strings"),
        ("tags", json!(["a", " "]), "must not have empty tags; remove them"),
        (
            "tags",
            json!(["a,b"]),
            "must have tags without commas and control characters; remove them",
        ),
        (
            "tags",
            json!(["x".repeat(41)]),
            "must have tags of at most 40 characters, but one has 41; shorten it",
        ),
        (
            "tags",
            json!(many),
            "must have at most 20 tags, but has 21; remove some",
        ),
    ] {
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, field: value});
        let current = noted(&Value::Null, &Value::Null);
        for error in [
            create(&body).unwrap_err(),
            update(&current, &json!({field: value})).unwrap_err(),
        ] {
            let RequestError::Invalid(errors) = error else {
                panic!("{error}");
            };
            assert_eq!(errors.of(field), [expected]);
        }
    }
}

#[test]
fn update_replaces_what_is_sent_and_keeps_what_is_omitted() {
    let current = noted(&json!("old"), &json!(["a", "b"]));
    for (body, note, tags) in [
        (json!({"threshold": 210}), Some("old"), &["a", "b"][..]),
        (json!({"note": "new"}), Some("new"), &["a", "b"]),
        (json!({"note": null}), None, &["a", "b"]),
        (json!({"note": "  "}), None, &["a", "b"]),
        (json!({"tags": ["c"]}), Some("old"), &["c"]),
        (json!({"tags": []}), Some("old"), &[]),
        (json!({"tags": null}), Some("old"), &[]),
    ] {
        assert!(!changes_nothing(&body), "{body}");
        let change = update(&current, &body).unwrap();
        assert_eq!(note_of(change.note.as_ref()), note, "{body}");
        assert_eq!(change.tags.as_slice(), tags, "{body}");
        assert_eq!(change.rearms, body.get("threshold").is_some(), "{body}");
    }
    assert!(changes_nothing(&json!({"notes": "misspelt"})));
}

#[test]
fn note_and_tags_do_not_make_alerts_different() {
    let existing = noted(&json!("mine"), &json!(["a"]));
    for more in [
        json!({"threshold": 200}),
        json!({"threshold": 200, "note": "other", "tags": ["b"]}),
    ] {
        assert!(equivalent(&existing, &parsed("price_above", &more)), "{more}");
    }
}

#[test]
fn change_of_only_note_and_tags_keeps_arming_and_revision() {
    let later = instant(NOW) + jiff::SignedDuration::from_secs(60);
    for status in [Status::Active, Status::Paused, Status::Triggered] {
        let mut before = noted(&json!("old"), &json!(["a"]));
        (before.status, before.initial_price) = (status, None);
        let change = update(&before, &json!({"note": "new", "tags": null})).unwrap();
        let done = transition::update(&before, change, PriceAvailability::Unknown, later);
        let Ok(Transition::Changed(changed)) = done else {
            panic!("{done:?}");
        };
        let change = update(&before, &json!({"note": "new", "tags": null})).unwrap();
        let expected = Alert {
            note: change.note,
            tags: change.tags,
            ..before.clone()
        };
        assert_eq!(changed.alert, expected);
        let same = update(&before, &json!({"note": "old", "tags": ["a"]})).unwrap();
        let done = transition::update(&before, same, PriceAvailability::Unknown, later);
        assert_eq!(done, Ok(Transition::Unchanged));
    }
}
