//! The templates of a channel in requests.

use foundation::ErrorsByField;
use notify::templates::user_template::{TemplateKind, UserTemplate};
use serde_json::{Map, Value};
use store::model::ChannelTemplates;

/// Checks the templates of a request: each must render with the values of an example.
///
/// # Errors
/// Errors by field, such as `templates.text`.
pub(super) fn check(request: &Map<String, Value>) -> Result<(), ErrorsByField> {
    let mut errors = ErrorsByField::new();
    for (name, value) in request {
        if let Err(error) = check_member(name, value) {
            errors.insert(format!("templates.{name}"), vec![error]);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_member(name: &str, value: &Value) -> Result<(), String> {
    let kind = TemplateKind::from_name(name);
    let kind = kind.ok_or_else(|| "must be omitted; the templates are title, text and payload".to_owned())?;
    let source = match value {
        Value::Null => return Ok(()),
        Value::String(source) if !source.contains('\0') => source,
        _ => return Err("must be a text without the character U+0000, or null".to_owned()),
    };
    let checked = UserTemplate::parse(kind, source).and_then(|template| template.check());
    checked.map_err(|error| error.to_string())
}

/// Applies the templates of a checked request. Omitted ones keep their values; null removes one.
pub(super) fn merge(stored: Option<&ChannelTemplates>, request: &Map<String, Value>) -> Option<ChannelTemplates> {
    let mut templates = stored.cloned().unwrap_or_default();
    for (name, value) in request {
        let member = match TemplateKind::from_name(name) {
            Some(TemplateKind::Title) => &mut templates.title,
            Some(TemplateKind::Text) => &mut templates.text,
            Some(TemplateKind::Payload) => &mut templates.payload,
            None => continue,
        };
        *member = value.as_str().map(str::to_owned);
    }
    templates.none_if_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn errors_name_the_template() {
        let request = json!({"title": "{{ symbol }}", "text": "{{ prize }}", "payload": "{{ symbol }}", "texts": "a"});
        let errors = check(&object(&request)).unwrap_err();
        let fields: Vec<&str> = errors.keys().map(String::as_str).collect();
        assert_eq!(fields, ["templates.payload", "templates.text", "templates.texts"]);
        assert!(errors["templates.text"][0].starts_with("line 1: there is no variable `prize`"));
        assert!(check(&object(&json!({"text": 1}))).is_err());
        assert!(check(&object(&json!({"text": "a\u{0}"}))).is_err());
        assert!(check(&object(&json!({"text": null, "payload": "{}"}))).is_ok());
    }

    #[test]
    fn omitted_templates_are_kept_and_null_removes_one() {
        let first = merge(None, &object(&json!({"title": "a", "text": "b"}))).unwrap();
        let second = merge(Some(&first), &object(&json!({"title": null, "payload": "{}"}))).unwrap();
        let expected = ChannelTemplates {
            title: None,
            text: Some("b".to_owned()),
            payload: Some("{}".to_owned()),
        };
        assert_eq!(second, expected);
        assert_eq!(
            merge(Some(&first), &object(&json!({"title": null, "text": null}))),
            None
        );
        assert_eq!(merge(None, &Map::new()), None);
    }
}
