//! `GET|POST /acknowledge`: acknowledges a firing.

use super::link;
use super::message_link::{self, MessageLinkParams};
use crate::routes::prelude::*;

/// Show the page that acknowledges a firing
///
/// The page behind the link in a message about a firing. It changes nothing.
#[utoipa::path(
    get,
    path = "/acknowledge",
    tag = "Pages",
    params(MessageLinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown or expired", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_acknowledge(State(app): State<App>, query: Query) -> Response {
    message_link::show(&app, query, "acknowledge")
}

/// Acknowledge a firing
///
/// Submitted by the page's button, or by a program with the token of the link. Repeating it changes nothing.
#[utoipa::path(
    post,
    path = "/acknowledge",
    operation_id = "submit_acknowledge_page",
    tag = "Pages",
    params(MessageLinkParams),
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`t`, unless it is a parameter"),
    responses(
        (status = 200, description = "Confirmation page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown or expired", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn acknowledge(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    query: Query,
    form: Result<FormFields, ApiError>,
) -> Response {
    match link::login_rate_limit_page(&app, address).await {
        Some(refusal) => refusal,
        None => message_link::follow(&app, query, form.ok(), "acknowledge").await,
    }
}
