//! The contents of the builder as a browser sends them.

use std::collections::BTreeMap;

use axum::http::Uri;
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use web::screens::builder::alert_form::{CONDITION, SYMBOL};

use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;

/// The rule, the rule that the form follows (`read_rule`), the inputs of the form, the note and the tags.
pub(super) struct BuilderInput {
    pub(super) fields: FormFields,
}

impl BuilderInput {
    pub(super) fn of_address(uri: &Uri) -> Self {
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned();
        Self {
            fields: FormFields(pairs.collect()),
        }
    }

    /// Returns the input for an alert that exists.
    pub(super) fn of_alert(mut values: BTreeMap<String, String>, rule: &str, note: &str, tags: &[String]) -> Self {
        let others = [
            ("text", rule),
            ("read_rule", rule),
            ("note", note),
            ("tags", &tags.join(", ")),
        ];
        values.extend(others.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Self {
            fields: FormFields(values.into_iter().collect()),
        }
    }

    pub(super) fn field(&self, name: &str) -> &str {
        form_field(&self.fields, name)
    }

    /// Returns the typed rule. Without one it begins with the stock of the address.
    pub(super) fn rule(&self) -> String {
        match (self.field("text").trim(), self.field(SYMBOL).trim()) {
            ("", symbol) if !symbol.is_empty() && !self.has_form() => format!("{symbol} "),
            (text, _) => text.to_owned(),
        }
    }

    fn has_form(&self) -> bool {
        !self.field(CONDITION).is_empty()
    }

    /// Returns whether the form counts, and not the rule.
    pub(super) fn is_form(&self) -> bool {
        self.has_form() && self.field("text").trim() == self.field("read_rule").trim()
    }

    /// Returns the values of all inputs.
    pub(super) fn values(&self) -> BTreeMap<String, String> {
        self.fields.0.iter().cloned().collect()
    }

    /// Returns the address of a builder with this input.
    pub(super) fn address(&self, path: &str) -> String {
        let filled = self.fields.0.iter().filter(|(_, value)| !value.is_empty());
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(filled)
            .finish();
        format!("{path}?{query}")
    }

    /// Adds the note and the tags to a body.
    pub(super) fn add_labels(&self, body: &mut Map<String, Value>) {
        if !self.field("note").trim().is_empty() {
            body.insert("note".to_owned(), json!(self.field("note")));
        }
        let tags = self.field("tags").split(',').map(str::trim);
        let tags: Vec<&str> = tags.filter(|tag| !tag.is_empty()).collect();
        if !tags.is_empty() {
            body.insert("tags".to_owned(), json!(tags));
        }
    }
}
