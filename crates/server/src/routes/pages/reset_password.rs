//! `GET|POST /reset-password`: a new password for whoever has forgotten theirs.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::json;
use service::ServiceError;
use utoipa::IntoParams;

use super::link;
use super::page::{Field, Form, Page};
use crate::app::App;
use crate::layers::client::ClientAddress;
use crate::query::Query;
use crate::routes::messages::form::FormFields;

/// No address is longer.
const MAX_EMAIL_CHARS: usize = 254;
const MIN_PASSWORD_CHARS: usize = 8;

/// Which link.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handlers read them")]
pub struct ResetParams {
    /// The address of the account, as the link has it.
    email: Option<String>,
    /// What the link in the mail has.
    token: Option<String>,
}

/// Ask for a new password
///
/// The page that the link in a mail opens. It changes nothing.
#[utoipa::path(
    get,
    path = "/reset-password",
    tag = "Pages",
    params(ResetParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is none", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_reset_password(mut query: Query) -> Response {
    let email = query.text("email", MAX_EMAIL_CHARS);
    match (email, link::token(&mut query)) {
        (Some(email), Some(token)) => ask(&email, &token, None).ok(),
        _ => link::cut_off(),
    }
}

/// Set a new password
///
/// For the page's button. All sessions end.
#[utoipa::path(
    post,
    path = "/reset-password",
    tag = "Pages",
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "`email`, `token` and `new_password`",
    ),
    responses(
        (status = 200, description = "A page that says so", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is not good", content_type = "text/html", body = String),
        (status = 422, description = "A page that asks for another password", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn reset_password(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::refuse_beyond_limit(&app, address) {
        return refusal;
    }
    let (email, token) = (link::field(&form, "email"), link::field(&form, "token"));
    let body = json!({"email": email, "token": token, "new_password": link::field(&form, "new_password")});
    match app.service().identity.confirm_reset(&body).await {
        Ok(()) => Page::saying(
            "Your password is set",
            "All sessions of your account have ended. You can sign in with the new password now.",
        )
        .ok(),
        // A link has the address; with another one it is no link.
        Err(ServiceError::Invalid { fields, .. }) if fields.keys().eq(["new_password"]) => {
            let fault = fields.get("new_password").map(|faults| faults.join("; "));
            ask(email, token, fault).with(StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(error) => link::refused(error),
    }
}

fn ask(email: &str, token: &str, fault: Option<String>) -> Page {
    let form = Form {
        action: "reset-password",
        hidden: vec![("email", email.to_owned()), ("token", token.to_owned())],
        field: Some(Field {
            name: "new_password",
            label: "New password",
            kind: "password",
            autocomplete: "new-password",
            min_length: Some(MIN_PASSWORD_CHARS),
            fault,
        }),
        button: "Set the password",
        other: None,
    };
    let text = format!("For the account with the address {email}. All its sessions will end.");
    Page::asking("Choose a new password", text, form)
}
