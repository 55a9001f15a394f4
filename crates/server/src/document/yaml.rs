//! JSON as YAML: blocks for people, plain words plain, and every other text as JSON writes it, which is YAML too.

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

/// Whether a text means itself without quotes: a version, or words that begin with a letter and mean nothing else.
fn is_plain(text: &str) -> bool {
    let is_version = text.split('.').count() == 3 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_words = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _-./,;()".contains(&byte));
    is_version || (is_words && !means_something_else(text))
}

/// What YAML readers, old ones too, take for no text.
fn means_something_else(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    )
}

/// Writes a text of several lines as one reads it. Only for texts that come out as they went in.
fn literal(out: &mut String, text: &str, depth: usize) -> bool {
    let is_fit = text.contains('\n')
        && text.ends_with(|last: char| !last.is_whitespace() || last == '\n')
        && !text.ends_with("\n\n")
        && !text.starts_with(char::is_whitespace)
        && text
            .chars()
            .all(|character| character == '\n' || !character.is_control());
    if is_fit {
        out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
        for line in text.lines() {
            if !line.is_empty() {
                indent(out, depth);
                out.push_str(line);
            }
            out.push('\n');
        }
    }
    is_fit
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

/// A key; quoted unless it is a plain word, for YAML reads `on` and `200` otherwise.
fn key(out: &mut String, name: &str) {
    let mut chars = name.chars();
    let is_word = chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '$')
        && chars.all(|character| character.is_ascii_alphanumeric() || character == '_');
    if is_word && !means_something_else(name) {
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
    fn objects_and_arrays_are_blocks_and_texts_that_could_mean_something_else_are_quoted() {
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
