//! `GET|POST /confirm-channel`: verifies the email address of a notification channel.

use super::link::{self, LinkParams};
use super::page::Page;
use crate::routes::prelude::*;

/// Show the page that verifies the address of a notification channel
///
/// The page behind the link in the email to the address. It changes nothing.
#[utoipa::path(
    get,
    path = "/confirm-channel",
    tag = "Pages",
    params(LinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is malformed", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_confirm_channel(mut query: Query) -> Response {
    link::confirmation_page(
        &mut query,
        "confirm-channel",
        "Receive alerts at this address?",
        "Messages about the alerts of an account are sent to the address that received this email.",
        "Receive alerts",
    )
}

/// Verify the address of a notification channel
///
/// Submitted by the page's button. The form contains the token of the link.
#[utoipa::path(
    post,
    path = "/confirm-channel",
    operation_id = "submit_confirm_channel_page",
    tag = "Pages",
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`token`"),
    responses(
        (status = 200, description = "Confirmation page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown, already used or expired", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn confirm_channel(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::login_rate_limit_page(&app, address).await {
        return refusal;
    }
    match app
        .service()
        .notification_channels
        .confirm_email(&link::token_body(&form))
        .await
    {
        Ok(email) => {
            let text = format!("Messages about alerts are sent to {email} from now on.");
            Page::message("Your address is confirmed", text).ok()
        }
        Err(error) => link::link_error_page(error),
    }
}
