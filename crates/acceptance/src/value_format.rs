//! Format rules for every response: numbers, timestamps and ids.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

/// Panics if a number in the JSON text is not formatted as JavaScript formats it.
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
    assert_eq!(number, written, "a number is not formatted as JavaScript formats it");
}

/// Panics if a timestamp or an id in the value does not have the standard format.
pub(crate) fn check_values(value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(check_values),
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    // Users choose the content of these fields.
                    ("parameters" | "details" | "alert_data", _) => {}
                    (name, Value::String(text)) if name.ends_with("_at") || name.ends_with("_timestamp") => {
                        assert!(
                            is_timestamp(text),
                            "{name} is {text:?}, not formatted like 2026-01-31T14:30:00.000Z"
                        );
                    }
                    ("id" | "alert_id" | "alertId" | "user_id", Value::String(text)) => {
                        assert!(
                            is_id(text),
                            "{name} is {text:?}, not a lower-case UUID of version 4 or 7"
                        );
                    }
                    _ => check_values(value),
                }
            }
        }
        _ => {}
    }
}

/// Returns whether the text is a UTC timestamp with milliseconds.
fn is_timestamp(text: &str) -> bool {
    let shape: String = text
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
        .collect();
    shape == "0000-00-00T00:00:00.000Z" && text.parse::<Timestamp>().is_ok()
}

/// Returns whether the text is a lower-case UUID of version 4, or of version 7, which ids of firings have.
fn is_id(text: &str) -> bool {
    Uuid::parse_str(text).is_ok_and(|id| matches!(id.get_version_num(), 4 | 7) && id.to_string() == text)
}
