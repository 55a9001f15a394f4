//! The contents of the builder as a browser sends them.

use std::collections::BTreeMap;

use alerts::Alert;
use alerts::routing::ChannelRoute;
use axum::http::Uri;
use delivery::notification_channels::ChannelDetail;
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use web::form_state::FormState;
use web::screens::RouteForm;
use web::screens::builder::NotificationPart;
use web::screens::builder::alert_form::{CONDITION, SYMBOL};

use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::form_value::is_checked;
use crate::routes::web::route_input::{choices, entered_route, route_members};

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
    pub(super) fn of_alert(mut values: BTreeMap<String, String>, rule: &str, alert: &Alert) -> Self {
        let note = alert.note.as_ref().map_or("", |note| note.as_str());
        let tags = alert.tags.as_slice();
        let others = [
            ("text", rule),
            ("read_rule", rule),
            ("note", note),
            ("tags", &tags.join(", ")),
        ];
        values.extend(others.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let route = alert.routing.route.as_deref();
        let fields = values.into_iter().chain(route_fields(route));
        let urgent = alert.routing.is_urgent.then(|| ("urgent".to_owned(), "on".to_owned()));
        Self {
            fields: FormFields(fields.chain(urgent).collect()),
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

    /// Returns the route and the urgency as they were entered. `channels` are those of the account.
    pub(super) fn notification(&self, channels: &[ChannelDetail]) -> NotificationPart {
        NotificationPart {
            route: entered_route(&self.fields, RouteForm::of(&choices(channels), None)),
            is_urgent: is_checked(&self.fields, "urgent"),
            state: FormState::default(),
        }
    }

    /// Adds the note, the tags and the notification to a body.
    pub(super) fn add_labels(&self, body: &mut Map<String, Value>, channels: &[ChannelDetail]) {
        let notification = self.notification(channels);
        body.extend(route_members(&notification.route));
        if notification.is_urgent {
            body.insert("urgent".to_owned(), json!(true));
        }
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

/// Returns the inputs of a stored route.
fn route_fields(route: Option<&ChannelRoute>) -> Vec<(String, String)> {
    let Some(route) = route else { return Vec::new() };
    let channels = route.channels().iter().zip(1..).flat_map(|(id, position)| {
        [
            ("channels".to_owned(), id.to_string()),
            (format!("position-{id}"), format!("{position}")),
        ]
    });
    let policy = ("policy".to_owned(), route.delivery.policy().name().to_owned());
    let timeout = route.delivery.ack_timeout();
    let timeout = timeout.map(|timeout| ("ack_timeout".to_owned(), timeout.span().to_string()));
    channels.chain([policy]).chain(timeout).collect()
}
