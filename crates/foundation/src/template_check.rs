//! Checks the templates of notification channels and alerts.

use alerts::routing::template_source;
use notify::templates::user_template::{TemplateKind, UserTemplate};
use serde_json::{Map, Value};

use crate::{Actor, ErrorsByField, Scope, ServiceError};

/// Checks the templates of a request: each must render with the values of an example.
///
/// # Errors
/// Errors by field, such as `templates.text`.
pub fn check_templates(templates: &Map<String, Value>) -> Result<(), ErrorsByField> {
    let mut errors = ErrorsByField::new();
    for (name, value) in templates {
        if let Err(error) = check_member(name, value) {
            errors.insert(format!("templates.{name}"), vec![error]);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Refuses a payload template in the body of a request about an alert if the actor may not change webhooks: their receivers trust the
/// signed body.
///
/// # Errors
/// [`ServiceError::Forbidden`] with the missing scope.
pub fn require_payload_scope(actor: &Actor, body: &Value) -> Result<(), ServiceError> {
    match body["templates"]["payload"] {
        Value::String(_) => actor.require(Scope::WebhooksWrite),
        _ => Ok(()),
    }
}

fn check_member(name: &str, value: &Value) -> Result<(), String> {
    let (Some(source), Some(kind)) = (template_source(name, value)?, TemplateKind::from_name(name)) else {
        return Ok(());
    };
    let checked = UserTemplate::parse(kind, source).and_then(|template| template.check());
    checked.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(templates: &Value) -> Result<(), ErrorsByField> {
        check_templates(templates.as_object().unwrap())
    }

    #[test]
    fn errors_name_the_template() {
        let request = json!({"title": "{{ symbol }}", "text": "{{ prize }}", "payload": "{{ symbol }}", "texts": "a"});
        let errors = check(&request).unwrap_err();
        let fields: Vec<&str> = errors.keys().map(String::as_str).collect();
        assert_eq!(fields, ["templates.payload", "templates.text", "templates.texts"]);
        assert!(errors["templates.text"][0].starts_with("line 1: there is no variable `prize`"));
        assert!(check(&json!({"text": 1})).is_err());
        assert!(check(&json!({"text": "a\u{0}"})).is_err());
        assert!(check(&json!({"text": null, "payload": "{}"})).is_ok());
    }
}
