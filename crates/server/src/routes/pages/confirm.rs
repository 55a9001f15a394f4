//! `GET|POST /confirm`: confirms the email address of a new account.

use super::link::{self, LinkParams};
use super::page::Page;
use crate::routes::prelude::*;

/// Show the address confirmation page
///
/// The page behind the link in the registration email. It changes nothing.
#[utoipa::path(
    get,
    path = "/confirm",
    tag = "Pages",
    params(LinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is malformed", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_confirm(mut query: Query) -> Response {
    link::confirmation_page(
        &mut query,
        "confirm",
        "Confirm your address",
        "An account was registered with your email address. If it was not you, close this page.",
        "Confirm my address",
    )
}

/// Confirm an email address
///
/// Submitted by the page's button. The form contains the token of the link.
#[utoipa::path(
    post,
    path = "/confirm",
    tag = "Pages",
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`token`"),
    responses(
        (status = 200, description = "Confirmation page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown, already used or expired", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn confirm(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::login_rate_limit_page(&app, address).await {
        return refusal;
    }
    match app.service().identity.confirm_address(&link::token_body(&form)).await {
        Ok(true) => Page::message("Your address is confirmed", "You can sign in now.").ok(),
        Ok(false) => {
            let text = "Several people registered with your address, so no password is valid yet. Request a link by email to sign \
                        in or to choose a password.";
            let page = Page::message("Your address is confirmed", text);
            page.with_link("sign-in", "Request a link").ok()
        }
        Err(error) => link::link_error_page(error),
    }
}
