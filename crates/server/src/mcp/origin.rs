//! Where a request comes from: a page of another site must not speak for the person before the browser, nor a name that
//! was made to point here (DNS rebinding).
//!
//! `Host` has to be the name under which the service is reached, or one that was added in the settings. `Origin`, which
//! browsers send and other programs leave out, has to be the service's own, or one that was added. A service that is
//! reached under a loopback name is reached under all of them; so is one that listens everywhere and was given no name.

use http::{HeaderMap, Uri, header};
use url::{Origin, Url};

/// The names that a machine has for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What a service listens on that has no public name; that is no name itself.
const EVERYWHERE: [&str; 2] = ["0.0.0.0", "[::]"];

/// From where agents may come.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Places {
    /// With their ports, if they are not the scheme's own.
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// Why a request is refused for where it comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stranger {
    /// It was sent to another name.
    Host,
    /// A page of another site sent it.
    Origin,
}

impl Places {
    /// Those of a service that is reached under `public_url`, and those that were added.
    pub(crate) fn new(public_url: &str, hosts: &[String], origins: &[String]) -> Self {
        let mut places = Self {
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            origins: origins.iter().filter_map(|origin| normal(origin)).collect(),
        };
        let Ok(url) = Url::parse(public_url) else {
            return places;
        };
        let own = url.host_str().unwrap_or_default().to_owned();
        let names: Vec<&str> = match LOOPBACK.contains(&own.as_str()) || EVERYWHERE.contains(&own.as_str()) {
            true => LOOPBACK.to_vec(),
            false => vec![&own],
        };
        for name in names {
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            places.hosts.push(format!("{name}{port}"));
            places
                .origins
                .extend(normal(&format!("{}://{name}{port}", url.scheme())));
        }
        places
    }

    /// Whether a request may come from where it comes from.
    ///
    /// # Errors
    /// What is strange about it.
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Stranger> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            // HTTP/2 has it in the target.
            (None, None) => uri.authority().map(|authority| authority.as_str()),
            _ => None,
        };
        let host = host.ok_or(Stranger::Host)?.to_ascii_lowercase();
        let bare = without_usual_port(&host);
        if !self.hosts.iter().any(|known| *known == host || known == bare) {
            return Err(Stranger::Host);
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let is_known = |text: &str| normal(text).is_some_and(|origin| self.origins.contains(&origin));
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if origin.to_str().is_ok_and(is_known) => Ok(()),
            _ => Err(Stranger::Origin),
        }
    }

    /// Whether a page of this origin may read the answers.
    pub(crate) fn knows(&self, origin: &str) -> bool {
        normal(origin).is_some_and(|origin| self.origins.contains(&origin))
    }
}

fn without_usual_port(host: &str) -> &str {
    host.strip_suffix(":443")
        .or_else(|| host.strip_suffix(":80"))
        .unwrap_or(host)
}

/// An origin in its one spelling; `None` for what is none, such as `null`.
fn normal(text: &str) -> Option<String> {
    match Url::parse(text).ok()?.origin() {
        Origin::Opaque(_) => None,
        origin => Some(origin.ascii_serialization()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(public_url: &str, host: &str, origin: Option<&str>) -> Result<(), Stranger> {
        let added = ["https://agents.example.org".to_owned()];
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        Places::new(public_url, &["internal:8080".to_owned()], &added).admit(&Uri::from_static("/mcp"), &headers)
    }

    #[test]
    fn the_host_is_the_name_under_which_the_service_is_reached() {
        const PUBLIC: &str = "https://alerts.example.com";
        for (host, expected) in [
            ("alerts.example.com", Ok(())),
            ("ALERTS.example.com", Ok(())),
            ("alerts.example.com:443", Ok(())),
            ("internal:8080", Ok(())),
            ("alerts.example.com:8443", Err(Stranger::Host)),
            ("alerts.example.com.evil.example", Err(Stranger::Host)),
            ("evil.example", Err(Stranger::Host)),
            ("127.0.0.1:8080", Err(Stranger::Host)),
            ("internal", Err(Stranger::Host)),
        ] {
            assert_eq!(admitted(PUBLIC, host, None), expected, "{host}");
        }
    }

    #[test]
    fn a_service_on_loopback_is_reached_under_all_of_its_names_on_its_port() {
        const PUBLIC: &str = "http://127.0.0.1:8080";
        for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"] {
            assert_eq!(admitted(PUBLIC, host, Some("http://localhost:8080")), Ok(()), "{host}");
        }
        assert_eq!(admitted(PUBLIC, "localhost:9090", None), Err(Stranger::Host));
        assert_eq!(
            admitted(PUBLIC, "localhost:8080", Some("http://localhost:9090")),
            Err(Stranger::Origin)
        );
        assert_eq!(
            admitted(PUBLIC, "localhost.evil.example:8080", None),
            Err(Stranger::Host)
        );
    }

    #[test]
    fn an_origin_is_the_services_own_or_one_that_was_added() {
        const PUBLIC: &str = "https://alerts.example.com";
        for (origin, expected) in [
            ("https://alerts.example.com", Ok(())),
            ("https://agents.example.org", Ok(())),
            ("http://alerts.example.com", Err(Stranger::Origin)),
            ("https://alerts.example.com:8443", Err(Stranger::Origin)),
            ("https://alerts.example.com.evil.example", Err(Stranger::Origin)),
            ("https://evil.example", Err(Stranger::Origin)),
            ("null", Err(Stranger::Origin)),
            ("", Err(Stranger::Origin)),
        ] {
            assert_eq!(
                admitted(PUBLIC, "alerts.example.com", Some(origin)),
                expected,
                "{origin}"
            );
        }
    }
}
