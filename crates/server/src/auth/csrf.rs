//! CSRF protection of HTML forms (double-submit cookie).
//!
//! Most browsers send the origin of a form, but not all of them, and not without https ([`same_origin`]). Each page therefore
//! contains a random token twice: in the form and in a `SameSite=Strict` cookie. Both must match.

use super::cookie::CsrfCookie;
use super::same_origin;
use crate::state::App;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};

/// Returns whether a form with this token comes from one of the service's own pages.
#[must_use]
pub fn is_own_form(app: &App, headers: &HeaderMap, token: &str) -> bool {
    if same_origin::is_same_origin(headers, app.own_origins()) {
        return true;
    }
    let is_cross_origin = headers.contains_key(same_origin::SEC_FETCH_SITE)
        || headers
            .get(header::ORIGIN)
            .is_some_and(|origin| *origin != HeaderValue::from_static("null"));
    !is_cross_origin && CsrfCookie::of(app.service()).matches(headers, token)
}

/// The CSRF token of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CsrfToken {
    cookie: CsrfCookie,
    text: String,
}

impl CsrfToken {
    /// Returns the token for a requested page. Reuses the browser's existing token, so that forms on pages opened earlier stay
    /// valid.
    #[must_use]
    pub fn of(app: &App, headers: &HeaderMap) -> Self {
        let cookie = CsrfCookie::of(app.service());
        let kept = cookie.read(headers).map(str::to_owned);
        Self {
            cookie,
            text: kept.unwrap_or_else(|| app.random().uuid().simple().to_string()),
        }
    }

    /// Returns the token's text for the form.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds the CSRF cookie to a page.
    #[must_use]
    pub fn with_cookie(&self, mut page: Response) -> Response {
        if let Some(value) = self.cookie.set(&self.text) {
            page.headers_mut().append(header::SET_COOKIE, value);
        }
        page
    }
}
