//! Compressed responses: gzip and brotli by `Accept-Encoding`, for larger responses to GET.
//!
//! If a compressed response contains both a secret and text chosen by an attacker, its length reveals the secret (BREACH).
//! So only responses to GET are compressed. Excluded are pages, whose forms contain tokens, and the outbox, whose messages
//! contain sign-in links. New secrets occur only in responses to other methods. Event streams are not compressed either.

use axum::extract::Request;
use axum::response::Response;
use http::{Extensions, HeaderMap, Method, StatusCode, Version, header};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate, SizeAbove};

use super::chain::Next;
use crate::state::App;

/// The minimum size of a compressed response, in bytes. Smaller responses fit into one packet.
const MIN_COMPRESSED_BYTES: u64 = 1_024;

/// Content types that are compressed.
const COMPRESSED_TYPES: [&str; 5] = [
    "application/json",
    "application/yaml",
    "text/css",
    "text/javascript",
    "text/plain",
];

/// Marks a response without secrets.
#[derive(Clone, Copy, Debug)]
struct WithoutSecrets;

type IsCompressible = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// Compresses responses that [`mark`] has marked.
pub(crate) fn layer() -> CompressionLayer<And<SizeAbove, IsCompressible>> {
    let is_compressible: IsCompressible =
        |_, _, headers, extensions| extensions.get::<WithoutSecrets>().is_some() && is_compressed_type(headers);
    CompressionLayer::new().compress_when(SizeAbove::new(MIN_COMPRESSED_BYTES).and(is_compressible))
}

/// Marks responses without secrets.
pub(crate) async fn mark(_app: App, request: Request, next: Next) -> Response {
    let has_no_secrets = request.method() == Method::GET && !has_secrets(request.uri().path());
    let mut response = next.run(request).await;
    if has_no_secrets {
        response.extensions_mut().insert(WithoutSecrets);
    }
    response
}

fn has_secrets(path: &str) -> bool {
    let path = path.strip_prefix("/api").unwrap_or(path);
    path == "/v1/outbox"
}

fn is_compressed_type(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| COMPRESSED_TYPES.contains(&essence.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outbox_contains_secrets_under_both_prefixes() {
        assert!(has_secrets("/api/v1/outbox") && has_secrets("/v1/outbox"));
        assert!(!has_secrets("/v1/alerts") && !has_secrets("/openapi.json"));
    }

    #[test]
    fn data_and_scripts_are_compressed_but_pages_and_streams_are_not() {
        let is_compressed = |content_type: &'static str| {
            let value = http::HeaderValue::from_static(content_type);
            is_compressed_type(&HeaderMap::from_iter([(header::CONTENT_TYPE, value)]))
        };
        assert!(is_compressed("application/json") && is_compressed("text/javascript; charset=utf-8"));
        assert!(!is_compressed("text/html; charset=utf-8") && !is_compressed("text/event-stream"));
        assert!(!is_compressed_type(&HeaderMap::new()));
    }
}
