//! The page on which somebody signs in, to be asked what a program may do.

use askama::Template;
use axum::response::Response;
use service::oauth::Asked;

use crate::routes::pages::page::{self, Leads, STYLE};

/// What is said of an address and a password that do not belong together, be there such an account or not.
pub(super) const WRONG: &str =
    "There is no account with this address and password, or the address is not confirmed yet.";

#[derive(Template)]
#[template(path = "oauth_sign_in.html")]
struct Html<'a> {
    style: &'static str,
    client: &'a str,
    query: &'a str,
    form: &'a str,
    fault: Option<String>,
}

/// The page. Its form leads to the same address, with the same query.
pub(super) fn show(asked: &Asked, query: &str, form: &str, fault: Option<String>) -> Response {
    let html = Html {
        style: STYLE,
        client: &asked.client.name,
        query,
        form,
        fault,
    };
    // Writing into a string cannot fail, and the template has no other fault.
    page::response(html.render().unwrap_or_default(), Leads::Anywhere)
}
