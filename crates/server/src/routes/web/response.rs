//! Responses of the dashboard.

use askama::Template;
use http::HeaderName;
use web::layout::PageHead;
use web::return_path::ReturnPath;

use crate::routes::pages::page::{FormTarget, html_page};
use crate::routes::prelude::*;

/// The header by which htmx asks for a part of a page.
pub(super) const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
/// The header that makes htmx go to another page.
pub(super) const HX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

/// Renders a page, or a part of one.
pub(super) fn rendered(template: &impl Template) -> Response {
    // Rendering to a string cannot fail.
    let mut response = html_page(template.render().unwrap_or_default(), FormTarget::SameOrigin);
    response
        .headers_mut()
        .append(header::VARY, HeaderValue::from_static("HX-Request"));
    response
}

/// Redirects a browser to an address of this service that a form has sent; to the start page if it is none.
pub(super) fn see_other(head: &PageHead, next: &str) -> Response {
    let next = ReturnPath::parse(next).map_or_else(|| "/".to_owned(), |next| next.as_str().to_owned());
    redirect(&head.link(&next))
}

/// Redirects a browser with 303.
pub(super) fn redirect(location: &str) -> Response {
    let location = HeaderValue::try_from(location).unwrap_or(HeaderValue::from_static("/"));
    let headers = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::VARY, HeaderValue::from_static("HX-Request")),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}
