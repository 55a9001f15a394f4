//! The stored form of a response for repeated requests: selected headers, and the body.
//!
//! Each header is a line `name: value` before the body. The body is a JSON object, so it starts with `{`. Responses that older
//! versions stored without headers have the same format.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The stored headers: the session cookie, and the caching rule.
const STORED_HEADERS: [HeaderName; 2] = [header::SET_COOKIE, header::CACHE_CONTROL];

/// A stored response.
#[derive(Debug)]
pub(super) struct StoredResponse {
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl StoredResponse {
    /// Encodes a response for storage.
    pub(super) fn encode(headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(body.len());
        for name in STORED_HEADERS {
            for value in headers.get_all(&name) {
                bytes.extend_from_slice(name.as_str().as_bytes());
                bytes.extend_from_slice(b": ");
                bytes.extend_from_slice(value.as_bytes());
                bytes.push(b'\n');
            }
        }
        bytes.extend_from_slice(body);
        bytes
    }

    /// Decodes a stored response.
    pub(super) fn decode(mut bytes: &[u8]) -> Self {
        let mut headers = HeaderMap::new();
        while let Some((name, value, rest)) = header_line(bytes) {
            headers.append(name, value);
            bytes = rest;
        }
        Self {
            headers,
            body: bytes.to_vec(),
        }
    }
}

/// Returns the header in the first line, and the bytes after that line.
fn header_line(bytes: &[u8]) -> Option<(HeaderName, HeaderValue, &[u8])> {
    if bytes.first() == Some(&b'{') {
        return None;
    }
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (line, rest) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    let colon = line.windows(2).position(|pair| pair == b": ")?;
    let name = HeaderName::from_bytes(line.get(..colon)?).ok()?;
    let value = HeaderValue::from_bytes(line.get(colon + 2..)?).ok()?;
    Some((name, value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_cookies_and_drops_other_headers() {
        let mut headers = HeaderMap::new();
        headers.append(header::SET_COOKIE, HeaderValue::from_static("a=1; Path=/"));
        headers.append(header::SET_COOKIE, HeaderValue::from_static("b=2: 3"));
        headers.append(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.append(header::ETAG, HeaderValue::from_static("x"));
        let body = b"{\"success\":true,\"data\":\"a: b\"}";
        let stored = StoredResponse::decode(&StoredResponse::encode(&headers, body));
        assert_eq!(stored.body, body);
        headers.remove(header::ETAG);
        assert_eq!(stored.headers, headers);
    }

    #[test]
    fn response_stored_without_headers_is_only_a_body() {
        for body in ["{\"success\":true}", "", "{\n}"] {
            let stored = StoredResponse::decode(body.as_bytes());
            assert_eq!(stored.body, body.as_bytes());
            assert!(stored.headers.is_empty());
        }
    }
}
