//! A YAML writer for JSON values. It writes blocks for readability, simple strings unquoted, and all others as JSON strings,
//! which are valid YAML.

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
            match scalar {
                Value::String(text) if is_plain(text) => out.push_str(text),
                other => out.push_str(&alerts::json::text(other)),
            }
            out.push('\n');
        }
    }
}

/// Returns `true` if a string needs no quotes: a version, or words that start with a letter and are not ambiguous.
fn is_plain(text: &str) -> bool {
    let is_version = text.split('.').count() == 3 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_words = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _-./,;()".contains(&byte));
    is_version || (is_words && !is_ambiguous_in_yaml(text))
}

/// Returns `true` for words that YAML 1.1 or 1.2 parsers do not read as strings.
fn is_ambiguous_in_yaml(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    )
}

/// Writes a multi-line string as a literal block. Returns `false` for strings that would not round-trip.
fn literal(out: &mut String, text: &str, depth: usize) -> bool {
    let is_literal = text.contains('\n')
        && text.ends_with(|last: char| !last.is_whitespace() || last == '\n')
        && !text.ends_with("\n\n")
        && !text.starts_with(char::is_whitespace)
        && text
            .chars()
            .all(|character| character == '\n' || !character.is_control());
    if is_literal {
        out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
        for line in text.lines() {
            if !line.is_empty() {
                indent(out, depth);
                out.push_str(line);
            }
            out.push('\n');
        }
    }
    is_literal
}

/// Writes a value after `key:` or `-`.
fn nested(out: &mut String, value: &Value, depth: usize) {
    let is_block = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(values) => !values.is_empty(),
        _ => false,
    };
    if is_block {
        out.push('\n');
        block(out, value, depth);
    } else if !value.as_str().is_some_and(|text| literal(out, text, depth)) {
        out.push(' ');
        block(out, value, 0);
    }
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Writes a key, quoted unless it is a simple word. YAML would misread `on` and `200`.
fn key(out: &mut String, name: &str) {
    let mut chars = name.chars();
    let is_word = chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '$')
        && chars.all(|character| character.is_ascii_alphanumeric() || character == '_');
    if is_word && !is_ambiguous_in_yaml(name) {
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
    fn writes_blocks_and_quotes_ambiguous_strings() {
        let value = json!({
            "openapi": "3.1.0",
            "version": "1.2",
            "text": "# One\n\ntwo: \"three\"",
            "lines": "a\n",
            "words": "An alert, by id (or not)",
            "quoted": "a: b",
            "paths": {"/a": {"get": {"tags": ["A", 1, true, null], "200": {}, "empty": [], "on": "a\t\"b\": #"}}},
            "list": [{"a": 1.0, "b": [[2]]}],
        });
        let written = concat!(
            "openapi: 3.1.0\n",
            "version: \"1.2\"\n",
            "text: |-\n",
            "  # One\n",
            "\n",
            "  two: \"three\"\n",
            "lines: |\n",
            "  a\n",
            "words: An alert, by id (or not)\n",
            "quoted: \"a: b\"\n",
            "paths:\n",
            "  \"/a\":\n",
            "    get:\n",
            "      tags:\n",
            "        - A\n",
            "        - 1\n",
            "        - true\n",
            "        - null\n",
            "      \"200\": {}\n",
            "      empty: []\n",
            "      \"on\": \"a\\t\\\"b\\\": #\"\n",
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
