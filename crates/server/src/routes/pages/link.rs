//! What all pages behind links have in common: the token that the link has, and what is said when it is not good.

use std::net::IpAddr;

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use service::ServiceError;
use utoipa::IntoParams;

use super::page::{Form, Page};
use crate::app::App;
use crate::auth::Identity;
use crate::error::ApiError;
use crate::layers::limit::Group;
use crate::query::Query;
use crate::routes::messages::form::FormFields;

/// The characters of a token.
const TOKEN_CHARS: usize = 43;

/// Which link.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handlers read them")]
pub(super) struct LinkParams {
    /// What the link in the mail has.
    token: Option<String>,
}

/// The token of a link, if it looks like one.
pub(super) fn token(query: &mut Query) -> Option<String> {
    let token = query.text("token", TOKEN_CHARS)?;
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (token.len() == TOKEN_CHARS && token.bytes().all(is_one)).then_some(token)
}

/// A field of a form; empty if it is not there. Of two the last counts.
pub(in crate::routes) fn field<'a>(form: &'a FormFields, name: &str) -> &'a str {
    let found = form.0.iter().rev().find(|(found, _)| found == name);
    found.map_or("", |(_, value)| value.as_str())
}

/// What the API's use cases take for a link.
pub(super) fn body(form: &FormFields) -> Value {
    json!({"token": field(form, "token")})
}

/// A page with one button, which sends the link's token; nothing is done before it is pressed.
pub(super) fn button(
    query: &mut Query,
    action: &'static str,
    title: &'static str,
    text: &'static str,
    button: &'static str,
) -> Response {
    let Some(token) = token(query) else {
        return cut_off();
    };
    let form = Form {
        action,
        hidden: vec![("token", token)],
        field: None,
        button,
        other: None,
    };
    Page::asking(title, text, form).ok()
}

/// The page for a link that cannot be one.
pub(super) fn cut_off() -> Response {
    let text = "This link is none of this service, or was cut off. Open the whole link as the mail has it.";
    Page::saying("This link does not work", text).with(StatusCode::BAD_REQUEST)
}

/// Counts what a page asks to be done among what the client's address may ask of the API about signing in. Gives the page for
/// who has asked too much.
pub(super) fn refuse_beyond_limit(app: &App, address: IpAddr) -> Option<Response> {
    refuse_beyond(app, address, Group::Login)
}

/// Counts what a page asks to be done in that group.
pub(in crate::routes) fn refuse_beyond(app: &App, address: IpAddr, group: Group) -> Option<Response> {
    let counted = app.limiter().count(&Identity::Nobody, group, address, app.now());
    if counted.is_allowed {
        return None;
    }
    let text = format!(
        "Too much was asked for from here. Try again in {} s.",
        counted.retry_after_s
    );
    let mut response = Page::saying("Wait a moment", text).with(StatusCode::TOO_MANY_REQUESTS);
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(counted.retry_after_s));
    Some(response)
}

/// The page for what could not be done.
pub(super) fn refused(error: ServiceError) -> Response {
    match error {
        ServiceError::Malformed(_)
        | ServiceError::NotFound(_)
        | ServiceError::UnknownStock { .. }
        | ServiceError::Invalid { .. } => {
            let text = "This link is not known, was used already, or its time is over. Ask for another one.";
            Page::saying("This link does not work any more", text).with(StatusCode::BAD_REQUEST)
        }
        // What went wrong inside is logged by this, and not shown.
        error => {
            let error = ApiError::from(error);
            let mut response = Page::saying("This could not be done", error.message()).with(error.status());
            if let Some(seconds) = error.retry_after_s() {
                let headers = response.headers_mut();
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            response
        }
    }
}
