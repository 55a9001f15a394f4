//! Checks the notification channels of routes, and the templates of alerts.

use alerts::Routing;
use alerts::routing::ChannelRoute;
use store::model::AccountId;
use store::{Abort, UnitOfWork};

use crate::ServiceError;
use crate::template_check::check_templates;

/// Refuses a route with a channel that its account does not have.
pub async fn check_route(
    unit: &mut UnitOfWork,
    account: AccountId,
    route: &ChannelRoute,
) -> Result<(), Abort<ServiceError>> {
    if unit.has_notification_channels(account, route.channels()).await? {
        return Ok(());
    }
    Err(Abort::Refused(unknown_channels()))
}

/// Returns the error of a route with a channel that its account does not have.
#[must_use]
pub fn unknown_channels() -> ServiceError {
    let message = "must be ids of your notification channels (GET /notification-channels lists them)";
    ServiceError::field("channels", message)
}

/// Refuses the route of an alert with a channel that its account does not have, unless the alert has this route already: one of its
/// channels may have been deleted since. Refuses templates that do not render.
pub async fn check_routing(
    unit: &mut UnitOfWork,
    account: AccountId,
    routing: &Routing,
    before: &Routing,
) -> Result<(), Abort<ServiceError>> {
    if let Some(templates) = routing.templates.as_deref()
        && routing.templates != before.templates
    {
        check_templates(&templates.to_json()).map_err(|errors| Abort::Refused(ServiceError::fields(errors)))?;
    }
    match routing.route.as_deref() {
        Some(route) if routing.route != before.route => check_route(unit, account, route).await,
        Some(_) | None => Ok(()),
    }
}
