//! Templates in responses.

use alerts::routing::MessageTemplates;

use crate::routes::prelude::*;

/// The templates of a notification channel or an alert.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MessageTemplates)]
pub struct TemplatesView {
    /// The title; null for the default one.
    #[schema(required, example = "{{ symbol }} {{ price|money }}")]
    pub title: Option<String>,
    /// The text; null for the default one.
    #[schema(required)]
    pub text: Option<String>,
    /// The JSON body of deliveries to webhooks; null for the default one.
    #[schema(required)]
    pub payload: Option<String>,
}

impl TemplatesView {
    pub(crate) fn of(templates: MessageTemplates) -> Self {
        Self {
            title: templates.title,
            text: templates.text,
            payload: templates.payload,
        }
    }
}
