//! A value of a file with its position.

use serde_json::{Map, Number, Value};

use super::FilePosition;

/// A value with its position.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) position: FilePosition,
    pub(crate) kind: NodeKind,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum NodeKind {
    Null,
    Bool(bool),
    Number(Number),
    Text {
        value: String,
        /// The text in the file, if it has variables.
        with_variables: Option<String>,
        /// Whether the value is a number, a boolean or null if it looks like one, as a YAML scalar without quotes.
        is_plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a map.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) position: FilePosition,
}

impl Node {
    pub(crate) fn text(position: FilePosition, value: impl Into<String>) -> Self {
        let kind = NodeKind::Text {
            value: value.into(),
            with_variables: None,
            is_plain: false,
        };
        Self { position, kind }
    }

    /// Returns the members of a map.
    pub(crate) fn members(&self) -> Option<&[(Key, Self)]> {
        match &self.kind {
            NodeKind::Map(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the items of a list.
    pub(crate) fn items(&self) -> Option<&[Self]> {
        match &self.kind {
            NodeKind::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the member with a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let mut members = self.members()?.iter();
        members.find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns the kind in words: "a list".
    pub(crate) const fn kind_name(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "nothing",
            NodeKind::Bool(_) => "true or false",
            NodeKind::Number(_) => "a number",
            NodeKind::Text { .. } => "a text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }

    /// Returns the value as JSON.
    pub(crate) fn to_json(&self) -> Value {
        self.json(false)
    }

    /// Returns the value as JSON as it may be shown: variables by their names.
    pub(crate) fn to_shown_json(&self) -> Value {
        self.json(true)
    }

    fn json(&self, is_shown: bool) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(value) => Value::Bool(*value),
            NodeKind::Number(number) => Value::Number(number.clone()),
            NodeKind::Text {
                value, with_variables, ..
            } => match with_variables {
                Some(text) if is_shown => Value::String(text.clone()),
                _ => Value::String(value.clone()),
            },
            NodeKind::List(items) => items.iter().map(|item| item.json(is_shown)).collect(),
            NodeKind::Map(members) => {
                let members = members
                    .iter()
                    .map(|(key, node)| (key.name.clone(), node.json(is_shown)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the position of the value at a path such as `options.cooldown`, or of the nearest value above it.
    pub(crate) fn position_of(&self, path: &str) -> FilePosition {
        let (name, rest) = path.split_once('.').map_or((path, ""), |(name, rest)| (name, rest));
        let inner = match &self.kind {
            NodeKind::List(items) => name.parse().ok().and_then(|index: usize| items.get(index)),
            _ => self.get(name),
        };
        match inner {
            Some(node) if rest.is_empty() => node.position,
            Some(node) => node.position_of(rest),
            None => self.position,
        }
    }
}
