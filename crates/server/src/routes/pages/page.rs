//! Pages with a message: how handlers create them, and the headers of all HTML pages.
//!
//! A handler returns a response without a body. The layer [`render`](super::render) fills it in, because it knows the browser's
//! appearance and session, and the path of the service.

use std::borrow::Cow;

use foundation::{ServiceError, StockCandidate};
use http::HeaderName;
use market::Symbol;
use url::Url;
use web::message_page::{FormField, MessageForm, MessagePage, PageLink};
use web::wording;

use crate::routes::prelude::*;

pub(in crate::routes) type Page = MessagePageBuilder;
pub(in crate::routes) type Form = MessageForm;
pub(in crate::routes) type Field = FormField;

/// Targets that a page's form may lead to (`form-action` of the content security policy).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::routes) enum FormTarget<'a> {
    /// Only this origin.
    SameOrigin,
    /// This origin, and a redirect URI. Browsers apply `form-action` also to redirects after a submission.
    RedirectUri(&'a str),
}

/// A page with a message that is not rendered yet.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::routes) struct MessagePageBuilder(MessagePage);

/// A page in the extensions of a response, for [`render`](super::render).
#[derive(Clone, Debug)]
pub(super) struct UnrenderedPage(pub(super) Box<MessagePage>);

impl MessagePageBuilder {
    /// Creates a page with a message.
    pub(in crate::routes) fn message(title: &'static str, paragraph: impl Into<String>) -> Self {
        Self(MessagePage {
            title,
            paragraphs: vec![paragraph.into()],
            ..MessagePage::default()
        })
    }

    /// Creates a page with a message and a form.
    pub(in crate::routes) fn with_form(title: &'static str, paragraph: impl Into<String>, form: Form) -> Self {
        let mut page = Self::message(title, paragraph);
        page.0.form = Some(form);
        page
    }

    /// Adds a link to the page.
    pub(in crate::routes) fn with_link(
        mut self,
        to: impl Into<Cow<'static, str>>,
        label: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (to, label) = (to.into(), label.into());
        self.0.links.push(PageLink { to, label });
        self
    }

    pub(in crate::routes) fn with_status(self, status: StatusCode) -> Response {
        let mut page = status.into_response();
        page.extensions_mut().insert(UnrenderedPage(Box::new(self.0)));
        page
    }

    pub(in crate::routes) fn ok(self) -> Response {
        self.with_status(StatusCode::OK)
    }
}

/// Creates a page response from HTML.
pub(in crate::routes) fn html_page(html: String, form_target: FormTarget<'_>) -> Response {
    let mut response = html.into_response();
    protect(response.headers_mut(), form_target);
    response
}

/// Converts an error to an error page.
pub(in crate::routes) fn error_page(error: ServiceError) -> Response {
    match error {
        ServiceError::UnknownStock { symbol, candidates } => unknown_stock_page(symbol, &candidates),
        // The conversion logs internal errors and hides their cause.
        error => api_error_page(&ApiError::from(error)),
    }
}

/// Returns the page of a symbol that no stock has, with links to similar ones.
fn unknown_stock_page(symbol: Symbol, candidates: &[StockCandidate]) -> Response {
    let text = match candidates {
        [] => format!("There is no stock with the symbol {symbol}. Check the symbol."),
        _ => format!("There is no stock with the symbol {symbol}. Did you mean:"),
    };
    let page = candidates
        .iter()
        .fold(Page::message("Stock not found", text), |page, candidate| {
            let label = format!("{} ({})", candidate.symbol, candidate.name);
            page.with_link(format!("/stocks/{}", candidate.symbol), label)
        });
    page.with_status(StatusCode::NOT_FOUND)
}

/// Returns the page of an error.
pub(in crate::routes) fn api_error_page(error: &ApiError) -> Response {
    let page = Page::message("The request failed", wording::message(error.message()));
    with_retry_after(page.with_status(error.status()), error.retry_after_s())
}

/// Returns the page for an unknown address.
pub(crate) fn not_found_page() -> Response {
    let text = "There is no page at this address. Check the address, or begin at the start page.";
    Page::message("Page not found", text)
        .with_link("/", "Start page")
        .with_status(StatusCode::NOT_FOUND)
}

/// Returns the error page for a malformed link.
pub(in crate::routes) fn invalid_link_page() -> Response {
    let text = "The link is incomplete or does not belong to this service. Open the complete link from the email.";
    Page::message("This link does not work", text).with_status(StatusCode::BAD_REQUEST)
}

/// Adds a `Retry-After` header, in seconds.
pub(in crate::routes) fn with_retry_after(mut page: Response, seconds: Option<u64>) -> Response {
    if let Some(seconds) = seconds {
        let headers = page.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    page
}

/// Returns the content security policy of a page.
fn policy(form_target: FormTarget<'_>) -> String {
    let redirect = match form_target {
        FormTarget::SameOrigin => String::new(),
        FormTarget::RedirectUri(uri) => source_of(uri).map_or_else(String::new, |source| format!(" {source}")),
    };
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'{redirect}; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types bellwether"
    )
}

/// Returns the source expression that allows a redirect URI: its origin, or its scheme if it has no origin.
fn source_of(uri: &str) -> Option<String> {
    let url = Url::parse(uri).ok()?;
    let origin = url.origin();
    Some(match origin.is_tuple() {
        true => origin.ascii_serialization(),
        false => format!("{}:", url.scheme()),
    })
}

/// Sets the security headers: no caching, no referrer for other sites, no framing, only this service's own scripts and styles.
pub(super) fn protect(headers: &mut HeaderMap, form_target: FormTarget<'_>) {
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = HeaderValue::try_from(policy(form_target)).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if form_target == FormTarget::SameOrigin {
        // Not for OAuth pages: a client that opened the page in a popup waits for the redirect in that window.
        let opener = HeaderName::from_static("cross-origin-opener-policy");
        headers.insert(opener, HeaderValue::from_static("same-origin"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_allows_only_own_files_and_one_trusted_types_policy() {
        let policy = policy(FormTarget::SameOrigin);
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"),
            "{policy}"
        );
        assert!(
            policy.contains("form-action 'self';") && policy.ends_with("trusted-types bellwether"),
            "{policy}"
        );
        for lax in ["unsafe", "*", "http:", "https:", "nonce"] {
            assert!(!policy.contains(lax), "{policy}");
        }
    }

    #[test]
    fn policy_of_a_consent_page_allows_the_redirect() {
        let form_action = |uri: &str| {
            let policy = policy(FormTarget::RedirectUri(uri));
            let (_, rest) = policy.split_once("form-action ").unwrap();
            rest.split(';').next().unwrap().to_owned()
        };
        assert_eq!(
            form_action("https://app.example/back?a=b"),
            "'self' https://app.example"
        );
        assert_eq!(form_action("http://127.0.0.1:4711/cb"), "'self' http://127.0.0.1:4711");
        assert_eq!(form_action("cursor://anysphere/callback"), "'self' cursor:");
        assert_eq!(form_action("cursor://callback; script-src *"), "'self'");
        assert_eq!(form_action("not a uri"), "'self'");
    }
}
