//! `GET|POST /sign-in`: signs in with an emailed link, and requests sign-in and password reset links.
//!
//! The form must come from the service's own page ([`csrf`]). Otherwise another site could sign a user in to *its* account
//! unnoticed (login CSRF).

use std::net::IpAddr;

use serde_json::json;

use super::link::{self, LinkParams};
use super::page::{Field, Form, OtherButton, Page};
use crate::auth::csrf;
use crate::routes::prelude::*;

/// The button that requests a password reset link.
const FORGOTTEN_PASSWORD_BUTTON: OtherButton = OtherButton {
    name: "forgotten",
    value: "password",
    label: "I have forgotten my password",
};

/// Show the sign-in page
///
/// The page behind the sign-in link in an email. Without a token, the page asks for an address to mail a link to. It changes
/// nothing.
#[utoipa::path(
    get,
    path = "/sign-in",
    tag = "Pages",
    params(LinkParams),
    responses((status = 200, description = "The page", content_type = "text/html", body = String,
               headers(("Set-Cookie" = String, description = "The CSRF cookie for the form")))),
    security(())
)]
pub(super) async fn show_sign_in(State(app): State<App>, headers: HeaderMap, mut query: Query) -> Response {
    let csrf_token = csrf::CsrfToken::of(&app, &headers);
    let page = match link::token(&mut query) {
        Some(token) => confirm_sign_in_page(token, csrf_token.text()),
        None => email_form_page(csrf_token.text(), None),
    };
    csrf_token.with_cookie(page.ok())
}

/// Submit the sign-in page
///
/// Signs in with a link, or mails one. Only forms from this page are accepted.
#[utoipa::path(
    post,
    path = "/sign-in",
    tag = "Pages",
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "`token`, or `email` to request a sign-in link (with `forgotten`, a password reset link), and the hidden fields of \
                       the form",
    ),
    responses(
        (status = 200, description = "Confirmation page", content_type = "text/html", body = String,
         headers(("Set-Cookie" = String, description = "The session cookie"))),
        (status = 400, description = "Error page: the link is unknown, already used or expired", content_type = "text/html", body = String),
        (status = 403, description = "Error page: the form does not come from this page",
         content_type = "text/html", body = String),
        (status = 422, description = "The page again: the address is not valid", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn sign_in(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::login_rate_limit_page(&app, address) {
        return refusal;
    }
    let service = app.service();
    let csrf_token = link::form_field(&form, "form");
    if !csrf::is_own_form(&app, &headers, csrf_token) {
        let text = "The form does not come from this service's page, or the page was open for too long. Open the link in \
                    the email again with cookies enabled.";
        return Page::message("The request failed", text).with_status(http::StatusCode::FORBIDDEN);
    }
    let email = link::form_field(&form, "email");
    if !email.is_empty() {
        let is_forgotten = !link::form_field(&form, FORGOTTEN_PASSWORD_BUTTON.name).is_empty();
        return mail_link(&app, address, email, is_forgotten, csrf_token).await;
    }
    match service.identity.sign_in_by_link(&link::token_body(&form)).await {
        Ok(signed_in) => {
            let text = format!("You are signed in as {} in this browser.", signed_in.account.email);
            let mut response = Page::message("You are signed in", text).ok();
            SessionCookie::of(service).set(&signed_in, response.headers_mut());
            response
        }
        Err(error) => link::link_error_page(error),
    }
}

/// Mails a sign-in or password reset link.
async fn mail_link(app: &App, address: IpAddr, email: &str, is_forgotten: bool, csrf_token: &str) -> Response {
    let service = app.service();
    let (result, text) = if is_forgotten {
        let result = service.identity.request_reset(&json!({"email": email})).await;
        (
            result,
            "If this address has an account, a link to choose a new password was sent to it.",
        )
    } else {
        let body = json!({"email": email, "type": "magic_link"});
        let result = service.identity.sign_in(&body, address).await.map(drop);
        (result, "If this address has an account, a sign-in link was sent to it.")
    };
    match result {
        Ok(()) => Page::message("Check your email", text).ok(),
        Err(foundation::ServiceError::Invalid { fields, .. }) => {
            let error = fields.get("email").map(|errors| errors.join("; "));
            email_form_page(csrf_token, error).with_status(http::StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(error) => link::link_error_page(error),
    }
}

fn confirm_sign_in_page(token: String, csrf_token: &str) -> Page {
    let form = Form {
        action: "sign-in".into(),
        hidden: vec![("token", token), ("form", csrf_token.to_owned())],
        field: None,
        button: "Sign in",
        other: None,
    };
    let text = "You will be signed in with this browser. If you did not request this, close this page.";
    Page::with_form("Sign in?", text, form)
}

fn email_form_page(csrf_token: &str, error: Option<String>) -> Page {
    let form = Form {
        action: "sign-in".into(),
        hidden: vec![("form", csrf_token.to_owned())],
        field: Some(Field {
            name: "email",
            label: "Your email address",
            kind: "email",
            autocomplete: "email",
            min_length: None,
            error,
        }),
        button: "Send me a link",
        other: Some(FORGOTTEN_PASSWORD_BUTTON),
    };
    Page::with_form(
        "Sign in",
        "We will email you a link to sign in or to choose a new password.",
        form,
    )
}
