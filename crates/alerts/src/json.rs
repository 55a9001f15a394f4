//! JSON in the format of JavaScript.
//!
//! Some webhook receivers parse a body and verify its signature over the output of `JSON.stringify`. All JSON that is written
//! here is therefore unchanged by `JSON.stringify(JSON.parse(text))`: numbers in JavaScript's shortest form (`200`, not `200.0`;
//! `1e-7`, `1e+21`), integers beyond 2⁵³ as the double they become, compact output, and members whose names are array indexes
//! first, in numeric order.

use std::io::{self, Write};

use market::Decimal;
use serde::Serialize;
use serde_json::{Map, Number, Value};

/// The largest bound up to which every integer is exactly representable as a double.
const MAX_SAFE: u64 = 1 << 53;

/// A formatter that writes numbers like JavaScript.
struct JavaScript;

impl serde_json::ser::Formatter for JavaScript {
    fn write_i64<W: ?Sized + Write>(&mut self, writer: &mut W, value: i64) -> io::Result<()> {
        if value.unsigned_abs() <= MAX_SAFE {
            write!(writer, "{value}")
        } else {
            self.write_f64(writer, value as f64)
        }
    }

    fn write_u64<W: ?Sized + Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        if value <= MAX_SAFE {
            write!(writer, "{value}")
        } else {
            self.write_f64(writer, value as f64)
        }
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // JavaScript writes negative zero without a sign.
        let value = if value == 0.0 { 0.0 } else { value };
        writer.write_all(ryu_js::Buffer::new().format(value).as_bytes())
    }
}

/// Writes a value as compact JSON.
///
/// # Errors
/// Returns an error if the value cannot be represented as JSON, for example a map whose keys are not strings.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::with_capacity(256);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, JavaScript))?;
    Ok(bytes)
}

/// Writes a JSON value as compact text.
#[must_use]
pub fn text(value: &Value) -> String {
    let bytes = to_vec(value).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Converts a decimal to a JSON number. `None` never occurs, because every decimal has a JSON number.
#[must_use]
pub fn number(decimal: Decimal) -> Option<Number> {
    match decimal.as_whole() {
        Some(whole) => Some(whole.into()),
        None => Number::from_f64(decimal.as_f64()),
    }
}

/// Returns the object with its members, and those of nested objects, in JavaScript's order.
#[must_use]
pub fn in_javascript_order(map: Map<String, Value>) -> Map<String, Value> {
    let (mut indexes, others): (Vec<_>, Vec<_>) = map.into_iter().partition(|(key, _)| array_index(key).is_some());
    indexes.sort_by_key(|(key, _)| array_index(key));
    let members = indexes.into_iter().chain(others);
    members.map(|(key, value)| (key, ordered(value))).collect()
}

fn ordered(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(in_javascript_order(map)),
        Value::Array(values) => Value::Array(values.into_iter().map(ordered).collect()),
        other => other,
    }
}

/// Returns the key as a JavaScript array index: an integer below 2³² − 1 in canonical form.
fn array_index(key: &str) -> Option<u32> {
    let index: u32 = key.parse().ok()?;
    (index < u32::MAX && index.to_string() == key).then_some(index)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_formatted_like_javascript() {
        for (value, written) in [
            (json!(200.0), "200"),
            (json!(198.66), "198.66"),
            (json!(1e-7), "1e-7"),
            (json!(0.000_001), "0.000001"),
            (json!(1e21), "1e+21"),
            (json!(123_456_789_012_345_680_000.0), "123456789012345680000"),
            (json!(-0.0), "0"),
            (json!(9_007_199_254_740_993_u64), "9007199254740992"),
            (json!(-9_007_199_254_740_993_i64), "-9007199254740992"),
            (json!(u64::MAX), "18446744073709552000"),
            (json!(-3), "-3"),
        ] {
            assert_eq!(text(&value), written);
        }
    }

    #[test]
    fn array_index_members_come_first_in_numeric_order() {
        let map = json!({"b": 1, "10": {"z": 0, "2": 0}, "9": 2, "01": 3, "4294967295": 4});
        let Value::Object(map) = map else { unreachable!() };
        let keys: Vec<String> = in_javascript_order(map).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys[..2], ["9", "10"]);
    }
}
