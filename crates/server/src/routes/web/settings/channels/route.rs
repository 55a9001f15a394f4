//! The form for the route of the account.

use alerts::routing::RoutePolicy;
use delivery::notification_channels::ChannelDetail;
use foundation::ServiceError;
use serde_json::json;
use web::screens::settings::RouteForm;
use web::texts;

use super::{Outcome, PageAnswer, is_failure, refused_form};
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::form_value::optional_text;
use crate::routes::web::visitor::Visitor;

/// Returns the form with the stored route.
pub(super) async fn stored_form(
    app: &App,
    visitor: &Visitor,
    channels: &[ChannelDetail],
) -> Result<RouteForm, ServiceError> {
    let route = app.service().notification_channels.route(&visitor.actor).await?;
    Ok(RouteForm::of(&choices(channels), route.as_ref()))
}

/// Saves or removes the route.
pub(super) async fn change(
    app: &App,
    visitor: &Visitor,
    action: &str,
    form: &FormFields,
) -> Result<Outcome, ServiceError> {
    let (channels, actor) = (&app.service().notification_channels, &visitor.actor);
    if action == "remove-route" {
        channels.set_route(actor, &json!({"channels": null})).await?;
        return Ok(Outcome::Changed(texts::text("route-removed")));
    }
    let stored = stored_form(app, visitor, &channels.list(actor).await?).await?;
    let entered = entered_form(form, stored);
    let selected = entered.selected();
    let result = match selected.is_empty() {
        true => Err(ServiceError::field("channels", texts::text("route-select-channel"))),
        false => {
            // The form always has the time, which belongs to one policy alone.
            let timeout = match entered.policy {
                RoutePolicy::Failover => optional_text(form, "ack_timeout"),
                RoutePolicy::All => serde_json::Value::Null,
            };
            let body = json!({"channels": selected, "policy": entered.policy.name(), "ack_timeout": timeout});
            channels.set_route(actor, &body).await.map(drop)
        }
    };
    match result {
        Ok(()) => Ok(Outcome::Changed(texts::text("route-saved"))),
        Err(error) if is_failure(&error) => Err(error),
        Err(error) => Ok(Outcome::answered(PageAnswer {
            form: refused_form(form, error),
            route: Some(entered),
            ..PageAnswer::default()
        })),
    }
}

/// Returns the form as it was entered. `stored` has the channels of the account.
fn entered_form(form: &FormFields, stored: RouteForm) -> RouteForm {
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

fn choices(channels: &[ChannelDetail]) -> Vec<(String, String)> {
    let choices = channels.iter().map(|detail| &detail.channel);
    choices
        .map(|channel| (channel.id.0.to_string(), channel.name.clone()))
        .collect()
}
