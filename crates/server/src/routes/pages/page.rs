//! How all pages look, and what browsers are told to do with them: nothing but show them.

use std::borrow::Cow;
use std::sync::LazyLock;

use askama::Template;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

/// What all pages look like.
pub(in crate::routes) const STYLE: &str = include_str!("../../../assets/pages/page.css");

/// Where a page's form may lead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::routes) enum Leads {
    /// To here.
    Home,
    /// To here, and from here to wherever the answer sends the browser, and wherever that leads on to: browsers hold all of it
    /// against what a page says about its forms.
    Anywhere,
}

/// Nothing but the page's own style, which is known by its hash, and its form.
static POLICIES: LazyLock<[HeaderValue; 2]> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    [" form-action 'self';", ""].map(|forms| {
        let policy =
            format!("default-src 'none'; style-src 'sha256-{style}';{forms} base-uri 'none'; frame-ancestors 'none'");
        HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
    })
});

/// A page.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::routes) struct Page {
    pub(super) title: &'static str,
    pub(super) paragraphs: Vec<String>,
    pub(super) form: Option<Form>,
    pub(super) lead: Option<Lead>,
}

/// Where somebody may go on.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Lead {
    /// Where, seen from the page.
    pub(super) to: Cow<'static, str>,
    pub(super) label: Cow<'static, str>,
}

/// What a page asks to be sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Form {
    /// Where to, seen from the page: so it is found behind a proxy that puts it under another path, too.
    pub(super) action: &'static str,
    pub(super) hidden: Vec<(&'static str, String)>,
    pub(super) field: Option<Field>,
    pub(super) button: &'static str,
    /// A second button, which says so in a field of the form.
    pub(super) other: Option<OtherButton>,
}

/// A button beside the first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OtherButton {
    pub(super) name: &'static str,
    pub(super) value: &'static str,
    pub(super) label: &'static str,
}

/// What somebody writes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) kind: &'static str,
    pub(super) autocomplete: &'static str,
    pub(super) min_length: Option<usize>,
    /// What was wrong with what they wrote before.
    pub(super) fault: Option<String>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Html<'a> {
    page: &'a Page,
    style: &'static str,
}

impl Page {
    /// A page that says something.
    pub(in crate::routes) fn saying(title: &'static str, paragraph: impl Into<String>) -> Self {
        Self {
            title,
            paragraphs: vec![paragraph.into()],
            ..Self::default()
        }
    }

    /// A page that says something and asks for something.
    pub(super) fn asking(title: &'static str, paragraph: impl Into<String>, form: Form) -> Self {
        Self {
            form: Some(form),
            ..Self::saying(title, paragraph)
        }
    }

    /// The page with a link to where somebody may go on.
    pub(in crate::routes) fn leading(
        self,
        to: impl Into<Cow<'static, str>>,
        label: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (to, label) = (to.into(), label.into());
        Self {
            lead: Some(Lead { to, label }),
            ..self
        }
    }

    pub(in crate::routes) fn with(&self, status: StatusCode) -> Response {
        self.with_leads(status, Leads::Home)
    }

    /// The page, for a window that a program may wait for.
    pub(in crate::routes) fn with_leads(&self, status: StatusCode, leads: Leads) -> Response {
        let html = Html {
            page: self,
            style: STYLE,
        };
        // Writing into a string cannot fail, and the template has no other fault.
        let body = html.render().unwrap_or_default();
        let mut response = (status, body).into_response();
        protect(response.headers_mut(), leads);
        response
    }

    pub(super) fn ok(&self) -> Response {
        self.with(StatusCode::OK)
    }
}

/// A page of another template.
pub(in crate::routes) fn response(body: String, leads: Leads) -> Response {
    let mut response = body.into_response();
    protect(response.headers_mut(), leads);
    response
}

/// The content security policy of a page with [`STYLE`] in it: nothing is loaded.
pub(in crate::routes) fn policy(leads: Leads) -> HeaderValue {
    let [home, anywhere] = &*POLICIES;
    match leads {
        Leads::Home => home.clone(),
        Leads::Anywhere => anywhere.clone(),
    }
}

/// Nothing keeps the page, tells others its address, shows it within another page, or runs anything in it.
fn protect(headers: &mut HeaderMap, leads: Leads) {
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
    headers.insert(header::CONTENT_SECURITY_POLICY, policy(leads));
    if leads == Leads::Home {
        // A program that has opened a page in a window of its own waits there for the browser to come back.
        let opener = HeaderName::from_static("cross-origin-opener-policy");
        headers.insert(opener, HeaderValue::from_static("same-origin"));
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn whatever_a_page_is_told_stays_text() {
        let evil = r#""><script>alert('1')</script>{{ page }}"#;
        let page = Page::asking(
            "Title",
            evil,
            Form {
                action: "confirm",
                hidden: vec![("token", evil.to_owned())],
                field: Some(Field {
                    name: "password",
                    label: "Password",
                    kind: "password",
                    fault: Some(evil.to_owned()),
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
    fn the_policy_knows_the_style_and_nothing_else() {
        let [policy, _] = &*POLICIES;
        let policy = policy.to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        for lax in ["unsafe", "*", "http:", "https:", "data:", "script-src"] {
            assert!(!policy.contains(lax), "{policy}");
        }
    }
}
