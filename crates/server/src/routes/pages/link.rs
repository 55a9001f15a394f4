//! Shared parts of the pages behind emailed links: the token and the error pages.

use std::net::IpAddr;

use foundation::ServiceError;
use serde_json::{Value, json};

use super::page::{Form, Page, error_page, invalid_link_page, with_retry_after};
use crate::auth::Identity;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::prelude::*;

/// Number of characters of a token.
const TOKEN_LENGTH: usize = 43;

/// Query parameters: the token.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handlers read them")]
pub(super) struct LinkParams {
    /// Token from the link in the email.
    token: Option<String>,
}

/// Returns the token of a link if it is well-formed.
pub(in crate::routes) fn token(query: &mut Query) -> Option<String> {
    let token = query.text("token", TOKEN_LENGTH)?;
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (token.len() == TOKEN_LENGTH && token.bytes().all(is_one)).then_some(token)
}

/// Returns a field of a form; empty if missing. If a field is repeated, the last value counts.
pub(in crate::routes) fn form_field<'a>(form: &'a FormFields, name: &str) -> &'a str {
    let found = form.0.iter().rev().find(|(found, _)| found == name);
    found.map_or("", |(_, value)| value.as_str())
}

/// Returns the JSON body that the service's use cases expect for a link.
pub(in crate::routes) fn token_body(form: &FormFields) -> Value {
    json!({"token": form_field(form, "token")})
}

/// Returns a page with one button that submits the link's token. Nothing changes before the button is pressed.
pub(in crate::routes) fn confirmation_page(
    query: &mut Query,
    action: &'static str,
    title: &'static str,
    text: &'static str,
    button: &'static str,
) -> Response {
    let Some(token) = token(query) else {
        return invalid_link_page();
    };
    let form = Form {
        action: action.into(),
        hidden: vec![("token", token)],
        field: None,
        button,
        other: None,
    };
    Page::with_form(title, text, form).ok()
}

/// Counts a form submission against the sign-in rate limit of the client's address. Returns the error page if the limit is
/// exceeded.
pub(in crate::routes) async fn login_rate_limit_page(app: &App, address: IpAddr) -> Option<Response> {
    rate_limit_page(app, address, RateLimitGroup::Login).await
}

/// Counts a request against the given rate limit group. Returns the error page if the limit is exceeded.
pub(in crate::routes) async fn rate_limit_page(app: &App, address: IpAddr, group: RateLimitGroup) -> Option<Response> {
    rate_limit_caller(app, &Identity::Anonymous, address, group).await
}

/// Counts a request of a caller. Returns an error page if it exceeds the rate limit.
pub(in crate::routes) async fn rate_limit_caller(
    app: &App,
    caller: &Identity,
    address: IpAddr,
    group: RateLimitGroup,
) -> Option<Response> {
    let counted = match app.rate_limiter().count(caller, group, address, app.now()).await {
        Ok(counted) => counted,
        Err(error) => return Some(error_page(error)),
    };
    if counted.is_allowed {
        return None;
    }
    let text = format!("Too many requests. Try again in {} s.", counted.retry_after_s);
    let response = Page::message("Too many requests", text).with_status(StatusCode::TOO_MANY_REQUESTS);
    Some(with_retry_after(response, Some(counted.retry_after_s)))
}

/// Converts an error of a use case that takes the token of a link to an error page.
pub(in crate::routes) fn link_error_page(error: ServiceError) -> Response {
    match error {
        ServiceError::Malformed(_)
        | ServiceError::NotFound(_)
        | ServiceError::UnknownStock { .. }
        | ServiceError::Invalid { .. } => {
            let text = "The link is unknown, already used or expired. Request a new one.";
            Page::message("This link no longer works", text).with_status(StatusCode::BAD_REQUEST)
        }
        error => error_page(error),
    }
}
