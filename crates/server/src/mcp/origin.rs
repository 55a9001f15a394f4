//! Checks of `Host` and `Origin`, which prevent cross-site requests and DNS rebinding.
//!
//! `Host` must be the host of the service's public URL, or a configured one. `Origin`, which only browsers send, must be the
//! service's own origin, or a configured one. If the public URL has a loopback host, all loopback hosts are allowed; the same
//! applies to a service that listens on all addresses without a public name.

use http::{HeaderMap, Uri, header};
use url::{Origin, Url};

/// The loopback hosts.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Unspecified addresses, which a service without a public name may listen on. They are not valid hosts.
const UNSPECIFIED_HOSTS: [&str; 2] = ["0.0.0.0", "[::]"];

/// The allowed hosts and origins of requests.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct AllowedOrigins {
    /// Hosts with their port, if it is not the scheme's default.
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// The reason why a request's host or origin is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OriginError {
    /// `Host` is not allowed.
    Host,
    /// `Origin` is not allowed.
    Origin,
}

impl AllowedOrigins {
    /// Creates the list for a service with this public URL, with additional hosts and origins.
    pub(crate) fn new(public_url: &str, hosts: &[String], origins: &[String]) -> Self {
        let mut allowed = Self {
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            origins: origins.iter().filter_map(|origin| normalized(origin)).collect(),
        };
        let Ok(url) = Url::parse(public_url) else {
            return allowed;
        };
        let public_host = url.host_str().unwrap_or_default().to_owned();
        let names: Vec<&str> =
            match LOOPBACK_HOSTS.contains(&public_host.as_str()) || UNSPECIFIED_HOSTS.contains(&public_host.as_str()) {
                true => LOOPBACK_HOSTS.to_vec(),
                false => vec![&public_host],
            };
        for name in names {
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            allowed.hosts.push(format!("{name}{port}"));
            allowed
                .origins
                .extend(normalized(&format!("{}://{name}{port}", url.scheme())));
        }
        allowed
    }

    /// Checks the host and origin of a request.
    ///
    /// # Errors
    /// [`OriginError`] if one of them is not allowed.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), OriginError> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            // HTTP/2 has the host in the request target.
            (None, None) => uri.authority().map(|authority| authority.as_str()),
            _ => None,
        };
        let host = host.ok_or(OriginError::Host)?.to_ascii_lowercase();
        let bare = without_default_port(&host);
        if !self.hosts.iter().any(|known| *known == host || known == bare) {
            return Err(OriginError::Host);
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let is_known = |text: &str| normalized(text).is_some_and(|origin| self.origins.contains(&origin));
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if origin.to_str().is_ok_and(is_known) => Ok(()),
            _ => Err(OriginError::Origin),
        }
    }

    /// Returns `true` if a page of this origin may read responses.
    pub(crate) fn allows_origin(&self, origin: &str) -> bool {
        normalized(origin).is_some_and(|origin| self.origins.contains(&origin))
    }
}

fn without_default_port(host: &str) -> &str {
    host.strip_suffix(":443")
        .or_else(|| host.strip_suffix(":80"))
        .unwrap_or(host)
}

/// Returns an origin in its canonical form, or `None` for an invalid or opaque origin such as `null`.
fn normalized(text: &str) -> Option<String> {
    match Url::parse(text).ok()?.origin() {
        Origin::Opaque(_) => None,
        origin => Some(origin.ascii_serialization()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_request(public_url: &str, host: &str, origin: Option<&str>) -> Result<(), OriginError> {
        let added = ["https://agents.example.org".to_owned()];
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        AllowedOrigins::new(public_url, &["internal:8080".to_owned()], &added)
            .check(&Uri::from_static("/mcp"), &headers)
    }

    #[test]
    fn allows_the_public_host_and_configured_hosts() {
        const PUBLIC: &str = "https://alerts.example.com";
        for (host, expected) in [
            ("alerts.example.com", Ok(())),
            ("ALERTS.example.com", Ok(())),
            ("alerts.example.com:443", Ok(())),
            ("internal:8080", Ok(())),
            ("alerts.example.com:8443", Err(OriginError::Host)),
            ("alerts.example.com.evil.example", Err(OriginError::Host)),
            ("evil.example", Err(OriginError::Host)),
            ("127.0.0.1:8080", Err(OriginError::Host)),
            ("internal", Err(OriginError::Host)),
        ] {
            assert_eq!(check_request(PUBLIC, host, None), expected, "{host}");
        }
    }

    #[test]
    fn loopback_service_allows_all_loopback_hosts_on_its_port() {
        const PUBLIC: &str = "http://127.0.0.1:8080";
        for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"] {
            assert_eq!(
                check_request(PUBLIC, host, Some("http://localhost:8080")),
                Ok(()),
                "{host}"
            );
        }
        assert_eq!(check_request(PUBLIC, "localhost:9090", None), Err(OriginError::Host));
        assert_eq!(
            check_request(PUBLIC, "localhost:8080", Some("http://localhost:9090")),
            Err(OriginError::Origin)
        );
        assert_eq!(
            check_request(PUBLIC, "localhost.evil.example:8080", None),
            Err(OriginError::Host)
        );
    }

    #[test]
    fn allows_the_own_origin_and_configured_origins() {
        const PUBLIC: &str = "https://alerts.example.com";
        for (origin, expected) in [
            ("https://alerts.example.com", Ok(())),
            ("https://agents.example.org", Ok(())),
            ("http://alerts.example.com", Err(OriginError::Origin)),
            ("https://alerts.example.com:8443", Err(OriginError::Origin)),
            ("https://alerts.example.com.evil.example", Err(OriginError::Origin)),
            ("https://evil.example", Err(OriginError::Origin)),
            ("null", Err(OriginError::Origin)),
            ("", Err(OriginError::Origin)),
        ] {
            assert_eq!(
                check_request(PUBLIC, "alerts.example.com", Some(origin)),
                expected,
                "{origin}"
            );
        }
    }
}
