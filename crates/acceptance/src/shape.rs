//! What holds of every answer: how numbers, instants and ids are written.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

/// Panics if a number in the text is not written as JavaScript writes it.
pub(crate) fn check_numbers(text: &str) {
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = match first {
            b'"' => after_string(tail),
            b'-' | b'0'..=b'9' => {
                let length = rest
                    .iter()
                    .take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .count();
                let (number, after) = rest.split_at(length);
                check_number(std::str::from_utf8(number).unwrap());
                after
            }
            _ => tail,
        };
    }
}

fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some((&first, tail)) = rest.split_first() {
        rest = match first {
            b'"' => return tail,
            b'\\' => tail.get(1..).unwrap_or_default(),
            _ => tail,
        };
    }
    rest
}

fn check_number(number: &str) {
    let value: f64 = number.parse().unwrap();
    let written = ryu_js::Buffer::new().format(value).to_owned();
    assert_eq!(number, written, "a number is not written as JavaScript writes it");
}

/// Panics if an instant or an id in the value is not in the form that all are in.
pub(crate) fn check_values(value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(check_values),
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    // What users wrote is theirs.
                    ("parameters" | "details" | "alert_data", _) => {}
                    (name, Value::String(text)) if name.ends_with("_at") || name.ends_with("_timestamp") => {
                        assert!(is_instant(text), "{name} is {text:?}, not as 2026-01-31T14:30:00.000Z");
                    }
                    ("id" | "alert_id" | "alertId" | "user_id", Value::String(text)) => {
                        assert!(is_id(text), "{name} is {text:?}, no UUID of version 4 in lower case");
                    }
                    _ => check_values(value),
                }
            }
        }
        _ => {}
    }
}

/// Whether the text is an instant in UTC with milliseconds.
fn is_instant(text: &str) -> bool {
    let shape: String = text
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
        .collect();
    shape == "0000-00-00T00:00:00.000Z" && text.parse::<Timestamp>().is_ok()
}

/// Whether the text is an id as all are.
fn is_id(text: &str) -> bool {
    Uuid::parse_str(text).is_ok_and(|id| id.get_version_num() == 4 && id.to_string() == text)
}
