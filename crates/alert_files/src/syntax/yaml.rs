//! YAML 1.2, with the core schema for values without quotes.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};
use serde_json::Number;

use super::{FilePosition, Key, Node, NodeKind, SyntaxError};

/// The deepest nesting, beyond which no file of alerts goes.
const MAX_DEPTH: usize = 32;

/// Reads one document.
pub(super) fn read(text: &str) -> Result<Node, SyntaxError> {
    Reader(Parser::new_from_str(text)).document()
}

struct Reader<'a>(Parser<'a, saphyr_parser::StrInput<'a>>);

fn position(marker: Marker) -> FilePosition {
    FilePosition {
        line: marker.line(),
        column: marker.col() + 1,
    }
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), SyntaxError> {
        match self.0.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err((
                position(*error.marker()),
                format!("this is not valid YAML: {}", error.info()),
            )),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn document(&mut self) -> Result<Node, SyntaxError> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => {
                    let empty = Node {
                        position: FilePosition::START,
                        kind: NodeKind::Null,
                    };
                    return Ok(document.unwrap_or(empty));
                }
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
                _ if document.is_some() => {
                    let message = "a file has one document; put the other one into another file";
                    return Err((position(span.start), message.to_owned()));
                }
                event => document = Some(self.node(event, span, 0)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, SyntaxError> {
        let position = position(span.start);
        if depth > MAX_DEPTH {
            return Err((position, format!("values are nested at most {MAX_DEPTH} levels deep")));
        }
        let kind = match event {
            Event::Scalar(text, style, _, None) => scalar(text.into_owned(), style),
            Event::SequenceStart(_, None) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break NodeKind::List(items),
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(_, None) => self.map(depth)?,
            Event::Alias(_) => {
                let message = "anchors and aliases are not supported; use `defaults` for what alerts have in common";
                return Err((position, message.to_owned()));
            }
            _ => return Err((position, "tags are not supported; remove it".to_owned())),
        };
        Ok(Node { position, kind })
    }

    fn map(&mut self, depth: usize) -> Result<NodeKind, SyntaxError> {
        let mut members: Vec<(Key, Node)> = Vec::new();
        loop {
            let (name, at) = match self.next()? {
                (Event::MappingEnd, _) => return Ok(NodeKind::Map(members)),
                (Event::Scalar(text, ..), span) => (text.into_owned(), position(span.start)),
                (_, span) => return Err((position(span.start), "a key must be a text".to_owned())),
            };
            if members.iter().any(|(key, _)| key.name == name) {
                return Err((at, format!("`{name}` occurs twice; remove one of them")));
            }
            let (event, span) = self.next()?;
            let node = self.node(event, span, depth + 1)?;
            members.push((Key { name, position: at }, node));
        }
    }
}

fn scalar(text: String, style: ScalarStyle) -> NodeKind {
    let is_plain = style == ScalarStyle::Plain;
    match plain(&text).filter(|_| is_plain) {
        Some(kind) => kind,
        None => NodeKind::Text {
            value: text,
            with_variables: None,
            is_plain,
        },
    }
}

/// Returns the value of a scalar without quotes that is no text.
pub(super) fn plain(text: &str) -> Option<NodeKind> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(NodeKind::Null),
        "true" | "True" | "TRUE" => return Some(NodeKind::Bool(true)),
        "false" | "False" | "FALSE" => return Some(NodeKind::Bool(false)),
        _ => {}
    }
    // `.5` and `+1` are numbers in YAML, and not in JSON.
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let digits = unsigned.strip_prefix('-').unwrap_or(unsigned);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    if !is_number {
        return None;
    }
    let integer: Option<i64> = unsigned.parse().ok();
    let number = integer
        .map(Number::from)
        .or_else(|| Number::from_f64(unsigned.parse().ok()?));
    number.map(NodeKind::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn value(text: &str) -> Value {
        read(text).unwrap().to_json()
    }

    #[test]
    fn values_follow_the_core_schema() {
        let text = "a: 1\nb: -2.5\nc: .5\nd: true\ne: ~\nf: yes\ng: '1'\nh: 2024-08-05\ni: [x, 2]\nj: 1e3\nk:\n";
        let expected = json!({
            "a": 1, "b": -2.5, "c": 0.5, "d": true, "e": null, "f": "yes", "g": "1", "h": "2024-08-05", "i": ["x", 2],
            "j": 1000.0, "k": null,
        });
        assert_eq!(value(text), expected);
        assert_eq!(value(""), Value::Null);
    }

    #[test]
    fn positions_count_lines_and_columns_from_one() {
        let node = read("alerts:\n  - name: dip\n    threshold: 180\n").unwrap();
        assert_eq!(
            node.position_of("alerts.0.threshold"),
            FilePosition { line: 3, column: 16 }
        );
        assert_eq!(node.position_of("alerts.0.none"), FilePosition { line: 2, column: 5 });
    }

    #[test]
    fn what_files_of_alerts_do_not_need_is_refused_with_its_place() {
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!(error("a: 1\na: 2\n").0, FilePosition { line: 2, column: 1 });
        assert!(error("a: &x 1\nb: *x\n").1.contains("anchors"));
        assert!(error("a: !secret x\n").1.contains("tags"));
        assert!(error("a: 1\n---\nb: 2\n").1.contains("one document"));
        assert!(error("? [a]\n: b\n").1.contains("a key"));
        assert_eq!(error("a:\n  b: [1\nc: 2\n").0.line, 3);
        assert!(error(&"[".repeat(40)).1.contains("nested"));
    }
}
