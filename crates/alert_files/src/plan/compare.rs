//! The comparison of an alert of a file with that of the server.

use alerts::request::ParseContext;
use client::{RemoteAlert, RemoteManagedBy};
use serde_json::{Map, Value};

use super::FieldChange;
use crate::declaration::{ValidAlert, read_alert};
use crate::export::create_body;
use crate::normal_form::{NormalForm, Part};

/// Stands for a value that a variable may have set.
const HIDDEN: &str = "(hidden: the file has a variable here)";

/// The fields of an alert that files can have, in the order in which they are shown.
pub(crate) const FIELDS: &[&str] = &[
    "symbol",
    "scope",
    "condition",
    "threshold",
    "parameters",
    "options",
    "notification",
    "channels",
    "policy",
    "ack_timeout",
    "urgent",
    "note",
    "tags",
];

/// A managed alert of the server.
#[derive(Debug)]
pub(super) struct PresentAlert<'a> {
    pub(super) alert: &'a RemoteAlert,
    pub(super) managed_by: &'a RemoteManagedBy,
    /// The fields as in the body of a create request.
    body: Map<String, Value>,
    /// `None`: this program does not know the kind of the alert.
    pub(super) normal: Option<NormalForm>,
}

impl<'a> PresentAlert<'a> {
    /// Reads an alert; `None` if people manage it.
    pub(super) fn read(alert: &'a RemoteAlert, context: &ParseContext<'_>) -> Option<Self> {
        let managed_by = alert.managed_by.as_ref()?;
        let body = create_body(alert);
        let normal = read_alert(&Value::Object(body.clone()), context)
            .ok()
            .map(|read| read.normal);
        Some(Self {
            alert,
            managed_by,
            body,
            normal,
        })
    }

    pub(super) fn name(&self) -> &'a str {
        &self.managed_by.name
    }

    pub(super) fn stocks(&self) -> String {
        stocks(&Value::Object(self.body.clone()))
    }
}

/// Returns the stock, or the stocks, of a body in words.
pub(super) fn stocks(body: &Value) -> String {
    if let Some(symbol) = body["symbol"].as_str() {
        return symbol.to_uppercase();
    }
    if let Some(symbols) = body["scope"]["symbols"].as_array() {
        return match symbols.as_slice() {
            [symbol] => symbol.as_str().unwrap_or_default().to_uppercase(),
            symbols => format!("{} stocks", symbols.len()),
        };
    }
    match body["scope"]["watchlist"].as_str() {
        Some("all") | None => "watchlist".to_owned(),
        Some(intention) => format!("watchlist ({intention})"),
    }
}

/// Returns the body of the update that changes parts of an alert.
pub(super) fn update_body(alert: &ValidAlert<'_>, present: &PresentAlert<'_>, parts: &[Part]) -> Value {
    let mut body = Map::new();
    for field in parts.iter().flat_map(|part| part.fields()) {
        let value = alert.body.get(*field).cloned().unwrap_or_default();
        let value = match *field {
            // Null has no effect on these.
            "notification" if value.is_null() => "email".into(),
            "urgent" if value.is_null() => false.into(),
            "options" => with_snooze(value, present),
            _ => value,
        };
        body.insert((*field).to_owned(), value);
    }
    Value::Object(body)
}

/// Keeps the snooze of an alert, which people set. Options are replaced as a whole.
fn with_snooze(options: Value, present: &PresentAlert<'_>) -> Value {
    let snooze = present
        .alert
        .options
        .as_ref()
        .and_then(|options| options.get("snoozed_until"));
    let Some(snooze) = snooze.filter(|_| options.get("snoozed_until").is_none()) else {
        return options;
    };
    let mut options = match options {
        Value::Object(options) => options,
        _ => Map::new(),
    };
    options.insert("snoozed_until".to_owned(), snooze.clone());
    Value::Object(options)
}

/// Returns the changes of the fields of some parts, or of all. Where the file has a variable, the present value is hidden, since it may
/// be that of the variable.
pub(super) fn field_changes(
    alert: &ValidAlert<'_>,
    present: Option<&PresentAlert<'_>>,
    parts: Option<&[Part]>,
) -> Vec<FieldChange> {
    let (shown, with_values) = (alert.declared.body(true), alert.declared.body(false));
    let is_changed = |field: &str| parts.is_none_or(|parts| parts.iter().any(|part| part.fields().contains(&field)));
    let mut changes = Vec::new();
    for field in FIELDS.iter().filter(|field| is_changed(field)) {
        let has_variable = shown.get(*field) != with_values.get(*field);
        let before = present
            .and_then(|present| present.body.get(*field))
            .cloned()
            .unwrap_or_default();
        let after = match *field {
            // Names instead of ids.
            "channels" => alert.declared.shown_channels(),
            field => shown.get(field).cloned().unwrap_or_default(),
        };
        if before == after || is_default(field, &before) && is_default(field, &after) {
            continue;
        }
        let before = match has_variable && !before.is_null() {
            true => HIDDEN.into(),
            false => before,
        };
        changes.push(FieldChange {
            field: (*field).to_owned(),
            before,
            after,
        });
    }
    merge_expression(changes)
}

/// Whether a value is the default of its field.
fn is_default(field: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => field == "notification" && text == "email",
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(value) => !value,
        Value::Number(_) => false,
    }
}

/// Shows an expression under the key of the files: `when`.
fn merge_expression(changes: Vec<FieldChange>) -> Vec<FieldChange> {
    let only_when = |value: &Value| match value.as_object() {
        Some(members) => members.len() == 1 && members.contains_key("when"),
        None => value.is_null(),
    };
    let is_expression = |change: &FieldChange| {
        change.field == "parameters"
            && only_when(&change.before)
            && only_when(&change.after)
            && !(change.before.is_null() && change.after.is_null())
    };
    if !changes.iter().any(is_expression) {
        return changes;
    }
    let when = |value: &Value| value.get("when").cloned().unwrap_or_default();
    changes
        .into_iter()
        .filter(|change| change.field != "condition" || !change.before.is_null())
        .map(|change| match change.field.as_str() {
            "parameters" => FieldChange {
                field: "when".to_owned(),
                before: when(&change.before),
                after: when(&change.after),
            },
            _ => change,
        })
        .collect()
}
