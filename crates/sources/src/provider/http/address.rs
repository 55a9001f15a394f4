//! Where a provider is.

use std::fmt;

use url::Url;

/// The address that a provider's paths begin at.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address(Url);

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is no address of a provider; write it like {0}://host.example, without user, query or fragment")]
pub struct AddressError(&'static str);

impl Address {
    /// An address of HTTP.
    pub(crate) fn http(text: &str) -> Result<Self, AddressError> {
        Self::new(text, ["https", "http"])
    }

    /// An address of a WebSocket.
    pub(crate) fn websocket(text: &str) -> Result<Self, AddressError> {
        Self::new(text, ["wss", "ws"])
    }

    fn new(text: &str, schemes: [&'static str; 2]) -> Result<Self, AddressError> {
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
            .ok_or(AddressError(schemes[0]))
    }

    /// What lies behind `path`, with each of its segments written so that it stays one.
    pub(crate) fn at(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.0.clone();
        // An address with a host can be a base.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// What a provider says lies next, as a path and a query: at this address, whatever address it named.
    pub(crate) fn follow(&self, path_and_query: &str) -> Url {
        let mut url = self.0.clone();
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        url.set_path(path);
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        url
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_behind_the_address_and_a_segment_stays_one() {
        let address = Address::http("https://data.example/v2/").unwrap();
        let url = address.at(&["stocks", "BRK/B?"], &[("feed", "iex"), ("symbols", "A,B&C")]);
        assert_eq!(
            url.as_str(),
            "https://data.example/v2/stocks/BRK%2FB%3F?feed=iex&symbols=A%2CB%26C"
        );
        assert_eq!(address.at(&[], &[]).as_str(), "https://data.example/v2");
    }

    #[test]
    fn what_lies_next_lies_at_the_same_address() {
        let address = Address::http("https://data.example").unwrap();
        assert_eq!(
            address.follow("/v3/tickers?cursor=a%3D").as_str(),
            "https://data.example/v3/tickers?cursor=a%3D"
        );
        assert_eq!(address.follow("//evil.example/v3").host_str(), Some("data.example"));
    }

    #[test]
    fn what_is_no_address_of_its_kind_is_refused() {
        for wrong in [
            "data.example",
            "ftp://data.example",
            "https://user:key@data.example",
            "https://a.example/?k=1",
        ] {
            assert!(Address::http(wrong).is_err(), "{wrong}");
        }
        assert!(Address::websocket("https://data.example").is_err());
        assert!(Address::websocket("wss://data.example/v2/iex").is_ok());
    }
}
