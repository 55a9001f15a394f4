//! Whether a browser says that a request comes from our own pages (decisions 6.2).
//!
//! Browsers send cookies by themselves, also with what other sites make them send. So a write that shows nothing but a
//! cookie has to say that it comes from here: with `Sec-Fetch-Site`, which no page can set, or with an `Origin` that is
//! ours. One that says neither does not come from a page of ours.
//!
//! Ours are the public URL's origin and the allowed hosts ([`OwnOrigins`]). The request's `Host` decides nothing: a name
//! that somebody else points at this service is in both headers (DNS rebinding).

use http::{HeaderMap, HeaderName, Method, header};
use url::{Origin, Url};

use crate::mcp::origin::Places;
use crate::settings::Settings;

/// The origins of this service's own pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnOrigins(Places);

impl OwnOrigins {
    /// The origin of the public URL, under all of its names if it is a loopback one, and those of the allowed hosts.
    #[must_use]
    pub fn new(public_url: &str, settings: &Settings) -> Self {
        let scheme = public_url.split_once("://").map_or("http", |(scheme, _)| scheme);
        let hosts = settings.mcp.allowed_hosts.iter();
        let allowed: Vec<String> = hosts.map(|host| format!("{scheme}://{host}")).collect();
        Self(Places::new(public_url, &[], &allowed))
    }

    fn knows(&self, origin: &str) -> bool {
        self.0.knows(origin)
    }
}

/// Where a request comes from, as browsers say and no page can.
pub const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a method only reads.
#[must_use]
pub fn only_reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether the headers say that the request comes from one of the service's own pages.
#[must_use]
pub fn is_same_origin(headers: &HeaderMap, own: &OwnOrigins) -> bool {
    let origin = match single(headers, &header::ORIGIN) {
        Found::One(origin) => Some(origin),
        Found::Nothing => None,
        Found::Several => return false,
    };
    match single(headers, &SEC_FETCH_SITE) {
        // A form of a page that tells nobody where it was sends `null`.
        Found::One("same-origin") => origin.is_none_or(|origin| is_opaque(origin) || own.knows(origin)),
        // Without a page, or from a browser that does not say: its origin does.
        Found::One("none") | Found::Nothing => origin.is_some_and(|origin| own.knows(origin)),
        Found::One(_) | Found::Several => false,
    }
}

fn is_opaque(origin: &str) -> bool {
    origin == "null" || Url::parse(origin).is_ok_and(|url| matches!(url.origin(), Origin::Opaque(_)))
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

    fn is_ours_at(public_url: &str, pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        let mut settings = Settings::default();
        settings.mcp.allowed_hosts = vec!["inside:8080".to_owned()];
        settings.mcp.allowed_origins = vec!["https://agents.example.org".to_owned()];
        is_same_origin(&headers, &OwnOrigins::new(public_url, &settings))
    }

    fn is_ours(pairs: &[(&'static str, &str)]) -> bool {
        is_ours_at(OURS, pairs)
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
    fn a_foreign_host_does_not_make_a_foreign_origin_ours() {
        const EVIL: (&str, &str) = ("origin", "https://evil.example.com");
        const HOST: (&str, &str) = ("host", "evil.example.com");
        assert!(!is_ours(&[EVIL, HOST]));
        assert!(!is_ours(&[EVIL, HOST, ("sec-fetch-site", "same-origin")]));
        assert!(!is_ours(&[EVIL, HOST, ("sec-fetch-site", "none")]));
    }

    #[test]
    fn a_service_on_loopback_has_pages_under_all_of_its_names_on_its_port() {
        const LOOPBACK: &str = "http://127.0.0.1:8080";
        assert!(is_ours_at(LOOPBACK, &[("origin", "http://localhost:8080")]));
        assert!(is_ours_at(LOOPBACK, &[("origin", "http://[::1]:8080")]));
        assert!(is_ours_at(LOOPBACK, &[("origin", "http://inside:8080")]));
        assert!(!is_ours_at(LOOPBACK, &[("origin", "http://localhost:9090")]));
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
