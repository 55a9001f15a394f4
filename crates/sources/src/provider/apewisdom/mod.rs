//! # ApeWisdom
//!
//! Mention counts of stocks on Reddit and similar sites: free, without a key. Written from apewisdom.io/api:
//! `GET {api}/filter/all-stocks/page/{n}` returns a page of the stocks mentioned in the last 24 hours, most mentioned first.
//!
//! The engine stores mention counts by the hour and compares the last 24 hours with the days before. ApeWisdom's count already covers
//! 24 hours. The adapter therefore stores it *once a day*, at midnight UTC of the request's day, where a newer count replaces the
//! older one. The sum of the last 24 hours is then the newest count, and each earlier day has its last count. With one request an
//! hour, the count is at most one hour old.
//!
//! Undocumented points: the rate limit (the adapter sends at most one request a second), the length of the list (a stock that is not
//! listed gets no count instead of zero), and the content that is not counted.

mod client;
mod models;
mod parse;

use http::HeaderMap;

use super::http::{AdapterSetup, AdapterSetupError, HttpClient, ProviderUrl, RequestLimit};
use super::limits::offer;
use super::{Capability, RequestScope, Tier};

/// The provider's name.
pub(super) const NAME: &str = "apewisdom";

/// Configuration of the adapter.
#[derive(Debug, Clone)]
pub struct ApeWisdomConfig {
    /// The base URL of the API.
    pub api_url: String,
}

impl Default for ApeWisdomConfig {
    fn default() -> Self {
        Self {
            api_url: "https://apewisdom.io/api/v1.0".to_owned(),
        }
    }
}

impl ApeWisdomConfig {
    /// Returns the plan: capabilities and request limits.
    #[must_use]
    pub fn tier() -> Tier {
        Tier {
            provider: NAME,
            plan: "public",
            offers: vec![offer(Capability::Mentions, RequestScope::Market)],
            request_limits: vec![RequestLimit::per_second(1)],
        }
    }
}

/// The ApeWisdom adapter.
#[derive(Debug)]
pub struct ApeWisdom {
    http: HttpClient,
    api: ProviderUrl,
}

impl ApeWisdom {
    /// Creates the adapter.
    ///
    /// # Errors
    /// [`AdapterSetupError`]
    pub fn new(config: &ApeWisdomConfig, setup: &AdapterSetup) -> Result<Self, AdapterSetupError> {
        Ok(Self {
            http: HttpClient::new(ApeWisdomConfig::tier(), setup, HeaderMap::new(), |_, _| None)?,
            api: ProviderUrl::http("api_url", &config.api_url)?,
        })
    }
}
