//! Whether a form comes from our own page.
//!
//! Browsers say where a form comes from, but not all of them, and not without https ([`same_origin`]). So a page brings a random
//! text twice, in the form and as a cookie that comes with no other site's forms, and the two have to be the same.

use super::cookie::FormCookie;
use super::same_origin;
use crate::app::App;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};

/// Whether the form with that text comes from a page of ours.
#[must_use]
pub fn sent_it(app: &App, headers: &HeaderMap, nonce: &str) -> bool {
    if same_origin::is_same_origin(headers, app.own_origins()) {
        return true;
    }
    let says_elsewhere = headers.contains_key(same_origin::SEC_FETCH_SITE)
        || headers
            .get(header::ORIGIN)
            .is_some_and(|origin| *origin != HeaderValue::from_static("null"));
    !says_elsewhere && FormCookie::of(app.service()).is(headers, nonce)
}

/// The text of a page's form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nonce {
    cookie: FormCookie,
    text: String,
}

impl Nonce {
    /// For a page that is asked for. A second page in the same browser keeps the first one's form good.
    #[must_use]
    pub fn of(app: &App, headers: &HeaderMap) -> Self {
        let cookie = FormCookie::of(app.service());
        let kept = cookie.read(headers).map(str::to_owned);
        Self {
            cookie,
            text: kept.unwrap_or_else(|| app.chance().uuid().simple().to_string()),
        }
    }

    /// As the form has it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The page with its cookie.
    #[must_use]
    pub fn given_to(&self, mut page: Response) -> Response {
        if let Some(value) = self.cookie.set(&self.text) {
            page.headers_mut().append(header::SET_COOKIE, value);
        }
        page
    }
}
