//! Base URLs of providers.

use std::fmt;

use url::Url;

use super::AdapterSetupError;

/// The base URL of a provider's API.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ProviderUrl(Url);

/// An invalid base URL. The value is the expected scheme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is not a valid provider URL; write it like {0}://host.example, without user name, query or fragment")]
pub struct ProviderUrlError(&'static str);

impl ProviderUrl {
    /// Parses the `https` or `http` URL in `setting`.
    pub(crate) fn http(setting: &'static str, text: &str) -> Result<Self, AdapterSetupError> {
        Self::new(setting, text, ["https", "http"])
    }

    /// Parses the `wss` or `ws` URL in `setting`.
    pub(crate) fn websocket(setting: &'static str, text: &str) -> Result<Self, AdapterSetupError> {
        Self::new(setting, text, ["wss", "ws"])
    }

    fn new(setting: &'static str, text: &str, schemes: [&'static str; 2]) -> Result<Self, AdapterSetupError> {
        let fit = |url: &Url| {
            let is_bare = url.username().is_empty() && url.password().is_none();
            schemes.contains(&url.scheme())
                && url.has_host()
                && is_bare
                && url.query().is_none()
                && url.fragment().is_none()
        };
        Url::parse(text)
            .ok()
            .filter(fit)
            .map(Self)
            .ok_or(AdapterSetupError::InvalidUrl {
                setting,
                error: ProviderUrlError(schemes[0]),
            })
    }

    /// Appends `path` and `query`. Each path segment is percent-encoded, so that it stays one segment.
    pub(crate) fn join(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.0.clone();
        // A URL with a host always has path segments.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Returns the next page's URL from the path and query that the provider sent. The base URL's host is kept, whatever host the
    /// provider named.
    pub(crate) fn with_path_and_query(&self, path_and_query: &str) -> Url {
        let mut url = self.0.clone();
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        url.set_path(path);
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        url
    }
}

impl fmt::Debug for ProviderUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_path_and_encodes_segments() {
        let base = ProviderUrl::http("api_url", "https://data.example/v2/").unwrap();
        let url = base.join(&["stocks", "BRK/B?"], &[("feed", "iex"), ("symbols", "A,B&C")]);
        assert_eq!(
            url.as_str(),
            "https://data.example/v2/stocks/BRK%2FB%3F?feed=iex&symbols=A%2CB%26C"
        );
        assert_eq!(base.join(&[], &[]).as_str(), "https://data.example/v2");
    }

    #[test]
    fn next_page_stays_on_the_same_host() {
        let base = ProviderUrl::http("api_url", "https://data.example").unwrap();
        assert_eq!(
            base.with_path_and_query("/v3/tickers?cursor=a%3D").as_str(),
            "https://data.example/v3/tickers?cursor=a%3D"
        );
        assert_eq!(
            base.with_path_and_query("//evil.example/v3").host_str(),
            Some("data.example")
        );
    }

    #[test]
    fn rejects_invalid_urls() {
        for wrong in [
            "data.example",
            "ftp://data.example",
            "https://user:key@data.example",
            "https://a.example/?k=1",
        ] {
            assert!(ProviderUrl::http("api_url", wrong).is_err(), "{wrong}");
        }
        assert!(ProviderUrl::websocket("stream_url", "https://data.example").is_err());
        assert!(ProviderUrl::websocket("stream_url", "wss://data.example/v2/iex").is_ok());
    }
}
