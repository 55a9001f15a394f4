//! The pages of the OAuth authorization endpoint: sign in, and consent.

use askama::Template;

use crate::layout::PageHead;

/// A requested scope with its description for the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestedScope {
    /// The name.
    pub name: &'static str,
    /// The description.
    pub text: &'static str,
}

/// The page on which an account's owner allows an app to access the account.
#[derive(Template, Debug)]
#[template(path = "oauth_consent.html")]
pub struct ConsentPage<'a> {
    /// The head.
    pub head: PageHead,
    /// The app's name.
    pub client: &'a str,
    /// Host of the client metadata document.
    pub host: Option<&'a str>,
    /// The account's email address.
    pub email: &'a str,
    /// Where the browser is redirected.
    pub leads_to: String,
    /// Whether that is an app on the same device.
    pub is_own_machine: bool,
    /// The requested scopes.
    pub requested_scopes: Vec<RequestedScope>,
    /// The CSRF token.
    pub form: &'a str,
    /// The sealed request.
    pub request: &'a str,
    /// Query string of the request, for the link that switches accounts.
    pub query: &'a str,
}

/// The sign-in page of the authorization endpoint. Its form submits to the same URL with the same query.
#[derive(Template, Debug)]
#[template(path = "oauth_sign_in.html")]
pub struct OAuthSignInPage<'a> {
    /// The head.
    pub head: PageHead,
    /// The app's name.
    pub client: &'a str,
    /// Query string of the request.
    pub query: &'a str,
    /// The CSRF token.
    pub form: &'a str,
    /// The error of the previous attempt.
    pub error: Option<String>,
}
