//! The export of a service with the same API: the responses of `GET /alerts`, one or many, as JSON.

use serde_json::{Deserializer, Map, Value};

use super::{ImportError, ImportSkip, ImportedItem};

/// The fields of an alert that a create request takes.
const FIELDS: [&str; 5] = ["symbol", "condition", "threshold", "notification", "parameters"];
/// The fields that belong to the service from which the alerts come.
const KNOWN: [&str; 12] = [
    "id",
    "status",
    "created_at",
    "updated_at",
    "triggered_at",
    "initial_price",
    "stock",
    "stocks",
    "evaluation",
    "created_by",
    "user_id",
    "last_triggered_at",
];

/// Reads pages: envelopes with `data`, lists of alerts, or single alerts, one after the other. Alerts that are not active are left out
/// unless `takes_all`, since they would be active again.
///
/// # Errors
/// [`ImportError`] if the text is not JSON, or a page has no alerts.
pub fn read_stockalert(text: &str, takes_all: bool) -> Result<Vec<ImportedItem>, ImportError> {
    let mut alerts = Vec::new();
    for (page, value) in Deserializer::from_str(text).into_iter::<Value>().enumerate() {
        let value = value.map_err(|error| ImportError(format!("this is not valid JSON: {error}")))?;
        alerts.extend(alerts_of(value).ok_or_else(|| {
            ImportError(format!(
                "page {} has no alerts; give the responses of GET /alerts, each an object with `data`",
                page + 1
            ))
        })?);
    }
    let items = alerts.into_iter().enumerate();
    Ok(items.map(|(index, alert)| item(index, &alert, takes_all)).collect())
}

fn alerts_of(page: Value) -> Option<Vec<Value>> {
    match page {
        Value::Array(alerts) => Some(alerts),
        Value::Object(mut envelope) => match envelope.remove("data") {
            Some(Value::Array(alerts)) => Some(alerts),
            Some(alert @ Value::Object(_)) => Some(vec![alert]),
            None if envelope.contains_key("condition") => Some(vec![Value::Object(envelope)]),
            _ => None,
        },
        _ => None,
    }
}

fn item(index: usize, alert: &Value, takes_all: bool) -> ImportedItem {
    let text = |name: &str| alert[name].as_str().unwrap_or("?");
    let threshold = match &alert["threshold"] {
        Value::Null => String::new(),
        threshold => format!(" {threshold}"),
    };
    ImportedItem {
        place: format!("alert {}", index + 1),
        title: format!("{} {}{threshold}", text("symbol"), text("condition")),
        body: body(alert, takes_all),
    }
}

fn body(alert: &Value, takes_all: bool) -> Result<Map<String, Value>, ImportSkip> {
    let Some(members) = alert.as_object() else {
        return Err(ImportSkip::NotUnderstood("an alert must be an object".to_owned()));
    };
    let mut unknown = members
        .keys()
        .filter(|name| !FIELDS.contains(&name.as_str()) && !KNOWN.contains(&name.as_str()));
    if let Some(unknown) = unknown.next() {
        return Err(ImportSkip::NotUnderstood(format!("the field `{unknown}` is unknown")));
    }
    match alert["status"].as_str() {
        Some("active") | None => {}
        Some(_) if takes_all => {}
        Some(status) => {
            let reason = format!("it is {status}, and would be active again; --all imports it");
            return Err(ImportSkip::LeftOut(reason));
        }
    }
    let fields = FIELDS.iter().filter_map(|field| {
        let value = members.get(*field).filter(|value| !value.is_null())?;
        Some(((*field).to_owned(), value.clone()))
    });
    Ok(fields.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn alert(status: &str) -> Value {
        json!({
            "id": "1", "symbol": "AAPL", "condition": "rsi_limit", "threshold": 30, "notification": "email", "status": status,
            "created_at": "2026-01-01T00:00:00Z", "initial_price": 1.5, "parameters": {"direction": "below"},
            "stocks": {"name": "Apple", "last_price": 1},
        })
    }

    #[test]
    fn pages_are_read_one_after_the_other() {
        let page =
            |alerts: Value| json!({"success": true, "data": alerts, "meta": {"pagination": {"page": 1}}}).to_string();
        let text = format!(
            "{}\n{}",
            page(json!([alert("active"), alert("triggered")])),
            page(json!([alert("active")]))
        );
        let items = read_stockalert(&text, false).unwrap();
        assert_eq!(items.len(), 3);
        assert_eq!(items[0].title, "AAPL rsi_limit 30");
        let body = items[0].body.clone().unwrap();
        let expected = json!({
            "symbol": "AAPL", "condition": "rsi_limit", "threshold": 30, "notification": "email", "parameters": {"direction": "below"},
        });
        assert_eq!(Value::Object(body), expected);
        assert!(matches!(items[1].body, Err(ImportSkip::LeftOut(_))));
        assert!(read_stockalert(&text, true).unwrap()[1].body.is_ok());
    }

    #[test]
    fn unknown_fields_are_reported() {
        let mut unknown = alert("active");
        unknown["cooldown"] = json!("1h");
        let items = read_stockalert(&json!([unknown, 3]).to_string(), false).unwrap();
        assert!(
            items
                .iter()
                .all(|item| matches!(item.body, Err(ImportSkip::NotUnderstood(_)))),
            "{items:?}"
        );
    }

    #[test]
    fn other_files_are_errors() {
        assert!(read_stockalert("symbol,price", false).is_err());
        assert!(read_stockalert("{\"success\": false, \"error\": {}}", false).is_err());
    }
}
