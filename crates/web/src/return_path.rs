//! The address within this service to which a sign-in returns.

use url::Url;

/// Maximum length of an address, in bytes.
const MAX_BYTES: usize = 16_384;

/// The origin against which addresses are resolved. Its host never exists (RFC 6761).
const PLACEHOLDER_ORIGIN: &str = "http://service.invalid";

/// A path with an optional query on this service's own origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReturnPath(String);

impl ReturnPath {
    /// Reads an address. Returns `None` if it is too long, or if a browser would take it as an address of another origin.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES || !text.starts_with('/') {
            return None;
        }
        let own = Url::parse(PLACEHOLDER_ORIGIN).ok()?;
        let url = own.join(text).ok()?;
        let is_own = url.origin() == own.origin() && url.username().is_empty() && url.password().is_none();
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        // Resolving `/.//host` leaves a path that a browser takes as the address of another host.
        (is_own && !path.starts_with("//")).then(|| Self(path.to_owned()))
    }

    /// Returns the path and the query.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the address of the sign-in page that leads back here.
    #[must_use]
    pub fn sign_in(&self, base: &str) -> String {
        let next: String = url::form_urlencoded::byte_serialize(self.0.as_bytes()).collect();
        format!("{base}/sign-in?next={next}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_paths_are_kept_with_their_query() {
        for own in [
            "/",
            "/alerts?status=active&search=a%20b",
            "/alerts/new?text=AAPL%20%3C%20180",
        ] {
            assert_eq!(ReturnPath::parse(own).map(|path| path.0), Some(own.to_owned()));
        }
    }

    #[test]
    fn addresses_of_other_origins_are_refused() {
        for other in [
            "",
            "alerts",
            "https://evil.example",
            "//evil.example",
            r"/\evil.example",
            r"\\evil.example",
            "/\t/evil.example",
            "/\n//evil.example",
            "javascript:alert(1)",
            "/.//evil.example",
            "/a/..//evil.example",
            "//service.invalid//evil.example",
            "/%2e//evil.example",
        ] {
            assert_eq!(ReturnPath::parse(other), None, "{other:?}");
        }
    }

    #[test]
    fn long_addresses_are_refused() {
        assert!(ReturnPath::parse(&format!("/{}", "a".repeat(MAX_BYTES - 1))).is_some());
        assert!(ReturnPath::parse(&format!("/{}", "a".repeat(MAX_BYTES))).is_none());
    }

    #[test]
    fn sign_in_address_leads_back() {
        let path = ReturnPath::parse("/alerts?status=active").unwrap();
        assert_eq!(path.sign_in(""), "/sign-in?next=%2Falerts%3Fstatus%3Dactive");
    }
}
