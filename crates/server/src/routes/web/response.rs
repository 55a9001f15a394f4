//! Responses of the dashboard.

use askama::Template;
use foundation::ServiceError;
use http::HeaderName;
use web::layout::{Notice, PageHead};
use web::return_path::ReturnPath;
use web::wording;

use super::notice;
use crate::routes::pages::page::{FormTarget, html_page};
use crate::routes::prelude::*;

/// The header by which htmx asks for a part of a page.
pub(in crate::routes) const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
/// The header with the element that the response replaces, as `main#main`.
pub(in crate::routes) const HX_TARGET: HeaderName = HeaderName::from_static("hx-target");
/// The header that makes htmx go to another page.
const HX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

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

/// Returns to the page of a form, with a notice about its result.
pub(super) fn after_change(head: &PageHead, next: &str, result: Result<String, ServiceError>) -> Response {
    let (text, is_error) = match result {
        Ok(text) => (text, false),
        // The conversion logs internal errors and hides their cause.
        Err(error) => (error_text(error), true),
    };
    let mut response = see_other(head, next);
    let notice = Notice {
        text,
        is_error,
        undo: None,
    };
    notice::set(&mut response, &notice);
    response
}

/// Returns the message of an error in the words of the pages.
pub(super) fn error_text(error: ServiceError) -> String {
    match error {
        ServiceError::Invalid { fields, .. } => wording::of_fields(&fields),
        // The conversion logs internal errors and hides their cause.
        error => wording::message(ApiError::from(error).message()),
    }
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

/// Makes htmx load the page of a redirect: a fetch would follow the redirect, and put the page into a part of the present one.
pub(super) fn go_to_page(mut redirect: Response) -> Response {
    if let Some(location) = redirect.headers_mut().remove(header::LOCATION) {
        *redirect.status_mut() = StatusCode::NO_CONTENT;
        redirect.headers_mut().insert(HX_REDIRECT, location);
    }
    redirect
}

/// Returns the message of an error for its place on the page, which names the field already.
pub(in crate::routes::web) fn message_at_field(error: &ServiceError) -> String {
    match error {
        ServiceError::Invalid { fields, .. } => {
            let messages: Vec<String> = fields.values().flatten().cloned().collect();
            wording::at_input(&messages)
        }
        error => wording::at_input(&[error.to_string()]),
    }
}

/// Returns whether the service failed, which no other input would change.
pub(in crate::routes::web) const fn is_failure(error: &ServiceError) -> bool {
    matches!(error, ServiceError::Internal(_) | ServiceError::StorageUnavailable(_))
}
