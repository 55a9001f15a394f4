//! Network settings: addresses, hosts and URLs.

use std::net::SocketAddr;

use http::Uri;
use http::uri::Authority;
use notify::address::Cidr;

use super::text::{formatted_text, text_if};
use super::value::{parsed, text_setting};

text_setting!(
    SocketAddr,
    "an address and a port, like 127.0.0.1:8080 or [::]:8080 (port 0: any free port)",
    parsed,
    Self::to_string
);
text_setting!(
    Cidr,
    "an address or a range of addresses, like 127.0.0.1 or 10.0.0.0/8",
    parsed,
    Self::to_string
);

formatted_text!(
    /// The public base URL of the service, for example `https://alerts.example.com`, without a trailing slash.
    PublicUrl,
    "a URL like https://alerts.example.com, without a path",
    |text| {
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme))?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
        let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
        is_bare.then(|| format!("{scheme}://{authority}"))
    }
);

formatted_text!(
    /// A host name of the service, for example `alerts.internal`, with a port unless it is the scheme's default.
    HostName,
    "a host name, with its port unless that is the default, like alerts.internal or 10.0.0.7:8080",
    |text| {
        let authority: Authority = text.parse().ok()?;
        text_if(!text.contains(['@', '*']) && !authority.host().is_empty(), text)
    }
);

formatted_text!(
    /// The base URL of an API, for example `https://api.openai.com/v1`.
    BaseUrl,
    "a URL like https://api.openai.com/v1 or http://localhost:11434/v1, without query or user info",
    |text| text_if(watchlist::analyst::check_base_url(text).is_ok(), text)
);

impl BaseUrl {
    /// Returns whether this is OpenAI's own API, which requires a key.
    #[must_use]
    pub fn is_openai(&self) -> bool {
        let is_openai = |uri: Uri| {
            uri.host()
                .is_some_and(|host| host.eq_ignore_ascii_case("api.openai.com"))
        };
        self.as_str().parse().is_ok_and(is_openai)
    }
}

formatted_text!(
    /// The base URL of a provider's API, for example `https://data.example/v2`.
    HttpUrl,
    "a URL like https://data.example/v2, without query or user info",
    |text| text_if(is_provider_url(text, ["https", "http"]), text)
);

formatted_text!(
    /// The URL of a provider's stream, for example `wss://stream.example`.
    StreamUrl,
    "a URL like wss://stream.example, without query or user info",
    |text| text_if(is_provider_url(text, ["wss", "ws"]), text)
);

/// Returns whether `text` is a URL with one of the schemes and a host, without user info, query or fragment.
fn is_provider_url(text: &str, schemes: [&str; 2]) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let is_known = uri.scheme_str().is_some_and(|scheme| schemes.contains(&scheme));
    let is_bare = uri.host().is_some_and(|host| !host.is_empty()) && uri.query().is_none();
    is_known && is_bare && !text.contains(['@', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Setting;
    use crate::settings::tests::assert_format;

    #[test]
    fn host_name_has_optional_port() {
        assert_format::<HostName>(
            &["alerts.internal", "10.0.0.7:8080", "[::1]:8080", "localhost"],
            &["", "http://alerts.internal", "*", "*.internal", "u@h", "a b", "h/path"],
        );
    }

    #[test]
    fn base_url_contains_no_credentials() {
        let is_openai = |text: &str| BaseUrl::from_text(text).map(|url| url.is_openai());
        assert_eq!(is_openai("https://API.openai.com/v1/"), Some(true));
        assert_eq!(is_openai("http://127.0.0.1:11434/v1"), Some(false));
        let with_user = "https://key@api.openai.com";
        assert_format::<BaseUrl>(&[], &["", "api.openai.com", with_user, "https://a.example/v1?key=x"]);
    }

    #[test]
    fn public_url_has_scheme_and_host_only() {
        let slash = PublicUrl::from_text("https://a.example/").unwrap();
        assert_eq!(slash.as_str(), "https://a.example");
        let (path, user) = ("https://a.example/path", "https://u@a.example");
        assert_format::<PublicUrl>(
            &["http://localhost:8080"],
            &["a.example", "ftp://a.example", path, "https://a?b", user],
        );
    }

    #[test]
    fn provider_url_has_scheme_and_host_and_no_credentials() {
        let (user, query, fragment) = (
            "https://key@a.example",
            "https://a.example?key=1",
            "https://a.example#key",
        );
        assert_format::<HttpUrl>(
            &["https://data.example", "http://127.0.0.1:8080/v2", "https://[::1]:80"],
            &[
                "",
                "data.example",
                "wss://data.example",
                user,
                query,
                fragment,
                "https:///v2",
            ],
        );
        assert_format::<StreamUrl>(&["wss://stream.example/v2"], &["https://stream.example"]);
    }
}
