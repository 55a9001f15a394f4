//! `GET|POST /change-alert`: snoozes, pauses or arms an alert again.

use super::link;
use super::message_link::{self, MessageLinkParams};
use crate::routes::prelude::*;

/// Show the page that changes an alert
///
/// The page behind a button of a message about a firing: it snoozes the alert, pauses it or arms it again. Showing it changes nothing.
#[utoipa::path(
    get,
    path = "/change-alert",
    tag = "Pages",
    params(MessageLinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown or expired", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_change_alert(State(app): State<App>, query: Query) -> Response {
    message_link::show(&app, query, "change-alert")
}

/// Change an alert by a link
///
/// Submitted by the page's button, or by a program with the token of the link.
#[utoipa::path(
    post,
    path = "/change-alert",
    operation_id = "submit_change_alert_page",
    tag = "Pages",
    params(MessageLinkParams),
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`t`, unless it is a parameter"),
    responses(
        (status = 200, description = "Confirmation page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown or expired", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn change_alert(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    query: Query,
    form: Result<FormFields, ApiError>,
) -> Response {
    match link::login_rate_limit_page(&app, address).await {
        Some(refusal) => refusal,
        None => message_link::follow(&app, query, form.ok(), "change-alert").await,
    }
}
