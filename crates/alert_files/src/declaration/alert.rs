//! An alert of a file.

use alerts::check_managed_name;
use serde_json::{Map, Value};

use super::keys;
use crate::error::{ErrorCollector, FileError};
use crate::expectation::Expectations;
use crate::syntax::{FilePosition, Key, Node, NodeKind};

/// An alert of a file, with the defaults of the file.
#[derive(Clone, Debug)]
pub struct DeclaredAlert {
    /// Its name, which is unique in the set of files.
    pub name: String,
    /// The name of its file.
    pub file: String,
    /// The expectations of its firings, for tests.
    pub expect: Expectations,
    /// Its keys and those of the defaults.
    node: Node,
}

impl DeclaredAlert {
    pub(super) fn read(item: &Node, defaults: &Node, file: &str, errors: &mut ErrorCollector<'_>) -> Option<Self> {
        let count = errors.errors.len();
        if item.members().is_none() {
            let message = format!("an alert must be a map with a name, not {}", item.kind_name());
            errors.add(item.position, message);
            return None;
        }
        keys::check(item, keys::ALERT_KEYS, errors);
        if let Some(notify) = item.get("notify") {
            keys::check(notify, keys::NOTIFY_KEYS, errors);
        }
        let name = read_name(item, errors);
        for other in ["condition", "threshold"] {
            if let (Some(when), Some(_)) = (item.get("when"), item.get(other)) {
                errors.add(when.position, format!("give either `when` or `{other}`"));
            }
        }
        if let (Some(symbol), Some(_)) = (item.get("symbol"), item.get("scope")) {
            errors.add(symbol.position, "give either `symbol` or `scope`");
        }
        if let (None, None) = (item.get("when"), item.get("condition")) {
            let message = "this alert has no condition; add `when` with an expression, such as `when: price < 180`";
            errors.add(item.position, message);
        }
        let expect = Expectations::read(item.get("expect"), errors);
        (errors.errors.len() == count).then(|| Self {
            name: name.unwrap_or_default(),
            file: file.to_owned(),
            expect: expect.unwrap_or_default(),
            node: with_defaults(item, defaults),
        })
    }

    /// Returns the place of the alert.
    #[must_use]
    pub fn position(&self) -> FilePosition {
        self.node.position
    }

    /// Returns an error at a field of the request of the API, such as `parameters.when`.
    #[must_use]
    pub fn error(&self, field: &str, message: impl Into<String>) -> FileError {
        FileError {
            file: self.file.clone(),
            position: self.position_of(field),
            message: message.into(),
        }
    }

    /// Returns the key of the file for a field of the request.
    pub(crate) fn key_of(&self, field: &str) -> String {
        match field {
            "parameters.when" if self.node.get("when").is_some() => "when".to_owned(),
            "notification" => match self.node.get("notify").and_then(Node::members) {
                Some(_) => "notify.by".to_owned(),
                None => "notify".to_owned(),
            },
            "channels" | "policy" | "ack_timeout" | "urgent" => format!("notify.{field}"),
            field => match field.strip_prefix("channels.") {
                Some(place) => format!("notify.channels.{place}"),
                None => field.to_owned(),
            },
        }
    }

    fn position_of(&self, field: &str) -> FilePosition {
        self.node.position_of(&self.key_of(field))
    }

    pub(super) fn names_channels(&self) -> bool {
        self.channels()
            .iter()
            .any(|channel| uuid::Uuid::try_parse(channel).is_err())
    }

    /// Returns the names or ids of its notification channels.
    pub(super) fn channels(&self) -> Vec<&str> {
        let channels = self.node.get("notify").and_then(|notify| notify.get("channels"));
        let items = channels.and_then(Node::items).unwrap_or_default();
        items.iter().filter_map(Node::as_text).collect()
    }

    /// Returns the names or ids of its notification channels as they are written; null without any.
    pub(crate) fn shown_channels(&self) -> Value {
        let channels = self.node.get("notify").and_then(|notify| notify.get("channels"));
        channels.map(Node::to_shown_json).unwrap_or_default()
    }

    /// Returns the body of the create request without notification channels. If it `is_shown`, variables have their names.
    pub(crate) fn body(&self, is_shown: bool) -> Map<String, Value> {
        let mut body = Map::new();
        let json = |node: &Node| match is_shown {
            true => node.to_shown_json(),
            false => node.to_json(),
        };
        for (key, node) in self.node.members().unwrap_or_default() {
            let name = key.name.as_str();
            match name {
                "name" | "expect" => {}
                "when" => {
                    body.insert("condition".to_owned(), "expression".into());
                    let parameters = body.entry("parameters").or_insert_with(|| Map::new().into());
                    parameters["when"] = json(node);
                }
                "parameters" => {
                    let own = json(node);
                    match (body.get_mut("parameters").and_then(Value::as_object_mut), own) {
                        (Some(parameters), Value::Object(own)) => parameters.extend(own),
                        (_, own) => drop(body.insert(name.to_owned(), own)),
                    }
                }
                "notify" => body.extend(notify_members(node, json)),
                _ => drop(body.insert(name.to_owned(), json(node))),
            }
        }
        body
    }
}

/// Returns the members of a request for `notify`, apart from its channels: `email`, or a map.
fn notify_members(node: &Node, json: impl Fn(&Node) -> Value) -> Map<String, Value> {
    let Some(members) = node.members() else {
        return Map::from_iter([("notification".to_owned(), json(node))]);
    };
    let members = members.iter().filter(|(key, _)| key.name != "channels");
    members
        .map(|(key, node)| {
            let name = match key.name.as_str() {
                "by" => "notification",
                name => name,
            };
            (name.to_owned(), json(node))
        })
        .collect()
}

fn read_name(item: &Node, errors: &mut ErrorCollector<'_>) -> Option<String> {
    let Some(node) = item.get("name") else {
        let message = "this alert has no name; add a `name` that is unique in your files, such as `apple-dip`";
        errors.add(item.position, message);
        return None;
    };
    let Some(name) = node.as_text() else {
        let message = format!("`name` must be a text, not {}; put it into quotes", node.kind_name());
        errors.add(node.position, message);
        return None;
    };
    if let Err(error) = check_managed_name(name) {
        errors.add(node.position, format!("`name` {error}"));
        return None;
    }
    Some(name.to_owned())
}

/// Returns the keys of an alert, and those of the defaults that it does not have. Options are combined one by one.
fn with_defaults(item: &Node, defaults: &Node) -> Node {
    let mut members: Vec<(Key, Node)> = item.members().unwrap_or_default().to_vec();
    let has_stocks = item.get("symbol").is_some() || item.get("scope").is_some();
    for (key, default) in defaults.members().unwrap_or_default() {
        let name = key.name.as_str();
        let own = members.iter_mut().find(|(own, _)| own.name == name);
        match own {
            Some((_, own)) if name == "options" => {
                if let (NodeKind::Map(own), Some(default)) = (&mut own.kind, default.members()) {
                    let missing = default
                        .iter()
                        .filter(|(key, _)| !own.iter().any(|(own, _)| own.name == key.name));
                    let missing: Vec<_> = missing.cloned().collect();
                    own.extend(missing);
                }
            }
            Some(_) => {}
            None if has_stocks && matches!(name, "symbol" | "scope") => {}
            None => members.push((key.clone(), default.clone())),
        }
    }
    Node {
        position: item.position,
        kind: NodeKind::Map(members),
    }
}
