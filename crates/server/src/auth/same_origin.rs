//! Whether a browser says that a request comes from our own pages (decisions 6.2).
//!
//! Browsers send cookies by themselves, also with what other sites make them send. So a write that shows nothing but a
//! cookie has to say that it comes from here: with `Sec-Fetch-Site`, which no page can set, or with an `Origin` that is
//! ours. One that says neither does not come from a page of ours.

use http::{HeaderMap, HeaderName, Method, header};

/// Where a request comes from, as browsers say and no page can.
pub const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a method only reads.
#[must_use]
pub fn only_reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether the headers say that the request comes from a page of the service at `public_url`.
#[must_use]
pub fn is_same_origin(headers: &HeaderMap, public_url: &str) -> bool {
    match single(headers, &SEC_FETCH_SITE) {
        Found::One("same-origin") => true,
        // Without a page, or from a browser that does not say: its origin does.
        Found::One("none") | Found::Nothing => has_our_origin(headers, public_url),
        Found::One(_) | Found::Several => false,
    }
}

fn has_our_origin(headers: &HeaderMap, public_url: &str) -> bool {
    let Found::One(origin) = single(headers, &header::ORIGIN) else {
        return false;
    };
    let Some((scheme, rest)) = public_url.split_once("://") else {
        return false;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let Some((origin_scheme, origin_authority)) = origin.split_once("://") else {
        return false;
    };
    if origin_scheme != scheme {
        return false;
    }
    // The page may have been opened by another name of this host than the public one; the cookie was then set there.
    let is_asked_host = matches!(single(headers, &header::HOST), Found::One(host) if host == origin_authority);
    origin_authority == authority || is_asked_host
}

enum Found<'a> {
    Nothing,
    One(&'a str),
    Several,
}

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Found<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Found::Nothing,
        (Some(value), None) => value.to_str().map_or(Found::Several, Found::One),
        (Some(_), Some(_)) => Found::Several,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "https://alerts.example.com";

    fn is_ours(pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        is_same_origin(&headers, OURS)
    }

    #[test]
    fn a_write_comes_from_here_only_if_the_browser_says_so() {
        for (pairs, expected) in [
            (&[][..], false),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "none"), ("origin", OURS)], true),
            (&[("sec-fetch-site", "cross-site"), ("origin", OURS)], false),
            (
                &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
                false,
            ),
            (&[("origin", OURS)], true),
            (&[("origin", "https://alerts.example.com:8443")], false),
            (&[("origin", "http://alerts.example.com")], false),
            (&[("origin", "https://evil.example.com")], false),
            (&[("origin", "https://alerts.example.com.evil.com")], false),
            (&[("origin", "null")], false),
            (&[("origin", OURS), ("origin", "https://evil.example.com")], false),
            (&[("origin", "https://inside:8080"), ("host", "inside:8080")], true),
            (&[("origin", "http://inside:8080"), ("host", "inside:8080")], false),
            (
                &[("origin", "https://evil.example.com"), ("host", "alerts.example.com")],
                false,
            ),
            (&[("referer", "https://alerts.example.com/settings")], false),
        ] {
            assert_eq!(is_ours(pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn what_only_reads_is_told_from_what_writes() {
        for (method, expected) in [
            (Method::GET, true),
            (Method::HEAD, true),
            (Method::OPTIONS, true),
            (Method::POST, false),
            (Method::PUT, false),
            (Method::PATCH, false),
            (Method::DELETE, false),
            (Method::TRACE, false),
        ] {
            assert_eq!(only_reads(&method), expected, "{method}");
        }
    }
}
