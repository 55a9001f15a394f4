//! The inputs of a route, in the settings and in the builder.

use alerts::routing::RoutePolicy;
use delivery::notification_channels::ChannelDetail;
use serde_json::{Map, Value, json};
use web::screens::RouteForm;

use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;

/// Returns the ids and names of channels.
pub(super) fn choices(channels: &[ChannelDetail]) -> Vec<(String, String)> {
    let choices = channels.iter().map(|detail| &detail.channel);
    choices
        .map(|channel| (channel.id.0.to_string(), channel.name.clone()))
        .collect()
}

/// Returns a form as it was entered. `stored` has the channels of the account.
pub(super) fn entered_route(form: &FormFields, stored: RouteForm) -> RouteForm {
    let is_selected = |id: &str| form.0.iter().any(|(name, value)| name == "channels" && value == id);
    let choices = stored.choices.into_iter().map(|mut choice| {
        choice.is_selected = is_selected(&choice.id);
        form_field(form, &format!("position-{}", choice.id))
            .trim()
            .clone_into(&mut choice.position);
        choice
    });
    RouteForm {
        choices: choices.collect(),
        policy: RoutePolicy::from_name(form_field(form, "policy")).unwrap_or_default(),
        ack_timeout: form_field(form, "ack_timeout").trim().to_owned(),
        is_stored: stored.is_stored,
    }
}

/// Returns the members of a route; none without a channel. The time belongs to one policy alone, but the form always has it.
pub(super) fn route_members(route: &RouteForm) -> Map<String, Value> {
    let mut members = Map::new();
    let selected = route.selected();
    if selected.is_empty() {
        return members;
    }
    members.insert("channels".to_owned(), json!(selected));
    members.insert("policy".to_owned(), json!(route.policy.name()));
    if route.policy == RoutePolicy::Failover && !route.ack_timeout.is_empty() {
        members.insert("ack_timeout".to_owned(), json!(route.ack_timeout));
    }
    members
}
