//! `GET|POST /register`

use serde_json::json;
use web::screens::credentials::{CredentialsPage, CredentialsPurpose};

use super::appearance::page_head;
use super::credentials::{credentials_response, foreign_form_page, with_errors};
use crate::auth::csrf::{self, CsrfToken};
use crate::rate_limiter::RateLimitGroup;
use crate::routes::pages::link::{self, form_field};
use crate::routes::pages::page::Page;
use crate::routes::prelude::*;

/// Shows the form.
pub(super) async fn show_register(State(app): State<App>, headers: HeaderMap) -> Response {
    if !app.service().identity.is_registration_open() {
        return closed_page();
    }
    let csrf_token = CsrfToken::of(&app, &headers);
    let page = form_page(&app, &headers, &csrf_token, "");
    csrf_token.with_cookie(credentials_response(&page, StatusCode::OK))
}

/// Registers an account.
pub(super) async fn register(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::rate_limit_page(&app, address, RateLimitGroup::Register).await {
        return refusal;
    }
    if !csrf::is_own_form(&app, &headers, form_field(&form, "form")) {
        return foreign_form_page(&app, &headers);
    }
    let email = form_field(&form, "email");
    let body = json!({"email": email, "password": form_field(&form, "password")});
    match app.service().identity.register(&body).await {
        Ok(()) => {
            let text = "We have sent a link to your address. Open it to confirm the address, then sign in.";
            Page::message("Check your email", text).ok()
        }
        Err(error) => {
            let csrf_token = CsrfToken::of(&app, &headers);
            let page = form_page(&app, &headers, &csrf_token, email);
            csrf_token.with_cookie(with_errors(page, error))
        }
    }
}

fn form_page(app: &App, headers: &HeaderMap, csrf_token: &CsrfToken, email: &str) -> CredentialsPage {
    let head = page_head(app, headers);
    CredentialsPage {
        email: email.to_owned(),
        ..CredentialsPage::new(head, CredentialsPurpose::Register, csrf_token.text())
    }
}

fn closed_page() -> Response {
    let text = "Registration is closed. Ask the operator of this service for an account.";
    Page::message("Registration is closed", text)
        .with_link("sign-in", "Sign in")
        .with_status(StatusCode::FORBIDDEN)
}
