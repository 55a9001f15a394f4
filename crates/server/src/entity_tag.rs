//! Entity tags (RFC 9110, 8.8.3). A GET with the tag of an earlier response gets 304 while the content is unchanged.
//!
//! The tag of a list covers its data and its pagination. It does not cover `meta.rate_limit`, which differs in every
//! response; the headers of a 304 have the current values. Tags are weak, because the same response may be compressed.

use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::GetAll;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

/// The length of the hash in a tag, in bytes. Collisions are negligible at this length.
const TAG_HASH_BYTES: usize = 16;

/// The weak entity tag of a content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EntityTag(HeaderValue);

impl EntityTag {
    /// Returns the tag of a content that consists of `parts`, in this order.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        let hash = hash.finalize();
        let tag = format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(&hash[..TAG_HASH_BYTES]));
        // Base64 is always a valid header value.
        Self(HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("W/\"\"")))
    }

    /// Returns `true` if `If-None-Match` contains the tag or `*`.
    pub(crate) fn matches(&self, if_none_match: &GetAll<'_, HeaderValue>) -> bool {
        let own = opaque(self.0.to_str().unwrap_or_default());
        if_none_match
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .any(|tag| tag == "*" || opaque(tag) == own)
    }

    /// Sets the `ETag` header.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        headers.insert(header::ETAG, self.0.clone());
    }

    /// Returns the response, or 304 without a body if the request's `If-None-Match` matches.
    pub(crate) fn respond(&self, request: &HeaderMap, response: impl FnOnce() -> Response) -> Response {
        if self.matches(&request.get_all(header::IF_NONE_MATCH)) {
            return self.not_modified();
        }
        let mut response = response();
        self.write(response.headers_mut());
        response
    }

    /// Returns 304 with the tag.
    pub(crate) fn not_modified(&self) -> Response {
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        self.write(response.headers_mut());
        response
    }
}

/// Returns a tag without the prefix of weak tags. `If-None-Match` ignores the prefix.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_none_match_accepts_weak_strong_listed_and_wildcard_tags() {
        let tag = EntityTag::of(&[b"[1]", b"page 1"]);
        let text = tag.0.to_str().unwrap().to_owned();
        let strong = opaque(&text).to_owned();
        for (values, is_match) in [
            (vec![text.clone()], true),
            (vec![strong.clone()], true),
            (vec![format!("\"other\", {text}")], true),
            (vec!["\"other\"".to_owned(), strong], true),
            (vec!["*".to_owned()], true),
            (vec!["\"other\"".to_owned()], false),
            (vec![String::new()], false),
            (vec![], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in &values {
                headers.append(header::IF_NONE_MATCH, value.parse().unwrap());
            }
            assert_eq!(
                tag.matches(&headers.get_all(header::IF_NONE_MATCH)),
                is_match,
                "{values:?}"
            );
        }
    }

    #[test]
    fn different_contents_and_different_part_boundaries_have_different_tags() {
        let tag = EntityTag::of(&[b"ab", b"c"]);
        assert_eq!(tag, EntityTag::of(&[b"ab", b"c"]));
        assert_ne!(tag, EntityTag::of(&[b"a", b"bc"]));
        assert_ne!(tag, EntityTag::of(&[b"ab", b"d"]));
    }
}
