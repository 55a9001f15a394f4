//! Who is before a page that somebody can sign in on, and decide on.
//!
//! Such a page has two forms, one to sign in and one with a `decision`. Both have to come from the page itself
//! ([`own_page`]), and both are counted by the address they come from.

use std::net::IpAddr;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;
use service::identity::SignIn;
use service::{Actor, ServiceError};

use super::link;
use super::page::Page;
use crate::app::App;
use crate::auth::{SessionCookie, own_page};
use crate::error::ApiError;
use crate::layers::limit::Group;
use crate::routes::messages::form::FormFields;

/// Whose browser it is, if they have signed in.
pub(in crate::routes) async fn who(app: &App, headers: &HeaderMap) -> Result<Option<Actor>, ServiceError> {
    let service = app.service();
    let cookie = SessionCookie::of(service).read(headers);
    // Of two cookies one was set by somebody else, and nobody can tell which.
    let cookie = cookie.map_err(|error| ServiceError::Malformed(error.message().to_owned()))?;
    let Some(cookie) = cookie else { return Ok(None) };
    match service.authenticator.authenticate_cookie(cookie).await {
        Ok(actor) => Ok(Some(actor)),
        Err(ServiceError::Unauthenticated(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The page for a form that is not taken: too many came from there, or it did not come from our own page. `again` says how to
/// begin anew.
pub(in crate::routes) fn refuse_form(
    app: &App,
    address: IpAddr,
    headers: &HeaderMap,
    form: &FormFields,
    again: &str,
) -> Option<Response> {
    let group = match link::field(form, "decision") {
        "" => Group::Login,
        _ => Group::Authorize,
    };
    if let Some(refusal) = link::refuse_beyond(app, address, group) {
        return Some(refusal);
    }
    if own_page::sent_it(app, headers, link::field(form, "form")) {
        return None;
    }
    let text = format!(
        "What was sent did not come from this service's own page, or the page was open for too long. {again}, with cookies \
         allowed."
    );
    Some(Page::saying("This could not be done", text).with(StatusCode::FORBIDDEN))
}

/// Signs somebody in with the address and the password of a form, and sends them to `next`.
pub(in crate::routes) async fn sign_in(
    app: &App,
    address: IpAddr,
    form: &FormFields,
    next: &str,
) -> Result<Response, ServiceError> {
    let service = app.service();
    let body = json!({"email": link::field(form, "email"), "password": link::field(form, "password")});
    let SignIn::Done(signed_in) = service.identity.sign_in(&body, address).await? else {
        return Err(ServiceError::Malformed(
            "a password is needed here; write it into the form".to_owned(),
        ));
    };
    let mut response = led_to(StatusCode::SEE_OTHER, next);
    let value = signed_in.cookie.as_deref();
    if let Some(value) = value.and_then(|value| SessionCookie::of(service).set(value)) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    Ok(response)
}

/// The page again, on which nobody was signed in.
pub(in crate::routes) fn not_signed_in(page: Response, error: ServiceError) -> Response {
    let error = ApiError::from(error);
    let status = match error.status() {
        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
        status => status,
    };
    refusing(page, status, error.retry_after_s())
}

/// The page for what could not be done.
pub(in crate::routes) fn failed(error: ServiceError) -> Response {
    // What went wrong inside is logged by this, and not shown.
    let error = ApiError::from(error);
    let page = Page::saying("This could not be done", error.message()).ok();
    refusing(page, error.status(), error.retry_after_s())
}

/// Sends a browser on. Where it goes it does not tell whence it comes, and nobody keeps the way.
pub(in crate::routes) fn led_to(status: StatusCode, location: &str) -> Response {
    let Ok(location) = HeaderValue::try_from(location) else {
        return failed(ServiceError::internal("a redirect URI is no header"));
    };
    let headers = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (status, headers).into_response()
}

fn refusing(mut page: Response, status: StatusCode, wait_s: Option<u64>) -> Response {
    *page.status_mut() = status;
    if let Some(seconds) = wait_s {
        let headers = page.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    page
}
