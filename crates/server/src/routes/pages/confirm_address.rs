//! `GET|POST /confirm-address`: confirms a new email address of an account.

use super::link::{self, LinkParams};
use super::page::Page;
use crate::routes::prelude::*;

/// Show the page that confirms a changed address
///
/// The page behind the link in the email to the new address. It changes nothing.
#[utoipa::path(
    get,
    path = "/confirm-address",
    tag = "Pages",
    params(LinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is malformed", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_confirm_address(mut query: Query) -> Response {
    link::confirmation_page(
        &mut query,
        "confirm-address",
        "Use this address from now on?",
        "Your account will use the address that received this email instead of its current one.",
        "Use this address",
    )
}

/// Change the account's email address
///
/// Submitted by the page's button. The form contains the token of the link.
#[utoipa::path(
    post,
    path = "/confirm-address",
    operation_id = "submit_confirm_address_page",
    tag = "Pages",
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`token`"),
    responses(
        (status = 200, description = "Confirmation page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown, already used or expired", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn confirm_address(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::login_rate_limit_page(&app, address).await {
        return refusal;
    }
    match app
        .service()
        .account_settings
        .confirm_address_change(&link::token_body(&form))
        .await
    {
        Ok(email) => {
            let text = format!("Your account now uses the address {email}.");
            Page::message("Your address is changed", text).ok()
        }
        Err(error) => link::link_error_page(error),
    }
}
