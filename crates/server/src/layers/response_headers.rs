//! `Cache-Control` and `Strict-Transport-Security` of every response.
//!
//! This is the one place that sets `Cache-Control` by rule. A response that has the header already keeps it: pages, keys and
//! assets set their own.
//!
//! | answer | `Cache-Control` |
//! |---|---|
//! | to a request with credentials, or that writes under the API | `no-store`; a program that keeps an `ETag` itself may still send it |
//! | has an `ETag` | `private, no-cache`: kept by the client alone, and revalidated each time |
//! | any other | none |

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};

use super::limit::Group;
use crate::app::App;
use crate::auth::same_origin::only_reads;

/// One year, as <https://hstspreload.org> has it. Other hosts of the domain are not included.
const STRICT_TRANSPORT_SECURITY: HeaderValue = HeaderValue::from_static("max-age=31536000");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Sets `Cache-Control`, and `Strict-Transport-Security` if the public URL is https.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let has_credentials = has_credentials(request.headers());
    let writes = !only_reads(request.method()) && Group::of(request.uri().path()).is_some();
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if !headers.contains_key(header::CACHE_CONTROL) {
        if has_credentials || writes || headers.contains_key(header::SET_COOKIE) {
            headers.insert(header::CACHE_CONTROL, NO_STORE);
        } else if headers.contains_key(header::ETAG) {
            headers.insert(header::CACHE_CONTROL, REVALIDATE);
        }
    }
    if app.service().identity.public_url().starts_with("https://") {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT_SECURITY);
    }
    response
}

/// Whether a request may have credentials. Any cookie counts as one.
fn has_credentials(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION)
        || headers.contains_key("x-api-key")
        || headers.contains_key(header::COOKIE)
}
