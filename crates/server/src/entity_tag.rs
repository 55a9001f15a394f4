//! Entity tags (RFC 9110, 8.8.3): a GET that names the tag of an earlier response gets 304 while the content is the same.
//!
//! A list's tag is made of its data and its pagination. `meta.rate_limit` is different in every answer and does not count; the
//! headers of a 304 say what is left. Tags are weak, because the same answer is sent compressed and as it is.

use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::GetAll;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

/// The bytes of the hash in a tag: enough to tell two contents apart.
const TAG_BYTES: usize = 16;

/// The weak entity tag of a content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EntityTag(HeaderValue);

impl EntityTag {
    /// Returns the tag of the parts of a content, in their order.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        let hash = hash.finalize();
        let tag = format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(&hash[..TAG_BYTES]));
        // Base64 is always a header's value.
        Self(HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("W/\"\"")))
    }

    /// Whether `If-None-Match` names the tag, or any.
    pub(crate) fn is_named_in(&self, if_none_match: &GetAll<'_, HeaderValue>) -> bool {
        let own = opaque(self.0.to_str().unwrap_or_default());
        if_none_match
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .any(|tag| tag == "*" || opaque(tag) == own)
    }

    /// Writes the tag into a response.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        headers.insert(header::ETAG, self.0.clone());
    }

    /// Returns the response, or 304 without a body if the request names the tag.
    pub(crate) fn answer(&self, request: &HeaderMap, response: impl FnOnce() -> Response) -> Response {
        let mut response = if self.is_named_in(&request.get_all(header::IF_NONE_MATCH)) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            response()
        };
        self.write(response.headers_mut());
        response
    }
}

/// A tag without the mark of a weak one, which does not count in `If-None-Match`.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_weak_or_strong_among_others_and_by_a_star() {
        let tag = EntityTag::of(&[b"[1]", b"page 1"]);
        let text = tag.0.to_str().unwrap().to_owned();
        let strong = opaque(&text).to_owned();
        for (values, is_named) in [
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
                tag.is_named_in(&headers.get_all(header::IF_NONE_MATCH)),
                is_named,
                "{values:?}"
            );
        }
    }

    #[test]
    fn other_contents_have_other_tags_also_if_their_parts_are_cut_elsewhere() {
        let tag = EntityTag::of(&[b"ab", b"c"]);
        assert_eq!(tag, EntityTag::of(&[b"ab", b"c"]));
        assert_ne!(tag, EntityTag::of(&[b"a", b"bc"]));
        assert_ne!(tag, EntityTag::of(&[b"ab", b"d"]));
    }
}
