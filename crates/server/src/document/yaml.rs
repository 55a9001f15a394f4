//! JSON as YAML: blocks for people, and every text as JSON writes it, which is YAML too.

use std::fmt::Write as _;

use serde_json::Value;

/// Writes a value as a YAML document.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

/// Writes a value that begins at the start of a line.
fn block(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                indent(out, depth);
                key(out, name);
                out.push(':');
                nested(out, member, depth + 1);
            }
        }
        Value::Array(values) if !values.is_empty() => {
            for value in values {
                indent(out, depth);
                out.push('-');
                nested(out, value, depth + 1);
            }
        }
        scalar => {
            indent(out, depth);
            out.push_str(&alerts::json::text(scalar));
            out.push('\n');
        }
    }
}

/// Writes a value behind `key:` or `-`.
fn nested(out: &mut String, value: &Value, depth: usize) {
    let is_block = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(values) => !values.is_empty(),
        _ => false,
    };
    if is_block {
        out.push('\n');
        block(out, value, depth);
    } else {
        out.push(' ');
        block(out, value, 0);
    }
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// A key; quoted unless it is a plain word, for YAML reads `on` and `200` otherwise.
fn key(out: &mut String, name: &str) {
    let mut chars = name.chars();
    let is_word = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '$')
        && chars.all(|character| character.is_ascii_alphanumeric() || character == '_');
    let means_something_else = matches!(
        name.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    );
    if is_word && !means_something_else {
        out.push_str(name);
    } else {
        // Writing to a String does not fail.
        let _ = write!(out, "{}", alerts::json::text(&Value::String(name.to_owned())));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_and_arrays_are_blocks_and_texts_are_quoted() {
        let value = json!({
            "openapi": "3.1.0",
            "paths": {"/a": {"get": {"tags": ["A", 1, true, null], "200": {}, "empty": [], "on": "a\n\"b\": #"}}},
            "list": [{"a": 1.0, "b": [[2]]}],
        });
        let written = concat!(
            "openapi: \"3.1.0\"\n",
            "paths:\n",
            "  \"/a\":\n",
            "    get:\n",
            "      tags:\n",
            "        - \"A\"\n",
            "        - 1\n",
            "        - true\n",
            "        - null\n",
            "      \"200\": {}\n",
            "      empty: []\n",
            "      \"on\": \"a\\n\\\"b\\\": #\"\n",
            "list:\n",
            "  -\n",
            "    a: 1\n",
            "    b:\n",
            "      -\n",
            "        - 2\n",
        );
        assert_eq!(text(&value), written);
    }
}
