//! `GET|POST /confirm-address`: an account gets another address.

use axum::extract::State;
use axum::response::Response;

use super::link::{self, LinkParams};
use super::page::Page;
use crate::app::App;
use crate::layers::client::ClientAddress;
use crate::query::Query;
use crate::routes::messages::form::FormFields;

/// Ask whether an account is to have another address
///
/// The page that the link in a mail opens. It changes nothing.
#[utoipa::path(
    get,
    path = "/confirm-address",
    tag = "Pages",
    params(LinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is none", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_confirm_address(mut query: Query) -> Response {
    link::button(
        &mut query,
        "confirm-address",
        "Use this address from now on?",
        "Your account will have the address that this mail came to, and no longer the one it has now.",
        "Use this address",
    )
}

/// Put another address into force
///
/// For the page's button. The form has the link's token.
#[utoipa::path(
    post,
    path = "/confirm-address",
    operation_id = "submit_confirm_address_page",
    tag = "Pages",
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`token`"),
    responses(
        (status = 200, description = "A page that says so", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is not good", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn confirm_address(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::refuse_beyond_limit(&app, address) {
        return refusal;
    }
    match app
        .service()
        .account_settings
        .confirm_address_change(&link::body(&form))
        .await
    {
        Ok(email) => {
            let text = format!("Your account has the address {email} now.");
            Page::saying("Your address is changed", text).ok()
        }
        Err(error) => link::refused(error),
    }
}
