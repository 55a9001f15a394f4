//! `GET|POST /first-account`: the first account of a service, which operates it.
//!
//! A browser on the same machine may create it directly. Any other browser needs the code that the server has written to its log.
//! Once an account exists, the page is not found.

use foundation::ServiceError;
use http::request::Parts;
use serde_json::json;
use web::screens::credentials::{CredentialsPage, CredentialsPurpose};

use super::appearance::page_head;
use super::credentials::{credentials_response, foreign_form_page, with_errors};
use super::response::redirect;
use crate::auth::csrf::{self, CsrfToken};
use crate::auth::local_request::is_local;
use crate::routes::pages::link::{self, form_field};
use crate::routes::pages::page::{Page, error_page};
use crate::routes::prelude::*;

/// Shows the form.
pub(super) async fn show_first_account(State(app): State<App>, parts: Parts) -> Response {
    match app.service().identity.has_accounts().await {
        Ok(false) => {}
        Ok(true) => return not_found_page(),
        Err(error) => return error_page(error),
    }
    let csrf_token = CsrfToken::of(&app, &parts.headers);
    let page = form_page(&app, &parts, &csrf_token, "");
    csrf_token.with_cookie(credentials_response(&page, StatusCode::OK))
}

/// Creates the account and signs in.
pub(super) async fn create_first_account(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    parts: Parts,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::login_rate_limit_page(&app, address).await {
        return refusal;
    }
    if !csrf::is_own_form(&app, &parts.headers, form_field(&form, "form")) {
        return foreign_form_page(&app, &parts.headers);
    }
    let identity = &app.service().identity;
    match identity.has_accounts().await {
        Ok(false) => {}
        Ok(true) => return not_found_page(),
        Err(error) => return error_page(error),
    }
    let email = form_field(&form, "email");
    let created = if is_local(&app, &parts) || identity.is_first_account_code(form_field(&form, "code")) {
        let body = json!({"email": email, "password": form_field(&form, "password")});
        identity.create_first_account(&body).await
    } else {
        let message = "this is not the code in the server's log; copy it from there";
        Err(ServiceError::field("code", message))
    };
    match created {
        Ok(signed_in) => {
            let mut response = redirect(&page_head(&app, &parts.headers).link("/"));
            SessionCookie::of(app.service()).set(&signed_in, response.headers_mut());
            response
        }
        Err(ServiceError::NotFound(_)) => not_found_page(),
        Err(error) => {
            let csrf_token = CsrfToken::of(&app, &parts.headers);
            let page = form_page(&app, &parts, &csrf_token, email);
            csrf_token.with_cookie(with_errors(page, error))
        }
    }
}

fn form_page(app: &App, parts: &Parts, csrf_token: &CsrfToken, email: &str) -> CredentialsPage {
    let head = page_head(app, &parts.headers);
    let needs_code = !is_local(app, parts);
    CredentialsPage {
        email: email.to_owned(),
        ..CredentialsPage::new(head, CredentialsPurpose::FirstAccount { needs_code }, csrf_token.text())
    }
}

fn not_found_page() -> Response {
    let text = "This service has an account already. Sign in, or ask its operator for an account.";
    Page::message("Not found", text)
        .with_link("sign-in", "Sign in")
        .with_status(StatusCode::NOT_FOUND)
}
