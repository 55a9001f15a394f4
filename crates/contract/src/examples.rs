//! The examples of a document.

use serde_json::Value;

use crate::operations::escape;
use crate::{Contract, Operation};

/// The subject of an example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExampleOf<'a> {
    /// A request body of an operation.
    Request(&'a Operation),
    /// A response body of an operation.
    Response(&'a Operation),
    /// The body of a webhook, by the webhook's name.
    Webhook(String),
}

/// A media type of the document with its examples.
#[derive(Clone, PartialEq, Debug)]
pub struct DocumentedExample<'a> {
    /// The subject of the examples.
    pub of: ExampleOf<'a>,
    /// The content type.
    pub content_type: String,
    /// The JSON pointer of the schema.
    pub schema: String,
    /// The examples; empty if the document has none there.
    pub values: Vec<Value>,
}

impl Contract {
    /// Lists every body that the document describes, with its examples.
    #[must_use]
    pub fn examples(&self) -> Vec<DocumentedExample<'_>> {
        let mut all = Vec::new();
        for operation in self.operations() {
            let pointer = operation.pointer();
            let request = format!("{pointer}/requestBody/content");
            all.extend(self.media_types(&request, &ExampleOf::Request(operation)));
            let responses = self.document().pointer(&format!("{pointer}/responses"));
            for (status, _) in responses.and_then(Value::as_object).into_iter().flatten() {
                let response = format!("{pointer}/responses/{status}/content");
                all.extend(self.media_types(&response, &ExampleOf::Response(operation)));
            }
        }
        for (name, _) in self.document()["webhooks"].as_object().into_iter().flatten() {
            let body = format!("/webhooks/{}/post/requestBody/content", escape(name));
            all.extend(self.media_types(&body, &ExampleOf::Webhook(name.clone())));
        }
        all
    }

    fn media_types<'a>(&self, pointer: &str, of: &ExampleOf<'a>) -> Vec<DocumentedExample<'a>> {
        let content = self.document().pointer(pointer).and_then(Value::as_object);
        content
            .into_iter()
            .flatten()
            .map(|(content_type, media_type)| {
                let named = media_type["examples"].as_object().into_iter().flatten();
                let named = named.map(|(_, example)| example["value"].clone());
                DocumentedExample {
                    of: of.clone(),
                    content_type: content_type.clone(),
                    schema: format!("{pointer}/{}/schema", escape(content_type)),
                    values: media_type.get("example").cloned().into_iter().chain(named).collect(),
                }
            })
            .collect()
    }
}
