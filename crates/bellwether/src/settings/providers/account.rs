//! What an account at a provider comes to.

use std::num::NonZeroU32;
use std::sync::Arc;

use sources::provider::http::{Setup, SetupError};
use sources::provider::{Provider, Tier, alpaca, apewisdom, finnhub, massive, sec, tiingo};

use super::{AlpacaFeed, MassivePlan, ProviderName, Sources};

/// An account at a provider, or the way to one that wants none.
#[derive(Clone, Debug)]
pub enum Account {
    /// At Alpaca.
    Alpaca(alpaca::Config),
    /// At Massive.
    Massive(massive::Config),
    /// At Tiingo.
    Tiingo(tiingo::Config),
    /// At Finnhub.
    Finnhub(finnhub::Config),
    /// The SEC's register.
    Sec(sec::Config),
    /// ApeWisdom.
    ApeWisdom(apewisdom::Config),
}

impl Account {
    /// What its plan allows.
    #[must_use]
    pub fn tier(&self) -> Tier {
        match self {
            Self::Alpaca(config) => config.tier(),
            Self::Massive(config) => config.tier(),
            Self::Tiingo(config) => config.tier(),
            Self::Finnhub(config) => config.tier(),
            Self::Sec(_) => sec::Config::tier(),
            Self::ApeWisdom(_) => apewisdom::Config::tier(),
        }
    }

    /// Somebody to ask, with this account.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn open(self, setup: &Setup) -> Result<Arc<dyn Provider>, SetupError> {
        Ok(match self {
            Self::Alpaca(config) => Arc::new(alpaca::Alpaca::new(config, setup)?),
            Self::Massive(config) => Arc::new(massive::Massive::new(config, setup)?),
            Self::Tiingo(config) => Arc::new(tiingo::Tiingo::new(&config, setup)?),
            Self::Finnhub(config) => Arc::new(finnhub::Finnhub::new(config, setup)?),
            Self::Sec(config) => Arc::new(sec::Sec::new(&config, setup)?),
            Self::ApeWisdom(config) => Arc::new(apewisdom::ApeWisdom::new(&config, setup)?),
        })
    }
}

impl Sources {
    /// The account at a provider; `None` if it is not set up.
    #[must_use]
    pub fn account(&self, name: ProviderName) -> Option<Account> {
        match name {
            ProviderName::Alpaca => self.alpaca.account().map(Account::Alpaca),
            ProviderName::Massive => self.massive.account().map(Account::Massive),
            ProviderName::Tiingo => self.tiingo.account().map(Account::Tiingo),
            ProviderName::Finnhub => self.finnhub.account().map(Account::Finnhub),
            ProviderName::Sec => self.sec.account().map(Account::Sec),
            ProviderName::ApeWisdom => self.apewisdom.account().map(Account::ApeWisdom),
        }
    }

    /// What a provider's plan allows; `None` if it is not set up.
    #[must_use]
    pub fn tier(&self, name: ProviderName) -> Option<Tier> {
        self.account(name).map(|account| account.tier())
    }
}

impl super::Alpaca {
    fn account(&self) -> Option<alpaca::Config> {
        let (key_id, secret) = (self.key_id.clone()?, self.secret.clone()?);
        Some(alpaca::Config {
            data_url: self.data_url.to_string(),
            trading_url: self.trading_url.to_string(),
            stream_url: self.stream_url.to_string(),
            feed: match self.feed {
                AlpacaFeed::Iex => alpaca::Feed::Iex,
                AlpacaFeed::Sip => alpaca::Feed::Sip,
                AlpacaFeed::DelayedSip => alpaca::Feed::DelayedSip,
            },
            requests_per_minute: self.requests_per_minute.get(),
            stream_symbols: self.stream_symbols.map(NonZeroU32::get),
            ..alpaca::Config::free(key_id, secret)
        })
    }
}

impl super::Massive {
    fn account(&self) -> Option<massive::Config> {
        let plan = match self.plan {
            MassivePlan::Basic => massive::Plan::Basic,
            MassivePlan::Starter => massive::Plan::Delayed,
            MassivePlan::Advanced => massive::Plan::RealTime,
        };
        let config = massive::Config::new(self.key.clone()?, plan);
        Some(massive::Config {
            api_url: self.api_url.to_string(),
            stream_url: match &self.stream_url {
                Some(url) => url.to_string(),
                None => config.stream_url,
            },
            ..config
        })
    }
}

impl super::Tiingo {
    fn account(&self) -> Option<tiingo::Config> {
        Some(tiingo::Config {
            api_url: self.api_url.to_string(),
            key: self.key.clone()?,
            requests_per_hour: self.requests_per_hour.get(),
            requests_per_day: self.requests_per_day.get(),
        })
    }
}

impl super::Finnhub {
    fn account(&self) -> Option<finnhub::Config> {
        Some(finnhub::Config {
            api_url: self.api_url.to_string(),
            stream_url: self.stream_url.to_string(),
            key: self.key.clone()?,
            requests_per_minute: self.requests_per_minute.get(),
            stream_symbols: self.stream_symbols.map(NonZeroU32::get),
            is_premium: self.premium,
        })
    }
}

impl super::Sec {
    fn account(&self) -> Option<sec::Config> {
        Some(sec::Config {
            www_url: self.www_url.to_string(),
            data_url: self.data_url.to_string(),
            contact: self.contact.as_ref()?.as_str().to_owned(),
        })
    }
}

impl super::ApeWisdom {
    fn account(&self) -> Option<apewisdom::Config> {
        self.enabled.then(|| apewisdom::Config {
            api_url: self.api_url.to_string(),
        })
    }
}
