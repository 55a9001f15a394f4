//! `GET|POST /verify-alert`: activates an alert that a guest created.

use super::link::{self, LinkParams};
use super::page::Page;
use crate::routes::prelude::*;

/// Show the guest alert verification page
///
/// The page behind the verification link in an email. It changes nothing.
#[utoipa::path(
    get,
    path = "/verify-alert",
    tag = "Pages",
    params(LinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is malformed", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_verify_alert(mut query: Query) -> Response {
    link::confirmation_page(
        &mut query,
        "verify-alert",
        "Activate your alert?",
        "An alert was created for your email address. If it was not you, close this page.",
        "Activate alert",
    )
}

/// Activate a guest alert
///
/// Submitted by the page's button. The form contains the token of the link.
#[utoipa::path(
    post,
    path = "/verify-alert",
    operation_id = "submit_verify_alert_page",
    tag = "Pages",
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`token`"),
    responses(
        (status = 200, description = "Confirmation page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown, already used or expired", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn verify_alert(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::login_rate_limit_page(&app, address).await {
        return refusal;
    }
    match app
        .service()
        .guest_alerts
        .verify_guest_alert(&link::token_body(&form))
        .await
    {
        Ok(alert) => {
            let text = format!(
                "Your alert on {} is active. You will get an email when it fires.",
                alert.symbol
            );
            Page::message("Your alert is active", text).ok()
        }
        Err(error) => link::link_error_page(error),
    }
}
