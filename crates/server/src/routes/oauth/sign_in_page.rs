//! The sign-in page of the authorization endpoint.

use accounts::oauth::AuthorizationRequest;
use askama::Template;

use web::layout::PageHead;
use web::screens::oauth::OAuthSignInPage;

use crate::routes::pages::page::{FormTarget, html_page};
use crate::routes::prelude::*;

/// Error for wrong credentials. It does not reveal whether the account exists.
pub(super) const WRONG_CREDENTIALS: &str =
    "No account has this address and password, or the address is not confirmed yet.";

/// Renders the sign-in page. Its form submits to the same URL with the same query.
pub(super) fn show(
    head: PageHead,
    authorization: &AuthorizationRequest,
    query: &str,
    form: &str,
    error: Option<String>,
) -> Response {
    let page = OAuthSignInPage {
        head,
        client: &authorization.client.name,
        query,
        form,
        error,
    };
    // Rendering to a string cannot fail.
    let html = page.render().unwrap_or_default();
    html_page(html, FormTarget::RedirectUri(authorization.redirect_uri()))
}
