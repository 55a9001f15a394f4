//! The form for the route of the account.

use delivery::notification_channels::ChannelDetail;
use foundation::ServiceError;
use serde_json::json;
use web::screens::RouteForm;
use web::texts;

use super::{Outcome, PageAnswer, is_failure, refused_form};
use crate::routes::prelude::*;
use crate::routes::web::route_input::{choices, entered_route, route_members};
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
    let entered = entered_route(form, stored);
    let members = route_members(&entered);
    let result = match members.is_empty() {
        true => Err(ServiceError::field("channels", texts::text("route-select-channel"))),
        false => channels.set_route(actor, &members.into()).await.map(drop),
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
