//! Same-origin check for requests with a session cookie (decisions 6.2).
//!
//! Browsers send cookies automatically, also with requests that other sites trigger. A write authenticated only by a cookie
//! must therefore prove its origin: with `Sec-Fetch-Site`, which no page can set, or with one of the service's own origins in
//! `Origin`. A request with neither is not same-origin.
//!
//! The own origins are the public URL's origin and the allowed hosts ([`OwnOrigins`]). The request's `Host` is not used:
//! with DNS rebinding an attacker's host name appears in both `Host` and `Origin`.

use http::{HeaderMap, HeaderName, Method, header};
use url::{Origin, Url};

use crate::mcp::origin::AllowedOrigins;
use crate::settings::HttpConfig;

/// The origins of the service's own pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnOrigins(AllowedOrigins);

impl OwnOrigins {
    /// Returns the origins of the public URL (all loopback names if it is a loopback address) and of the allowed hosts.
    #[must_use]
    pub fn new(public_url: &str, settings: &HttpConfig) -> Self {
        let scheme = public_url.split_once("://").map_or("http", |(scheme, _)| scheme);
        let hosts = settings.mcp.allowed_hosts.iter();
        let allowed: Vec<String> = hosts.map(|host| format!("{scheme}://{host}")).collect();
        Self(AllowedOrigins::new(public_url, &[], &allowed))
    }

    pub(crate) fn contains(&self, origin: &str) -> bool {
        self.0.allows_origin(origin)
    }
}

/// Fetch metadata header. Browsers set it; pages cannot.
pub const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Returns whether a method is safe (RFC 9110, 9.2.1): GET, HEAD or OPTIONS.
#[must_use]
pub fn is_read_only(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Returns whether the headers prove that the request comes from one of the service's own pages.
#[must_use]
pub fn is_same_origin(headers: &HeaderMap, own: &OwnOrigins) -> bool {
    let origin = match single(headers, &header::ORIGIN) {
        SingleHeader::Value(origin) => Some(origin),
        SingleHeader::Missing => None,
        SingleHeader::Ambiguous => return false,
    };
    match single(headers, &SEC_FETCH_SITE) {
        // A form on a page with `Referrer-Policy: no-referrer` sends `Origin: null`.
        SingleHeader::Value("same-origin") => origin.is_none_or(|origin| is_opaque(origin) || own.contains(origin)),
        // User-initiated requests (`none`) and browsers without fetch metadata: `Origin` decides.
        SingleHeader::Value("none") | SingleHeader::Missing => origin.is_some_and(|origin| own.contains(origin)),
        SingleHeader::Value(_) | SingleHeader::Ambiguous => false,
    }
}

fn is_opaque(origin: &str) -> bool {
    origin == "null" || Url::parse(origin).is_ok_and(|url| matches!(url.origin(), Origin::Opaque(_)))
}

enum SingleHeader<'a> {
    Missing,
    Value(&'a str),
    Ambiguous,
}

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> SingleHeader<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => SingleHeader::Missing,
        (Some(value), None) => value.to_str().map_or(SingleHeader::Ambiguous, SingleHeader::Value),
        (Some(_), Some(_)) => SingleHeader::Ambiguous,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "https://alerts.example.com";

    fn is_ours_at(public_url: &str, pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        let mut settings = HttpConfig::default();
        settings.mcp.allowed_hosts = vec!["inside:8080".to_owned()];
        settings.mcp.allowed_origins = vec!["https://agents.example.org".to_owned()];
        is_same_origin(&headers, &OwnOrigins::new(public_url, &settings))
    }

    fn is_ours(pairs: &[(&'static str, &str)]) -> bool {
        is_ours_at(OURS, pairs)
    }

    #[test]
    fn write_is_same_origin_only_with_proof_in_headers() {
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
            (&[("origin", "https://inside:8080")], true),
            (&[("origin", "https://agents.example.org")], false),
            (&[("sec-fetch-site", "same-origin"), ("origin", OURS)], true),
            (&[("sec-fetch-site", "same-origin"), ("origin", "null")], true),
            (&[("sec-fetch-site", "none"), ("origin", "null")], false),
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
    fn foreign_host_header_does_not_make_a_foreign_origin_own() {
        const EVIL: (&str, &str) = ("origin", "https://evil.example.com");
        const HOST: (&str, &str) = ("host", "evil.example.com");
        assert!(!is_ours(&[EVIL, HOST]));
        assert!(!is_ours(&[EVIL, HOST, ("sec-fetch-site", "same-origin")]));
        assert!(!is_ours(&[EVIL, HOST, ("sec-fetch-site", "none")]));
    }

    #[test]
    fn loopback_service_accepts_all_loopback_names_on_its_port() {
        const LOOPBACK: &str = "http://127.0.0.1:8080";
        assert!(is_ours_at(LOOPBACK, &[("origin", "http://localhost:8080")]));
        assert!(is_ours_at(LOOPBACK, &[("origin", "http://[::1]:8080")]));
        assert!(is_ours_at(LOOPBACK, &[("origin", "http://inside:8080")]));
        assert!(!is_ours_at(LOOPBACK, &[("origin", "http://localhost:9090")]));
    }

    #[test]
    fn read_only_methods_are_get_head_and_options() {
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
            assert_eq!(is_read_only(&method), expected, "{method}");
        }
    }
}
