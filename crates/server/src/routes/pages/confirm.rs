//! `GET|POST /confirm`: the address that somebody registered with is theirs.

use axum::extract::State;
use axum::response::Response;

use super::link::{self, LinkParams};
use super::page::Page;
use crate::app::App;
use crate::layers::client::ClientAddress;
use crate::query::Query;
use crate::routes::messages::form::FormFields;

/// Ask whether an address is to be confirmed
///
/// The page that the link in a mail opens. It changes nothing.
#[utoipa::path(
    get,
    path = "/confirm",
    tag = "Pages",
    params(LinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is none", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_confirm(mut query: Query) -> Response {
    link::button(
        &mut query,
        "confirm",
        "Confirm your address",
        "Somebody, hopefully you, has registered with your address. If it was not you, close this page.",
        "Confirm my address",
    )
}

/// Confirm an address
///
/// For the page's button. The form has the link's token.
#[utoipa::path(
    post,
    path = "/confirm",
    tag = "Pages",
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`token`"),
    responses(
        (status = 200, description = "A page that says so", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is not good", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn confirm(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::refuse_beyond_limit(&app, address) {
        return refusal;
    }
    match app.service().identity.confirm_address(&link::body(&form)).await {
        Ok(true) => Page::saying("Your address is confirmed", "You can sign in now.").ok(),
        Ok(false) => {
            let text = "More than one has registered with your address, so no password counts yet. Have a link mailed to you, to \
                        sign in by or to choose a password with.";
            let page = Page::saying("Your address is confirmed", text);
            page.leading("sign-in", "Have a link mailed").ok()
        }
        Err(error) => link::refused(error),
    }
}
