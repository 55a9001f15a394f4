//! Checks for request heads that different servers read differently.
//!
//! A proxy and this program must agree on where a request ends and which host it is for. An ambiguous head is refused with 400
//! (RFC 9112, sections 3.2 and 6.3), and the connection is closed afterwards.
//!
//! hyper decides these cases itself and does not report them:
//!
//! * Several equal `Content-Length` headers become one. Different ones, and a list such as `2, 2`, are 400.
//! * `Content-Length` beside `Transfer-Encoding: chunked` is removed; the body is read as chunks, and the connection is closed
//!   afterwards.
//! * A `Transfer-Encoding` whose last coding is not `chunked`, or in HTTP/1.0, is 400.

use http::{HeaderMap, Version, header};

/// The reason why a request head is refused. The text says how to fix it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum AmbiguousHead {
    #[error("the request has no Host header; send exactly one")]
    NoHost,
    #[error("the request has more than one Host header; send exactly one")]
    SeveralHosts,
    #[error("the request has more than one Content-Length header; send exactly one")]
    SeveralLengths,
    #[error(
        "the request has a Transfer-Encoding other than chunked; send Content-Length, or Transfer-Encoding: chunked"
    )]
    TransferEncoding,
}

/// Refuses ambiguous heads that hyper accepts.
pub(super) fn check(version: Version, headers: &HeaderMap) -> Result<(), AmbiguousHead> {
    match headers.get_all(header::HOST).iter().count() {
        // HTTP/1.0 does not require Host, and HTTP/2 has `:authority`.
        0 if version == Version::HTTP_11 => return Err(AmbiguousHead::NoHost),
        0 | 1 => {}
        _ => return Err(AmbiguousHead::SeveralHosts),
    }
    if headers.get_all(header::CONTENT_LENGTH).iter().count() > 1 {
        return Err(AmbiguousHead::SeveralLengths);
    }
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(only), None) if only.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(AmbiguousHead::TransferEncoding),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn check_headers(version: Version, headers: &[(&'static str, &'static str)]) -> Result<(), AmbiguousHead> {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        check(version, &map)
    }

    const HOST: (&str, &str) = ("host", "alerts.example");

    #[test]
    fn http_1_1_requires_exactly_one_host() {
        assert_eq!(check_headers(Version::HTTP_11, &[HOST]), Ok(()));
        assert_eq!(check_headers(Version::HTTP_11, &[]), Err(AmbiguousHead::NoHost));
        assert_eq!(check_headers(Version::HTTP_10, &[]), Ok(()));
        assert_eq!(check_headers(Version::HTTP_2, &[]), Ok(()));
        for version in [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2] {
            assert_eq!(check_headers(version, &[HOST, HOST]), Err(AmbiguousHead::SeveralHosts));
        }
    }

    #[test]
    fn accepts_no_transfer_encoding_except_chunked() {
        for (codings, expected) in [
            (&["chunked"][..], Ok(())),
            (&["Chunked "], Ok(())),
            (&["identity, chunked"], Err(AmbiguousHead::TransferEncoding)),
            (&["identity", "chunked"], Err(AmbiguousHead::TransferEncoding)),
            (&["gzip, chunked"], Err(AmbiguousHead::TransferEncoding)),
            (&["chunked, chunked"], Err(AmbiguousHead::TransferEncoding)),
            (&["chunked,"], Err(AmbiguousHead::TransferEncoding)),
        ] {
            let headers = codings.iter().map(|coding| ("transfer-encoding", *coding));
            let headers: Vec<_> = std::iter::once(HOST).chain(headers).collect();
            assert_eq!(check_headers(Version::HTTP_11, &headers), expected, "{codings:?}");
        }
    }

    #[test]
    fn accepts_at_most_one_content_length() {
        let length = ("content-length", "2");
        assert_eq!(check_headers(Version::HTTP_2, &[length]), Ok(()));
        assert_eq!(
            check_headers(Version::HTTP_2, &[length, length]),
            Err(AmbiguousHead::SeveralLengths)
        );
    }
}
