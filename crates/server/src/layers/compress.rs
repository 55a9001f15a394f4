//! Compressed responses: gzip and brotli by `Accept-Encoding`, for larger answers to GET.
//!
//! The length of a compressed response that mixes a secret with text that an attacker chooses reveals the secret (BREACH). So
//! only responses to GET are compressed, except pages, whose forms have tokens, and the outbox, whose messages have links that
//! sign in. New secrets are shown in responses to other methods only. Event streams are not compressed either.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{Extensions, HeaderMap, Method, StatusCode, Version, header};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate, SizeAbove};

/// Smaller answers are not worth it: they fit into one packet.
const MIN_COMPRESSED_BYTES: u64 = 1_024;

/// Content types that are compressed.
const COMPRESSED_TYPES: [&str; 5] = [
    "application/json",
    "application/yaml",
    "text/css",
    "text/javascript",
    "text/plain",
];

/// Marks a response that has no secrets in it.
#[derive(Clone, Copy, Debug)]
struct WithoutSecrets;

type IsCompressible = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// Compresses what [`mark`] has marked.
pub fn layer() -> CompressionLayer<And<SizeAbove, IsCompressible>> {
    let is_compressible: IsCompressible =
        |_, _, headers, extensions| extensions.get::<WithoutSecrets>().is_some() && is_compressed_type(headers);
    CompressionLayer::new().compress_when(SizeAbove::new(MIN_COMPRESSED_BYTES).and(is_compressible))
}

/// Marks the responses that have no secrets in them.
pub async fn mark(request: Request, next: Next) -> Response {
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
    fn the_outbox_has_secrets_under_both_prefixes() {
        assert!(has_secrets("/api/v1/outbox") && has_secrets("/v1/outbox"));
        assert!(!has_secrets("/v1/alerts") && !has_secrets("/openapi.json"));
    }

    #[test]
    fn data_and_scripts_are_compressed_and_pages_and_streams_are_not() {
        let is_compressed = |content_type: &'static str| {
            let value = http::HeaderValue::from_static(content_type);
            is_compressed_type(&HeaderMap::from_iter([(header::CONTENT_TYPE, value)]))
        };
        assert!(is_compressed("application/json") && is_compressed("text/javascript; charset=utf-8"));
        assert!(!is_compressed("text/html; charset=utf-8") && !is_compressed("text/event-stream"));
        assert!(!is_compressed_type(&HeaderMap::new()));
    }
}
