//! `GET|POST /sign-in`: signing in by a link, or asking for one, or for one to choose a new password with.
//!
//! Whoever opens a link is signed in on that device, so the form has to come from our own page: else another site could
//! sign somebody in to *its* account, and they would not know ([`own_page`]).

use std::net::IpAddr;

use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, header};
use serde_json::json;

use super::link::{self, LinkParams};
use super::page::{Field, Form, OtherButton, Page};
use crate::app::App;
use crate::auth::{SessionCookie, own_page};
use crate::layers::client::ClientAddress;
use crate::query::Query;
use crate::routes::messages::form::FormFields;

/// For whoever has forgotten their password.
const FORGOTTEN: OtherButton = OtherButton {
    name: "forgotten",
    value: "password",
    label: "I have forgotten my password",
};

/// Ask whether somebody wants to sign in
///
/// The page that the link in a mail opens, or, without a token, the one that asks for an address to mail a link to. It changes
/// nothing.
#[utoipa::path(
    get,
    path = "/sign-in",
    tag = "Pages",
    params(LinkParams),
    responses((status = 200, description = "The page", content_type = "text/html", body = String,
               headers(("Set-Cookie" = String, description = "What shows that the form comes from this page")))),
    security(())
)]
pub(super) async fn show_sign_in(State(app): State<App>, headers: HeaderMap, mut query: Query) -> Response {
    let nonce = own_page::Nonce::of(&app, &headers);
    let page = match link::token(&mut query) {
        Some(token) => ask(token, nonce.text()),
        None => ask_for_address(nonce.text(), None),
    };
    nonce.given_to(page.ok())
}

/// Sign in by a link, or have one mailed
///
/// For the page's button. Forms that do not come from the page are refused.
#[utoipa::path(
    post,
    path = "/sign-in",
    tag = "Pages",
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "`token`, or `email` to have a link mailed (with `forgotten` one to choose a new password with), and what \
                       the page's form brings besides",
    ),
    responses(
        (status = 200, description = "A page that says so", content_type = "text/html", body = String,
         headers(("Set-Cookie" = String, description = "The session"))),
        (status = 400, description = "A page that says that the link is not good", content_type = "text/html", body = String),
        (status = 403, description = "A page that says that the form came from elsewhere",
         content_type = "text/html", body = String),
        (status = 422, description = "A page that asks for another address", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn sign_in(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    form: FormFields,
) -> Response {
    if let Some(refusal) = link::refuse_beyond_limit(&app, address) {
        return refusal;
    }
    let service = app.service();
    let nonce = link::field(&form, "form");
    if !own_page::sent_it(&app, &headers, nonce) {
        let text = "What was sent did not come from this service's own page, or the page was open for too long. Open the \
                    link in the mail again, with cookies allowed.";
        return Page::saying("This could not be done", text).with(http::StatusCode::FORBIDDEN);
    }
    let email = link::field(&form, "email");
    if !email.is_empty() {
        let is_forgotten = !link::field(&form, FORGOTTEN.name).is_empty();
        return mail(&app, address, email, is_forgotten, nonce).await;
    }
    match service.identity.sign_in_by_link(&link::body(&form)).await {
        Ok(signed_in) => {
            let text = format!("You are signed in as {} in this browser.", signed_in.account.email);
            let mut response = Page::saying("You are signed in", text).ok();
            let cookie = SessionCookie::of(service);
            let value = signed_in.cookie.as_deref().and_then(|value| cookie.set(value));
            if let Some(value) = value {
                response.headers_mut().insert(header::SET_COOKIE, value);
            }
            response
        }
        Err(error) => link::refused(error),
    }
}

/// Has a link mailed.
async fn mail(app: &App, address: IpAddr, email: &str, is_forgotten: bool, nonce: &str) -> Response {
    let service = app.service();
    let (asked, text) = if is_forgotten {
        let asked = service.identity.request_reset(&json!({"email": email})).await;
        (
            asked,
            "If this address has an account, a link to choose a new password with is on its way to it.",
        )
    } else {
        let body = json!({"email": email, "type": "magic_link"});
        let asked = service.identity.sign_in(&body, address).await.map(drop);
        (
            asked,
            "If this address has an account, a link to sign in is on its way to it.",
        )
    };
    match asked {
        Ok(()) => Page::saying("Look into your mail", text).ok(),
        Err(service::ServiceError::Invalid { fields, .. }) => {
            let fault = fields.get("email").map(|faults| faults.join("; "));
            ask_for_address(nonce, fault).with(http::StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(error) => link::refused(error),
    }
}

fn ask(token: String, nonce: &str) -> Page {
    let form = Form {
        action: "sign-in",
        hidden: vec![("token", token), ("form", nonce.to_owned())],
        field: None,
        button: "Sign in",
        other: None,
    };
    let text = "You will be signed in in this browser. If you did not ask for this, close this page.";
    Page::asking("Sign in?", text, form)
}

fn ask_for_address(nonce: &str, fault: Option<String>) -> Page {
    let form = Form {
        action: "sign-in",
        hidden: vec![("form", nonce.to_owned())],
        field: Some(Field {
            name: "email",
            label: "Your address",
            kind: "email",
            autocomplete: "email",
            min_length: None,
            fault,
        }),
        button: "Mail me a link",
        other: Some(FORGOTTEN),
    };
    Page::asking(
        "Sign in",
        "A link to sign in, or to choose a new password with, is mailed to the address of your account.",
        form,
    )
}
