//! TOML.

use serde_json::Number;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{FilePosition, Key, Node, NodeKind, SyntaxError};

/// Reads a document.
pub(super) fn read(text: &str) -> Result<Node, SyntaxError> {
    let table = DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let position = FilePosition::of_byte(text, start);
        (position, format!("this is not valid TOML: {}", error.message()))
    })?;
    Ok(Node {
        position: FilePosition::START,
        kind: map(text, table.get_ref())?,
    })
}

fn map(text: &str, table: &DeTable<'_>) -> Result<NodeKind, SyntaxError> {
    let mut members = Vec::with_capacity(table.len());
    for (key, value) in table {
        let key = Key {
            name: key.get_ref().to_string(),
            position: FilePosition::of_byte(text, key.span().start),
        };
        members.push((key, node(text, value)?));
    }
    // The order of the file.
    members.sort_by_key(|(key, _)| key.position);
    Ok(NodeKind::Map(members))
}

fn node(text: &str, value: &Spanned<DeValue<'_>>) -> Result<Node, SyntaxError> {
    let position = FilePosition::of_byte(text, value.span().start);
    let number = |text: &str| {
        let integer: Option<i64> = text.parse().ok();
        let number = integer
            .map(Number::from)
            .or_else(|| Number::from_f64(text.parse().ok()?));
        number.ok_or_else(|| (position, "this number is not supported; write it in digits".to_owned()))
    };
    let kind = match value.get_ref() {
        DeValue::String(value) => return Ok(Node::text(position, value.as_ref())),
        DeValue::Integer(integer) if integer.radix() == 10 => NodeKind::Number(number(integer.as_str())?),
        DeValue::Integer(_) => return Err((position, "write this number in decimal digits".to_owned())),
        DeValue::Float(float) => NodeKind::Number(number(float.as_str())?),
        DeValue::Boolean(value) => NodeKind::Bool(*value),
        DeValue::Datetime(value) => return Ok(Node::text(position, value.to_string())),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| node(text, item));
            NodeKind::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => map(text, table)?,
    };
    Ok(Node { position, kind })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_positions_are_those_of_the_file() {
        let text = "version = 1\n\n[[alerts]]\nname = \"dip\"\nthreshold = 180.5\nexpect.fires_on = [2024-08-05]\n";
        let node = read(text).unwrap();
        let expected = json!({
            "version": 1,
            "alerts": [{"name": "dip", "threshold": 180.5, "expect": {"fires_on": ["2024-08-05"]}}],
        });
        assert_eq!(node.to_json(), expected);
        assert_eq!(
            node.position_of("alerts.0.threshold"),
            FilePosition { line: 5, column: 13 }
        );
    }

    #[test]
    fn syntax_error_has_its_place() {
        let (position, message) = read("version = 1\nalerts = [\n").unwrap_err();
        assert!(position.line >= 2 && message.contains("TOML"), "{position:?} {message}");
        assert!(read("a = 0x10\n").is_err());
    }
}
