//! The templates of messages: of a notification channel, or of an alert.
//!
//! They are texts in a template language that this crate does not know: `foundation` checks that they render.

use serde_json::{Map, Value};

use crate::request::{FieldErrors, InvalidField, kind_of};

/// Maximum size of the templates of an alert together, in bytes.
pub const MAX_ALERT_TEMPLATE_BYTES: usize = 16 * 1024;

/// The templates of messages. What has no templates has no value of this type.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageTemplates {
    /// The title of a message.
    pub title: Option<String>,
    /// The text of a message.
    pub text: Option<String>,
    /// The body of a delivery to a webhook.
    pub payload: Option<String>,
}

impl MessageTemplates {
    /// Returns the templates with their names.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("title", self.title.as_deref()),
            ("text", self.text.as_deref()),
            ("payload", self.payload.as_deref()),
        ]
    }

    /// Returns the templates, or `None` without any.
    #[must_use]
    pub fn none_if_empty(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Returns the templates as JSON, without those that are missing.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let members = self.named().into_iter();
        members
            .filter_map(|(name, template)| Some((name.to_owned(), template?.into())))
            .collect()
    }

    /// Applies the members of a JSON object. Omitted ones keep their values; null removes one.
    #[must_use]
    pub fn merged(mut self, members: &Map<String, Value>) -> Self {
        let templates = [
            ("title", &mut self.title),
            ("text", &mut self.text),
            ("payload", &mut self.payload),
        ];
        for (name, template) in templates {
            if let Some(value) = members.get(name) {
                *template = value.as_str().map(str::to_owned);
            }
        }
        self
    }
}

/// Returns the source of a template in a request; `None` if it is removed.
///
/// # Errors
/// The error of a member that is not a template, or not a text.
pub fn template_source<'a>(name: &str, value: &'a Value) -> Result<Option<&'a str>, String> {
    if !MessageTemplates::default()
        .named()
        .iter()
        .any(|(known, _)| *known == name)
    {
        return Err("must be omitted; the templates are title, text and payload".to_owned());
    }
    match value {
        Value::Null => Ok(None),
        Value::String(source) if !source.contains('\0') => Ok(Some(source)),
        _ => Err("must be a text without the character U+0000, or null".to_owned()),
    }
}

/// Reads the templates of an alert in a request. Omitted ones keep their values, null removes one, or all of them.
pub(super) fn read(
    value: &Value,
    current: Option<&MessageTemplates>,
    errors: &mut FieldErrors,
) -> Result<Option<MessageTemplates>, InvalidField> {
    let members = match value {
        Value::Null => return Ok(None),
        Value::Object(members) => members,
        other => {
            let message = format!(
                "must be an object with the templates title, text and payload, or null, not {}",
                kind_of(other)
            );
            return Err(errors.add("templates", message));
        }
    };
    let invalid = members.iter().filter_map(|(name, value)| {
        let error = template_source(name, value).err()?;
        Some(errors.add(format!("templates.{name}"), error))
    });
    if let Some(invalid) = invalid.last() {
        return Err(invalid);
    }
    let templates = current.cloned().unwrap_or_default().merged(members);
    let bytes: usize = templates
        .named()
        .iter()
        .filter_map(|(_, source)| Some(source.as_ref()?.len()))
        .sum();
    if bytes > MAX_ALERT_TEMPLATE_BYTES {
        let message = format!("must be at most {MAX_ALERT_TEMPLATE_BYTES} bytes in total, not {bytes}");
        return Err(errors.add("templates", message));
    }
    Ok(templates.none_if_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn templates_are_the_same_as_json() {
        let templates = MessageTemplates {
            title: Some("{{ symbol }} \"a\"\n".to_owned()),
            text: None,
            payload: Some("{}".to_owned()),
        };
        let members = templates.to_json();
        assert_eq!(
            Value::from(members.clone()),
            json!({"title": "{{ symbol }} \"a\"\n", "payload": "{}"})
        );
        assert_eq!(MessageTemplates::default().merged(&members), templates);
    }

    #[test]
    fn omitted_templates_are_kept_and_null_removes_one() {
        let first = MessageTemplates::default().merged(&object(&json!({"title": "a", "text": "b"})));
        let second = first.clone().merged(&object(&json!({"title": null, "payload": "{}"})));
        let expected = MessageTemplates {
            title: None,
            text: Some("b".to_owned()),
            payload: Some("{}".to_owned()),
        };
        assert_eq!(second, expected);
        let none = first.merged(&object(&json!({"title": null, "text": null})));
        assert_eq!(none.none_if_empty(), None);
    }

    #[test]
    fn templates_of_an_alert_have_together_16_kib() {
        let read = |text: usize| {
            let request = json!({"title": "a", "text": "b".repeat(text)});
            let mut errors = FieldErrors::default();
            read(&request, None, &mut errors).map_err(|InvalidField| errors)
        };
        assert!(read(16 * 1024 - 1).is_ok());
        assert!(read(16 * 1024).is_err());
    }
}
