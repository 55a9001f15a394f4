//! JSON. The positions come from the reader of YAML, of which JSON is a subset.

use serde_json::Value;

use super::{FilePosition, Node, SyntaxError, yaml};

/// Reads a document.
pub(super) fn read(text: &str) -> Result<Node, SyntaxError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let position = FilePosition {
            line: error.line().max(1),
            column: error.column().max(1),
        };
        (position, format!("this is not valid JSON: {error}"))
    })?;
    // YAML does not allow tabs before values.
    let node = yaml::read(&text.replace('\t', " "))?;
    if node.to_json() == value {
        return Ok(node);
    }
    let message = "a text of this file has a tab; write it as \\t";
    Err((FilePosition::START, message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_same_values_and_its_positions() {
        let text = "{\n\t\"version\": 1,\n\t\"alerts\": [{\"name\": \"a\\u00e9\\\"b\\/\", \"threshold\": 1.50, \"tags\": []}]\n}\n";
        let node = read(text).unwrap();
        assert_eq!(node.to_json(), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(node.position_of("alerts.0.threshold").line, 3);
    }

    #[test]
    fn only_json_is_accepted() {
        for text in ["a: 1", "{\"a\": 1,}", "{'a': 1}", ""] {
            let (_, message) = read(text).unwrap_err();
            assert!(message.contains("not valid JSON"), "{message}");
        }
    }
}
