//! # ApeWisdom
//!
//! How often stocks are mentioned on Reddit and the like: free, without a key. Written from apewisdom.io/api:
//! `GET {api}/filter/all-stocks/page/{n}` answers a page of the stocks that were mentioned in the last 24 hours, most mentioned
//! first.
//!
//! Here a count of mentions is kept by the hour, and what is rising is told from the last 24 hours against the days before. What
//! ApeWisdom counts is 24 hours already. So its count is kept *once a day*: under midnight UTC of the day it was asked on, where a
//! newer count replaces the older one. The sum of the last 24 hours then is its newest count, and each of the days before its own
//! last one. Asked once an hour, it is never more than an hour late.
//!
//! What the documentation does not say: how often it may be asked (once a second at most is asked here), how far down the list
//! goes (a stock that is not in it gets no count, rather than a zero), and what its counts leave out.

mod client;
mod error;
mod models;
mod parse;

use http::HeaderMap;

use super::http::{Address, Http, Quota, Setup, SetupError};
use super::limits::offer;
use super::{Capability, Reach, Tier};

/// Its name.
pub(super) const NAME: &str = "apewisdom";

/// How it is asked.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the data are.
    pub api_url: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            api_url: "https://apewisdom.io/api/v1.0".to_owned(),
        }
    }
}

impl Config {
    /// What is allowed.
    #[must_use]
    pub fn tier() -> Tier {
        Tier {
            provider: NAME,
            plan: "public",
            offers: vec![offer(Capability::Mentions, Reach::Market)],
            quotas: vec![Quota::per_second(1)],
        }
    }
}

/// Asks ApeWisdom.
#[derive(Debug)]
pub struct ApeWisdom {
    http: Http,
    api: Address,
    tier: Tier,
    setup: Setup,
}

impl ApeWisdom {
    /// At its address.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(config: &Config, setup: &Setup) -> Result<Self, SetupError> {
        let tier = Config::tier();
        Ok(Self {
            http: Http::new(NAME, setup, &tier.quotas, HeaderMap::new(), error::judge)?,
            api: Address::http(&config.api_url).map_err(|error| SetupError::Address {
                setting: "api_url",
                error,
            })?,
            tier,
            setup: setup.clone(),
        })
    }
}
