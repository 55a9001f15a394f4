//! Network settings: IP ranges, hosts and URLs.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use http::Uri;
use http::uri::Authority;
use toml::Value;

use super::value::Setting;

/// A range of IP addresses in CIDR notation, for example `10.0.0.0/8`, or a single address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpRange {
    /// Any address in the range.
    pub address: IpAddr,
    /// The number of leading bits that all addresses in the range share.
    pub prefix_bits: u8,
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_bits)
    }
}

impl Setting for IpRange {
    fn allowed() -> String {
        "an address or a range of addresses, like 127.0.0.1 or 10.0.0.0/8".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let max_prefix_bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match bits {
            Some(bits) => bits.parse().ok().filter(|&bits| bits <= max_prefix_bits)?,
            None => max_prefix_bits,
        };
        Some(Self { address, prefix_bits })
    }

    fn to_toml(&self) -> Value {
        self.to_string().into()
    }
}

/// The public base URL of the service, for example `https://alerts.example.com`, without a trailing slash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// Returns the URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Setting for PublicUrl {
    fn allowed() -> String {
        "a URL like https://alerts.example.com, without a path".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
        let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
        (is_http && is_bare).then(|| Self(format!("{}://{authority}", uri.scheme_str().unwrap_or_default())))
    }

    fn to_toml(&self) -> Value {
        self.0.clone().into()
    }
}

/// A host name of the service, for example `alerts.internal`, with a port unless it is the scheme's default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostName(String);

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Setting for HostName {
    fn allowed() -> String {
        "a host name, with its port unless that is the default, like alerts.internal or 10.0.0.7:8080".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        let is_bare = !text.contains(['@', '*']) && !authority.host().is_empty();
        is_bare.then(|| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        self.0.clone().into()
    }
}

/// The base URL of an API, for example `https://api.openai.com/v1`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Returns whether this is OpenAI's own API, which requires a key.
    #[must_use]
    pub fn is_openai(&self) -> bool {
        let uri: Option<Uri> = self.0.parse().ok();
        uri.is_some_and(|uri| {
            uri.host()
                .is_some_and(|host| host.eq_ignore_ascii_case("api.openai.com"))
        })
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Setting for BaseUrl {
    fn allowed() -> String {
        "a URL like https://api.openai.com/v1 or http://localhost:11434/v1, without query or user info".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        watchlist::analyst::check_base_url(text)
            .ok()
            .map(|()| Self(text.to_owned()))
    }

    fn to_toml(&self) -> Value {
        self.0.clone().into()
    }
}

impl Setting for SocketAddr {
    fn allowed() -> String {
        "an address and a port, like 127.0.0.1:8080 or [::]:8080 (port 0: any free port)".to_owned()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn to_toml(&self) -> Value {
        self.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ip_range_has_optional_prefix_bits() {
        let shown = |text: &str| IpRange::from_text(text).map(|network| network.to_string());
        assert_eq!(shown("127.0.0.1").as_deref(), Some("127.0.0.1/32"));
        assert_eq!(shown("10.0.0.0/8").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(shown("fd00::/8").as_deref(), Some("fd00::/8"));
        for wrong in ["10.0.0.0/33", "10.0.0/8", "::/129", "proxy", "10.0.0.0/", ""] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn host_name_has_optional_port() {
        for right in ["alerts.internal", "10.0.0.7:8080", "[::1]:8080", "localhost"] {
            assert!(HostName::from_text(right).is_some(), "{right}");
        }
        for wrong in ["", "http://alerts.internal", "*", "*.internal", "u@h", "a b", "h/path"] {
            assert_eq!(HostName::from_text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn base_url_contains_no_credentials() {
        let is_openai = |text: &str| BaseUrl::from_text(text).map(|url| url.is_openai());
        assert_eq!(is_openai("https://API.openai.com/v1/"), Some(true));
        assert_eq!(is_openai("http://127.0.0.1:11434/v1"), Some(false));
        for wrong in [
            "",
            "api.openai.com",
            "https://key@api.openai.com",
            "https://a.example/v1?key=x",
        ] {
            assert_eq!(BaseUrl::from_text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn public_url_has_scheme_and_host_only() {
        let shown = |text: &str| PublicUrl::from_text(text).map(|url| url.to_string());
        assert_eq!(shown("https://a.example/").as_deref(), Some("https://a.example"));
        assert_eq!(shown("http://localhost:8080").as_deref(), Some("http://localhost:8080"));
        for wrong in [
            "a.example",
            "ftp://a.example",
            "https://a.example/path",
            "https://a?b",
            "https://u@a.example",
        ] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
