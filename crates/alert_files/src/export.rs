//! Alerts of a server as files.

use std::collections::HashSet;

use alerts::MAX_MANAGED_NAME_CHARACTERS;
use client::RemoteAlert;
use serde_json::{Map, Value, json};

/// Returns the body of the request that creates an alert like this one.
#[must_use]
pub fn create_body(alert: &RemoteAlert) -> Map<String, Value> {
    let value = json!(alert);
    let fields = super::plan::FIELDS.iter().filter_map(|field| {
        let value = value.get(*field).filter(|value| !value.is_null())?;
        Some(((*field).to_owned(), value.clone()))
    });
    fields.collect()
}

/// Returns alerts as the content of a file, as JSON. A managed alert keeps its name; any other gets one from its condition.
#[must_use]
pub fn exported_file(alerts: &[RemoteAlert]) -> Value {
    let managed = alerts
        .iter()
        .filter_map(|alert| Some(alert.managed_by.as_ref()?.name.clone()));
    let mut names: HashSet<String> = managed.collect();
    let mut used = HashSet::new();
    let exported = alerts.iter().map(|alert| {
        let name = match &alert.managed_by {
            // Two sources may have the same name.
            Some(managed) if used.insert(managed.name.clone()) => managed.name.clone(),
            Some(managed) => unique(&managed.name, &mut names),
            None => unique(&described(alert), &mut names),
        };
        exported_alert(&name, alert)
    });
    json!({"version": 1, "alerts": exported.collect::<Vec<_>>()})
}

fn exported_alert(name: &str, alert: &RemoteAlert) -> Value {
    let mut exported = Map::from_iter([("name".to_owned(), Value::from(name))]);
    let mut notify = Map::new();
    for (field, value) in create_body(alert) {
        match field.as_str() {
            "condition" if value == "expression" => {}
            "parameters" => {
                let mut parameters = value.as_object().cloned().unwrap_or_default();
                if let Some(when) = parameters.shift_remove("when") {
                    exported.insert("when".to_owned(), when);
                }
                if !parameters.is_empty() {
                    exported.insert(field, parameters.into());
                }
            }
            "notification" if value == "email" => {}
            "notification" => drop(notify.insert("by".to_owned(), value)),
            "channels" | "policy" | "ack_timeout" | "urgent" => drop(notify.insert(field, value)),
            _ => drop(exported.insert(field, value)),
        }
    }
    match (notify.len(), notify.get("by")) {
        (0, _) => {}
        (1, Some(by)) => drop(exported.insert("notify".to_owned(), by.clone())),
        _ => drop(exported.insert("notify".to_owned(), notify.into())),
    }
    exported.into()
}

/// Returns a name that says what an alert watches: `aapl-price-below-180`.
fn described(alert: &RemoteAlert) -> String {
    let stock = alert.symbol.as_deref().unwrap_or("many-stocks");
    let threshold = alert.threshold.as_ref().map(|threshold| format!(" {threshold}"));
    let when = alert.parameters.as_ref().and_then(|parameters| parameters.get("when"));
    let condition = match when.and_then(Value::as_str) {
        Some(when) => when.to_owned(),
        None => format!("{}{}", alert.condition, threshold.unwrap_or_default()),
    };
    let text = format!("{stock} {condition}").to_lowercase().replace(['<', '>'], " ");
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let words = text.split(|c: char| !is_letter(c)).filter(|word| !word.is_empty());
    let mut name = words.collect::<Vec<_>>().join("-");
    name.truncate(MAX_MANAGED_NAME_CHARACTERS - 10);
    name
}

/// Returns the text, or the text with a number, as a name that no other alert has.
fn unique(text: &str, names: &mut HashSet<String>) -> String {
    let shortened: String = text.chars().take(MAX_MANAGED_NAME_CHARACTERS - 10).collect();
    let numbered = (2..).map(|number| format!("{shortened}-{number}"));
    let mut candidates = std::iter::once(text.to_owned()).chain(numbered);
    // The numbers never end.
    let name = candidates
        .find(|candidate| !names.contains(candidate))
        .unwrap_or_default();
    names.insert(name.clone());
    name
}
