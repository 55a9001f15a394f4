//! `GET|POST /verify-alert`: an alert that somebody without an account has asked for.

use axum::extract::State;
use axum::response::Response;

use super::link::{self, LinkParams};
use super::page::Page;
use crate::app::App;
use crate::layers::client::ClientAddress;
use crate::query::Query;
use crate::routes::messages::form::FormFields;

/// Ask whether a guest's alert is to be active
///
/// The page that the link in a mail opens. It changes nothing.
#[utoipa::path(
    get,
    path = "/verify-alert",
    tag = "Pages",
    params(LinkParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is none", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_verify_alert(mut query: Query) -> Response {
    link::button(
        &mut query,
        "verify-alert",
        "Make your alert active?",
        "Somebody, hopefully you, has asked for an alert with your address. If it was not you, close this page.",
        "Make it active",
    )
}

/// Make a guest's alert active
///
/// For the page's button. The form has the link's token.
#[utoipa::path(
    post,
    path = "/verify-alert",
    operation_id = "submit_verify_alert_page",
    tag = "Pages",
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "`token`"),
    responses(
        (status = 200, description = "A page that says so", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is not good", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn verify_alert(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::refuse_beyond_limit(&app, address) {
        return refusal;
    }
    match app.service().guest_alerts.verify_guest_alert(&link::body(&form)).await {
        Ok(alert) => {
            let text = format!(
                "Your alert on {} is active. You will be mailed when it fires.",
                alert.symbol
            );
            Page::saying("Your alert is active", text).ok()
        }
        Err(error) => link::refused(error),
    }
}
