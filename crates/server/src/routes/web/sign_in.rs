//! `GET|POST /sign-in`: signs in with a password or an emailed link, and requests links.
//!
//! The form must come from the service's own page ([`csrf`]). Otherwise another site could sign a user in to *its* account
//! unnoticed (login CSRF).

use std::net::IpAddr;

use accounts::identity::SignInResult;
use foundation::ServiceError;
use serde_json::json;
use web::screens::credentials::{CredentialsPage, CredentialsPurpose};

use super::appearance::page_head;
use super::credentials::{credentials_response, foreign_form_page, with_errors};
use super::response::{redirect, see_other};
use crate::auth::csrf::{self, CsrfToken};
use crate::routes::pages::link::{self, form_field};
use crate::routes::pages::page::{Form, Page, error_page};
use crate::routes::pages::session::signed_in_actor;
use crate::routes::prelude::*;

/// Shows the form, or asks for the confirmation of the link in an email. It changes nothing.
pub(super) async fn show_sign_in(State(app): State<App>, headers: HeaderMap, mut query: Query) -> Response {
    let csrf_token = CsrfToken::of(&app, &headers);
    if let Some(token) = link::token(&mut query) {
        return csrf_token.with_cookie(confirm_page(token, csrf_token.text()));
    }
    let next = query.text("next", MAX_NEXT_CHARS).unwrap_or_default();
    // A session that exists already needs no form.
    if let Ok(Some(_)) = signed_in_actor(&app, &headers).await {
        return see_other(&page_head(&app, &headers), &next);
    }
    match app.service().identity.has_accounts().await {
        Ok(false) => return redirect(&page_head(&app, &headers).link("/first-account")),
        Ok(true) => {}
        Err(error) => return error_page(error),
    }
    let page = form_page(&app, &headers, &csrf_token, &next);
    csrf_token.with_cookie(credentials_response(&page, StatusCode::OK))
}

/// Maximum length of the address to return to, in characters.
const MAX_NEXT_CHARS: usize = 16_384;

/// Signs in, or mails a link.
pub(super) async fn sign_in(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::login_rate_limit_page(&app, address).await {
        return refusal;
    }
    if !csrf::is_own_form(&app, &headers, form_field(&form, "form")) {
        return foreign_form_page(&app, &headers);
    }
    if !form_field(&form, "token").is_empty() {
        return sign_in_by_link(&app, &headers, &form).await;
    }
    match form_field(&form, "by") {
        "link" => mail_link(&app, address, &headers, &form, LinkKind::SignIn).await,
        "reset" => mail_link(&app, address, &headers, &form, LinkKind::Reset).await,
        _ => sign_in_by_password(&app, address, &headers, &form).await,
    }
}

async fn sign_in_by_link(app: &App, headers: &HeaderMap, form: &FormFields) -> Response {
    match app.service().identity.sign_in_by_link(&link::token_body(form)).await {
        Ok(signed_in) => {
            let mut response = redirect(&page_head(app, headers).link("/"));
            SessionCookie::of(app.service()).set(&signed_in, response.headers_mut());
            response
        }
        Err(error) => link::link_error_page(error),
    }
}

async fn sign_in_by_password(app: &App, address: IpAddr, headers: &HeaderMap, form: &FormFields) -> Response {
    let service = app.service();
    let body = json!({"email": form_field(form, "email"), "password": form_field(form, "password")});
    match service.identity.sign_in(&body, address).await {
        Ok(SignInResult::SignedIn(signed_in)) => {
            let mut response = see_other(&page_head(app, headers), form_field(form, "next"));
            SessionCookie::of(service).set(&signed_in, response.headers_mut());
            response
        }
        Ok(SignInResult::LinkSent) => link_sent_page(LinkKind::SignIn),
        Err(error) => form_again(app, headers, form, error),
    }
}

#[derive(Clone, Copy)]
enum LinkKind {
    SignIn,
    Reset,
}

async fn mail_link(app: &App, address: IpAddr, headers: &HeaderMap, form: &FormFields, kind: LinkKind) -> Response {
    let identity = &app.service().identity;
    let email = form_field(form, "email");
    let result = match kind {
        LinkKind::Reset => identity.request_reset(&json!({"email": email})).await,
        LinkKind::SignIn => {
            let body = json!({"email": email, "type": "magic_link"});
            identity.sign_in(&body, address).await.map(drop)
        }
    };
    match result {
        Ok(()) => link_sent_page(kind),
        Err(error) => form_again(app, headers, form, error),
    }
}

/// Returns the form again with the errors of the input.
fn form_again(app: &App, headers: &HeaderMap, form: &FormFields, error: ServiceError) -> Response {
    let csrf_token = CsrfToken::of(app, headers);
    let page = CredentialsPage {
        email: form_field(form, "email").to_owned(),
        ..form_page(app, headers, &csrf_token, form_field(form, "next"))
    };
    csrf_token.with_cookie(with_errors(page, error))
}

fn form_page(app: &App, headers: &HeaderMap, csrf_token: &CsrfToken, next: &str) -> CredentialsPage {
    let head = page_head(app, headers);
    CredentialsPage {
        next: next.to_owned(),
        may_register: app.service().identity.is_registration_open(),
        ..CredentialsPage::new(head, CredentialsPurpose::SignIn, csrf_token.text())
    }
}

fn link_sent_page(kind: LinkKind) -> Response {
    let text = match kind {
        LinkKind::SignIn => "If this address has an account, a sign-in link was sent to it.",
        LinkKind::Reset => "If this address has an account, a link to choose a new password was sent to it.",
    };
    Page::message("Check your email", text).ok()
}

fn confirm_page(token: String, csrf_token: &str) -> Response {
    let form = Form {
        action: "sign-in".into(),
        hidden: vec![("token", token), ("form", csrf_token.to_owned())],
        field: None,
        button: "Sign in",
        other: None,
    };
    let text = "You will be signed in with this browser. If you did not request this, close this page.";
    Page::with_form("Sign in?", text, form).ok()
}
