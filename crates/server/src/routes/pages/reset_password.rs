//! `GET|POST /reset-password`: sets a new password with an emailed link.

use foundation::ServiceError;
use serde_json::json;

use web::screens::credentials::MIN_PASSWORD_CHARS;

use super::link;
use super::page::{Field, Form, Page, invalid_link_page};
use crate::routes::prelude::*;

/// Maximum length of an email address.
const MAX_EMAIL_CHARS: usize = 254;

/// Query parameters: address and token.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handlers read them")]
pub struct ResetParams {
    /// The account's email address from the link.
    email: Option<String>,
    /// Token from the link in the email.
    token: Option<String>,
}

/// Show the password reset page
///
/// The page behind the reset link in an email. It changes nothing.
#[utoipa::path(
    get,
    path = "/reset-password",
    tag = "Pages",
    params(ResetParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is malformed", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_reset_password(mut query: Query) -> Response {
    let email = query.text("email", MAX_EMAIL_CHARS);
    match (email, link::token(&mut query)) {
        (Some(email), Some(token)) => new_password_page(&email, &token, None).ok(),
        _ => invalid_link_page(),
    }
}

/// Submit the password reset page
///
/// Submitted by the page's button. All sessions end.
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
        (status = 200, description = "Confirmation page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is unknown, already used or expired", content_type = "text/html", body = String),
        (status = 422, description = "The page again: the password is not accepted", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn reset_password(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::login_rate_limit_page(&app, address).await {
        return refusal;
    }
    let (email, token) = (link::form_field(&form, "email"), link::form_field(&form, "token"));
    let body = json!({"email": email, "token": token, "new_password": link::form_field(&form, "new_password")});
    match app.service().identity.confirm_reset(&body).await {
        Ok(()) => Page::message(
            "Your password is set",
            "All sessions of your account have ended. You can now sign in with the new password.",
        )
        .ok(),
        // Only an invalid password can be corrected here; an invalid address or token means an invalid link.
        Err(ServiceError::Invalid { fields, .. }) if fields.keys().eq(["new_password"]) => {
            let error = fields.get("new_password").map(|errors| errors.join("; "));
            new_password_page(email, token, error).with_status(StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(error) => link::link_error_page(error),
    }
}

fn new_password_page(email: &str, token: &str, error: Option<String>) -> Page {
    let form = Form {
        action: "reset-password".into(),
        hidden: vec![("email", email.to_owned()), ("token", token.to_owned())],
        field: Some(Field {
            name: "new_password",
            label: "New password",
            kind: "password",
            autocomplete: "new-password",
            min_length: Some(MIN_PASSWORD_CHARS),
            error,
        }),
        button: "Set the password",
        other: None,
    };
    let text = format!("For the account {email}. All its sessions will end.");
    Page::with_form("Choose a new password", text, form)
}
