//! Browser sessions on HTML pages with a sign-in form and a decision form.
//!
//! Both forms are protected by [`csrf`] and rate limited by client address. A form with a `decision` field is a decision; any other
//! form is a sign-in.

use std::net::IpAddr;

use accounts::identity::{SessionClient, SignInResult};
use foundation::{Actor, ServiceError};
use serde_json::json;

use super::link;
use super::page::{self, Page};
use crate::auth::csrf;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::prelude::*;

/// Returns the account of the browser's session, or `None` without a valid session.
pub(in crate::routes) async fn signed_in_actor(app: &App, headers: &HeaderMap) -> Result<Option<Actor>, ServiceError> {
    signed_in_at(app, headers, None).await
}

/// As [`signed_in_actor`], for a page that a browser opens: the browser is recorded as the one that uses the session.
pub(in crate::routes) async fn signed_in_at(
    app: &App,
    headers: &HeaderMap,
    client: Option<SessionClient>,
) -> Result<Option<Actor>, ServiceError> {
    let service = app.service();
    let cookie = SessionCookie::of(service).read(headers);
    // Two different session cookies are refused: a third party may have set one of them.
    let cookie = cookie.map_err(|error| ServiceError::Malformed(error.message().to_owned()))?;
    let Some(cookie) = cookie else { return Ok(None) };
    match service.authenticator.authenticate_cookie(cookie, client).await {
        Ok(actor) => Ok(Some(actor)),
        Err(ServiceError::Unauthenticated(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Checks rate limit and origin of a form. Returns an error page if the form is refused. `retry_hint` tells the user how to
/// start again.
pub(in crate::routes) async fn reject_form(
    app: &App,
    address: IpAddr,
    headers: &HeaderMap,
    form: &FormFields,
    retry_hint: &str,
) -> Option<Response> {
    let group = match link::form_field(form, "decision") {
        "" => RateLimitGroup::Login,
        _ => RateLimitGroup::Authorize,
    };
    if let Some(refusal) = link::rate_limit_page(app, address, group).await {
        return Some(refusal);
    }
    if csrf::is_own_form(app, headers, link::form_field(form, "form")) {
        return None;
    }
    let text = format!(
        "The form does not come from this service's page, or the page was open for too long. {retry_hint} with cookies \
         enabled."
    );
    Some(Page::message("The request failed", text).with_status(StatusCode::FORBIDDEN))
}

/// Signs in with the address and password of a form, and redirects to `next`.
pub(in crate::routes) async fn sign_in(
    app: &App,
    address: IpAddr,
    form: &FormFields,
    next: &str,
) -> Result<Response, ServiceError> {
    let service = app.service();
    let body = json!({"email": link::form_field(form, "email"), "password": link::form_field(form, "password")});
    let SignInResult::SignedIn(signed_in) = service.identity.sign_in(&body, address).await? else {
        return Err(ServiceError::Malformed(
            "a password is required; enter it in the form".to_owned(),
        ));
    };
    let mut response = redirect_to(StatusCode::SEE_OTHER, next);
    SessionCookie::of(service).set(&signed_in, response.headers_mut());
    Ok(response)
}

/// Sets the status of a page that reports a failed sign-in.
pub(in crate::routes) fn sign_in_failed(mut page: Response, error: ServiceError) -> Response {
    let error = ApiError::from(error);
    *page.status_mut() = match error.status() {
        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
        status => status,
    };
    page::with_retry_after(page, error.retry_after_s())
}

/// Redirects a browser, without referrer and without caching.
pub(in crate::routes) fn redirect_to(status: StatusCode, location: &str) -> Response {
    let Ok(location) = HeaderValue::try_from(location) else {
        return page::error_page(ServiceError::internal("a redirect URI is not a valid header value"));
    };
    let headers = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (status, headers).into_response()
}
