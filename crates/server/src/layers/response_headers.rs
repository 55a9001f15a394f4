//! `Cache-Control` and `Strict-Transport-Security` headers of every response.
//!
//! Only this layer sets `Cache-Control` by rule. Handlers that set the header themselves keep it: pages, keys and assets.
//!
//! | response | `Cache-Control` |
//! |---|---|
//! | to a request with credentials, or to a write under the API | `no-store`; a client that remembers an `ETag` may still send it |
//! | with an `ETag` | `private, no-cache`: stored only by the client, and revalidated each time |
//! | any other | none |

use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, header};

use super::chain::Next;
use crate::auth::same_origin::is_read_only;
use crate::rate_limiter::RateLimitGroup;
use crate::state::App;

/// One year, as <https://hstspreload.org> recommends. Subdomains are not included.
const STRICT_TRANSPORT_SECURITY: HeaderValue = HeaderValue::from_static("max-age=31536000");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Sets `Cache-Control`, and `Strict-Transport-Security` if the public URL is https.
pub(crate) async fn layer(app: App, request: Request, next: Next) -> Response {
    let has_credentials = has_credentials(request.headers());
    let writes = !is_read_only(request.method()) && RateLimitGroup::of(request.uri().path()).is_some();
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

/// Returns `true` if a request may have credentials. Any cookie counts.
fn has_credentials(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION)
        || headers.contains_key("x-api-key")
        || headers.contains_key(header::COOKIE)
}
