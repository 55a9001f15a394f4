//! Layout and security headers of all HTML pages.

use std::borrow::Cow;
use std::sync::LazyLock;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foundation::ServiceError;
use http::HeaderName;
use sha2::{Digest, Sha256};

use crate::routes::prelude::*;

/// Shared stylesheet of all pages.
pub(in crate::routes) const STYLE: &str = include_str!("../../../assets/pages/page.css");

/// Targets that a page's form may lead to (`form-action` of the content security policy).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::routes) enum FormTarget {
    /// Only this origin.
    SameOrigin,
    /// Any origin. Browsers apply `form-action` also to redirects after a submission, so a form that ends in a redirect to another
    /// origin needs this.
    AnyOrigin,
}

/// The content security policies for [`FormTarget::SameOrigin`] and [`FormTarget::AnyOrigin`]. They allow only the page's
/// stylesheet, identified by its hash, and its form.
static CONTENT_SECURITY_POLICIES: LazyLock<[HeaderValue; 2]> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    [" form-action 'self';", ""].map(|forms| {
        let policy =
            format!("default-src 'none'; style-src 'sha256-{style}';{forms} base-uri 'none'; frame-ancestors 'none'");
        HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
    })
});

/// An HTML page.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::routes) struct Page {
    pub(super) title: &'static str,
    pub(super) paragraphs: Vec<String>,
    pub(super) form: Option<Form>,
    pub(super) link: Option<PageLink>,
}

/// A link at the end of a page.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PageLink {
    /// URL relative to the page.
    pub(super) to: Cow<'static, str>,
    pub(super) label: Cow<'static, str>,
}

/// A form on a page.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::routes) struct Form {
    /// Target relative to the page, so that it also works behind a proxy with a path prefix.
    pub(in crate::routes) action: Cow<'static, str>,
    pub(in crate::routes) hidden: Vec<(&'static str, String)>,
    pub(in crate::routes) field: Option<Field>,
    pub(in crate::routes) button: &'static str,
    /// Second button, which submits an additional form field.
    pub(in crate::routes) other: Option<OtherButton>,
}

/// The second button of a form.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::routes) struct OtherButton {
    pub(super) name: &'static str,
    pub(super) value: &'static str,
    pub(super) label: &'static str,
}

/// An input field of a form.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::routes) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) kind: &'static str,
    pub(super) autocomplete: &'static str,
    pub(super) min_length: Option<usize>,
    /// Error message for the previous input.
    pub(super) error: Option<String>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    page: &'a Page,
    style: &'static str,
}

impl Page {
    /// Creates a page with a message.
    pub(in crate::routes) fn message(title: &'static str, paragraph: impl Into<String>) -> Self {
        Self {
            title,
            paragraphs: vec![paragraph.into()],
            ..Self::default()
        }
    }

    /// Creates a page with a message and a form.
    pub(in crate::routes) fn with_form(title: &'static str, paragraph: impl Into<String>, form: Form) -> Self {
        Self {
            form: Some(form),
            ..Self::message(title, paragraph)
        }
    }

    /// Adds a link to the page.
    pub(in crate::routes) fn with_link(
        self,
        to: impl Into<Cow<'static, str>>,
        label: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (to, label) = (to.into(), label.into());
        Self {
            link: Some(PageLink { to, label }),
            ..self
        }
    }

    pub(in crate::routes) fn with_status(&self, status: StatusCode) -> Response {
        self.response_with(status, FormTarget::SameOrigin)
    }

    /// Renders the page with a status and a form target.
    pub(in crate::routes) fn response_with(&self, status: StatusCode, form_target: FormTarget) -> Response {
        let template = PageTemplate {
            page: self,
            style: STYLE,
        };
        let mut page = response(&template, form_target);
        *page.status_mut() = status;
        page
    }

    pub(in crate::routes) fn ok(&self) -> Response {
        self.with_status(StatusCode::OK)
    }
}

/// Creates a page response from another template.
pub(in crate::routes) fn response(template: &impl Template, form_target: FormTarget) -> Response {
    // Rendering to a string cannot fail.
    let mut response = template.render().unwrap_or_default().into_response();
    protect(response.headers_mut(), form_target);
    response
}

/// Converts an error to an error page.
pub(in crate::routes) fn error_page(error: ServiceError) -> Response {
    // The conversion logs internal errors and hides their cause.
    let error = ApiError::from(error);
    let page = Page::message("The request failed", error.message());
    with_retry_after(page.with_status(error.status()), error.retry_after_s())
}

/// Returns the error page for a malformed link.
pub(in crate::routes) fn invalid_link_page() -> Response {
    let text = "The link is incomplete or does not belong to this service. Open the complete link from the email.";
    Page::message("This link does not work", text).with_status(StatusCode::BAD_REQUEST)
}

/// Adds a `Retry-After` header, in seconds.
pub(super) fn with_retry_after(mut page: Response, seconds: Option<u64>) -> Response {
    if let Some(seconds) = seconds {
        let headers = page.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    page
}

fn policy(form_target: FormTarget) -> HeaderValue {
    let [same_origin, any_origin] = &*CONTENT_SECURITY_POLICIES;
    match form_target {
        FormTarget::SameOrigin => same_origin.clone(),
        FormTarget::AnyOrigin => any_origin.clone(),
    }
}

/// Sets the security headers: no caching, no referrer, no framing, no scripts.
fn protect(headers: &mut HeaderMap, form_target: FormTarget) {
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, policy(form_target));
    if form_target == FormTarget::SameOrigin {
        // Not for OAuth pages: a client that opened the page in a popup waits for the redirect in that window.
        let opener = HeaderName::from_static("cross-origin-opener-policy");
        headers.insert(opener, HeaderValue::from_static("same-origin"));
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn page_texts_are_escaped() {
        let evil = r#""><script>alert('1')</script>{{ page }}"#;
        let page = Page::with_form(
            "Title",
            evil,
            Form {
                action: "confirm".into(),
                hidden: vec![("token", evil.to_owned())],
                field: Some(Field {
                    name: "password",
                    label: "Password",
                    kind: "password",
                    error: Some(evil.to_owned()),
                    ..Field::default()
                }),
                button: "Do it",
                other: None,
            },
        );
        let response = page.ok();
        let html = to_bytes(response.into_body(), 100_000).await.unwrap();
        let html = String::from_utf8(html.to_vec()).unwrap();
        assert!(!html.contains("<script") && !html.contains(r#"value="""#), "{html}");
        assert_eq!(html.matches("&#60;script&#62;").count(), 3, "{html}");
    }

    #[test]
    fn policy_allows_only_the_stylesheet() {
        let [policy, _] = &*CONTENT_SECURITY_POLICIES;
        let policy = policy.to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        for lax in ["unsafe", "*", "http:", "https:", "data:", "script-src"] {
            assert!(!policy.contains(lax), "{policy}");
        }
    }
}
