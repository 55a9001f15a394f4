//! An answer as it is kept for repeats: the headers that belong to it, and its body.
//!
//! A header is a line `name: value` before the body. A body is a JSON object, so a line that begins with `{` is the body; answers
//! that were kept without headers are read alike.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The headers without which an answer is not the same: the session that it began, and whether it may be stored.
const KEPT: [HeaderName; 2] = [header::SET_COOKIE, header::CACHE_CONTROL];

/// An answer that was kept.
#[derive(Debug)]
pub(super) struct KeptAnswer {
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl KeptAnswer {
    /// Writes an answer as it is kept.
    pub(super) fn encode(headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(body.len());
        for name in KEPT {
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

    /// Reads an answer that was kept.
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

/// The header in the first line, and what follows that line.
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
    fn an_answer_comes_back_with_its_cookies_and_without_other_headers() {
        let mut headers = HeaderMap::new();
        headers.append(header::SET_COOKIE, HeaderValue::from_static("a=1; Path=/"));
        headers.append(header::SET_COOKIE, HeaderValue::from_static("b=2: 3"));
        headers.append(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.append(header::ETAG, HeaderValue::from_static("x"));
        let body = b"{\"success\":true,\"data\":\"a: b\"}";
        let kept = KeptAnswer::decode(&KeptAnswer::encode(&headers, body));
        assert_eq!(kept.body, body);
        headers.remove(header::ETAG);
        assert_eq!(kept.headers, headers);
    }

    #[test]
    fn an_answer_that_was_kept_without_headers_is_its_body() {
        for body in ["{\"success\":true}", "", "{\n}"] {
            let kept = KeptAnswer::decode(body.as_bytes());
            assert_eq!(kept.body, body.as_bytes());
            assert!(kept.headers.is_empty());
        }
    }
}
