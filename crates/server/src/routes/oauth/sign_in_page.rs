//! The sign-in page of the authorization endpoint.

use accounts::oauth::AuthorizationRequest;
use askama::Template;

use crate::routes::pages::page::{self, FormTarget, STYLE};
use crate::routes::prelude::*;

/// Error for wrong credentials. It does not reveal whether the account exists.
pub(super) const WRONG_CREDENTIALS: &str =
    "No account has this address and password, or the address is not confirmed yet.";

#[derive(Template)]
#[template(path = "oauth_sign_in.html")]
struct SignInTemplate<'a> {
    style: &'static str,
    client: &'a str,
    query: &'a str,
    form: &'a str,
    error: Option<String>,
}

/// Renders the sign-in page. Its form submits to the same URL with the same query.
pub(super) fn show(authorization: &AuthorizationRequest, query: &str, form: &str, error: Option<String>) -> Response {
    let template = SignInTemplate {
        style: STYLE,
        client: &authorization.client.name,
        query,
        form,
        error,
    };
    page::response(&template, FormTarget::AnyOrigin)
}
