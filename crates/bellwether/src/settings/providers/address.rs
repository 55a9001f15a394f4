//! The URLs of providers.

use std::fmt;

use http::Uri;
use toml::Value;

use crate::settings::value::Setting;

/// Returns whether `text` is a URL with one of the schemes and a host, without user info, query or fragment.
fn is_address(text: &str, schemes: [&str; 2]) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let is_known = uri.scheme_str().is_some_and(|scheme| schemes.contains(&scheme));
    let is_bare = uri.host().is_some_and(|host| !host.is_empty()) && uri.query().is_none();
    is_known && is_bare && !text.contains(['@', '#'])
}

macro_rules! address {
    ($(#[$about:meta])* $name:ident $schemes:expr, $allowed:literal) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $name(String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Setting for $name {
            fn allowed() -> String {
                $allowed.to_owned()
            }

            fn from_text(text: &str) -> Option<Self> {
                is_address(text, $schemes).then(|| Self(text.to_owned()))
            }

            fn to_toml(&self) -> Value {
                self.0.clone().into()
            }
        }
    };
}

address! {
    /// The base URL of a provider's API, for example `https://data.example/v2`.
    HttpUrl ["https", "http"], "a URL like https://data.example/v2, without query or user info"
}

address! {
    /// The URL of a provider's stream, for example `wss://stream.example`.
    StreamUrl ["wss", "ws"], "a URL like wss://stream.example, without query or user info"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_url_has_scheme_and_host_and_no_credentials() {
        for valid in ["https://data.example", "http://127.0.0.1:8080/v2", "https://[::1]:80"] {
            assert_eq!(
                HttpUrl::from_text(valid).map(|url| url.to_string()).as_deref(),
                Some(valid)
            );
        }
        assert!(StreamUrl::from_text("wss://stream.example/v2").is_some());
        assert!(StreamUrl::from_text("https://stream.example").is_none());
        for wrong in [
            "",
            "data.example",
            "wss://data.example",
            "https://key@data.example",
            "https://data.example?key=1",
            "https://data.example#key",
            "https:///v2",
        ] {
            assert_eq!(HttpUrl::from_text(wrong), None, "{wrong}");
        }
    }
}
