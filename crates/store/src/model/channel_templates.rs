//! The templates of notification channels.

use serde_json::{Map, Value};

/// The templates of a notification channel. A channel without any has no value of this type.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChannelTemplates {
    /// The title of a message.
    pub title: Option<String>,
    /// The text of a message.
    pub text: Option<String>,
    /// The body of a delivery to the webhook of the channel.
    pub payload: Option<String>,
}

impl ChannelTemplates {
    /// Returns the templates, or `None` without any.
    #[must_use]
    pub fn none_if_empty(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Returns the templates as JSON text, without those that are missing.
    pub(crate) fn to_json(&self) -> String {
        let members = [("title", &self.title), ("text", &self.text), ("payload", &self.payload)];
        let members = members.into_iter().filter_map(|(name, template)| {
            let template = template.clone()?;
            Some((name.to_owned(), Value::from(template)))
        });
        Value::Object(members.collect()).to_string()
    }

    /// Reads JSON text.
    ///
    /// # Errors
    /// The error of the JSON library.
    pub(crate) fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        let mut members: Map<String, Value> = serde_json::from_str(json)?;
        let mut take = |name: &str| match members.remove(name) {
            Some(Value::String(template)) => Some(template),
            Some(_) | None => None,
        };
        Ok(Self {
            title: take("title"),
            text: take("text"),
            payload: take("payload"),
        })
    }
}

/// The payload template of a delivery, with the channel that has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PayloadTemplate {
    /// The channel.
    pub channel: super::NotificationChannelId,
    /// Name of the channel.
    pub channel_name: String,
    /// The template.
    pub source: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_the_same_after_they_are_stored() {
        let templates = ChannelTemplates {
            title: Some("{{ symbol }} \"a\"\n".to_owned()),
            text: None,
            payload: Some("{}".to_owned()),
        };
        let json = templates.to_json();
        assert_eq!(json, r#"{"title":"{{ symbol }} \"a\"\n","payload":"{}"}"#);
        assert_eq!(ChannelTemplates::from_json(&json).unwrap(), templates);
        assert_eq!(ChannelTemplates::from_json("{}").unwrap().none_if_empty(), None);
        assert!(ChannelTemplates::from_json("[]").is_err());
    }
}
