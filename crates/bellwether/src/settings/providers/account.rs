//! Converts the settings of a provider to its adapter's configuration.

use std::num::NonZeroU32;
use std::sync::Arc;

use sources::provider::http::{AdapterSetup, AdapterSetupError};
use sources::provider::{Provider, Tier, alpaca, apewisdom, finnhub, massive, sec, tiingo};

use super::{AlpacaFeed, MassivePlan, ProviderName, SourcesConfig};

/// The configuration of a provider's adapter.
#[derive(Clone, Debug)]
pub enum ProviderConfig {
    /// Alpaca.
    Alpaca(alpaca::AlpacaConfig),
    /// Massive.
    Massive(massive::MassiveConfig),
    /// Tiingo.
    Tiingo(tiingo::TiingoConfig),
    /// Finnhub.
    Finnhub(finnhub::FinnhubConfig),
    /// The SEC's EDGAR database.
    Sec(sec::SecConfig),
    /// ApeWisdom.
    ApeWisdom(apewisdom::ApeWisdomConfig),
}

impl ProviderConfig {
    /// Returns the limits and offers of the configured plan.
    #[must_use]
    pub fn tier(&self) -> Tier {
        match self {
            Self::Alpaca(config) => config.tier(),
            Self::Massive(config) => config.tier(),
            Self::Tiingo(config) => config.tier(),
            Self::Finnhub(config) => config.tier(),
            Self::Sec(_) => sec::SecConfig::tier(),
            Self::ApeWisdom(_) => apewisdom::ApeWisdomConfig::tier(),
        }
    }

    /// Builds the provider's adapter.
    ///
    /// # Errors
    /// [`AdapterSetupError`] if the HTTP client cannot be built.
    pub fn build(self, setup: &AdapterSetup) -> Result<Arc<dyn Provider>, AdapterSetupError> {
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

impl SourcesConfig {
    /// Returns the configuration of a provider; `None` if it is not set up.
    #[must_use]
    pub fn provider_config(&self, name: ProviderName) -> Option<ProviderConfig> {
        match name {
            ProviderName::Alpaca => self.alpaca.adapter_config().map(ProviderConfig::Alpaca),
            ProviderName::Massive => self.massive.adapter_config().map(ProviderConfig::Massive),
            ProviderName::Tiingo => self.tiingo.adapter_config().map(ProviderConfig::Tiingo),
            ProviderName::Finnhub => self.finnhub.adapter_config().map(ProviderConfig::Finnhub),
            ProviderName::Sec => self.sec.adapter_config().map(ProviderConfig::Sec),
            ProviderName::ApeWisdom => self.apewisdom.adapter_config().map(ProviderConfig::ApeWisdom),
        }
    }

    /// Returns the limits and offers of a provider's plan; `None` if it is not set up.
    #[must_use]
    pub fn tier(&self, name: ProviderName) -> Option<Tier> {
        self.provider_config(name).map(|config| config.tier())
    }
}

impl super::AlpacaConfig {
    fn adapter_config(&self) -> Option<alpaca::AlpacaConfig> {
        let (key_id, secret) = (self.key_id.clone()?, self.secret.clone()?);
        Some(alpaca::AlpacaConfig {
            data_url: self.data_url.to_string(),
            trading_url: self.trading_url.to_string(),
            stream_url: self.stream_url.to_string(),
            feed: match self.feed {
                AlpacaFeed::Iex => alpaca::AlpacaFeed::Iex,
                AlpacaFeed::Sip => alpaca::AlpacaFeed::Sip,
                AlpacaFeed::DelayedSip => alpaca::AlpacaFeed::DelayedSip,
            },
            requests_per_minute: self.requests_per_minute.get(),
            stream_symbols: self.stream_symbols.map(NonZeroU32::get),
            ..alpaca::AlpacaConfig::free(key_id, secret)
        })
    }
}

impl super::MassiveConfig {
    fn adapter_config(&self) -> Option<massive::MassiveConfig> {
        let plan = match self.plan {
            MassivePlan::Basic => massive::MassivePlan::Basic,
            MassivePlan::Starter => massive::MassivePlan::Delayed,
            MassivePlan::Advanced => massive::MassivePlan::RealTime,
        };
        let config = massive::MassiveConfig::new(self.key.clone()?, plan);
        Some(massive::MassiveConfig {
            api_url: self.api_url.to_string(),
            stream_url: match &self.stream_url {
                Some(url) => url.to_string(),
                None => config.stream_url,
            },
            ..config
        })
    }
}

impl super::TiingoConfig {
    fn adapter_config(&self) -> Option<tiingo::TiingoConfig> {
        Some(tiingo::TiingoConfig {
            api_url: self.api_url.to_string(),
            key: self.key.clone()?,
            requests_per_hour: self.requests_per_hour.get(),
            requests_per_day: self.requests_per_day.get(),
        })
    }
}

impl super::FinnhubConfig {
    fn adapter_config(&self) -> Option<finnhub::FinnhubConfig> {
        Some(finnhub::FinnhubConfig {
            api_url: self.api_url.to_string(),
            stream_url: self.stream_url.to_string(),
            key: self.key.clone()?,
            requests_per_minute: self.requests_per_minute.get(),
            stream_symbols: self.stream_symbols.map(NonZeroU32::get),
            is_premium: self.premium,
        })
    }
}

impl super::SecConfig {
    fn adapter_config(&self) -> Option<sec::SecConfig> {
        Some(sec::SecConfig {
            www_url: self.www_url.to_string(),
            data_url: self.data_url.to_string(),
            contact: self.contact.as_ref()?.as_str().to_owned(),
        })
    }
}

impl super::ApeWisdomConfig {
    fn adapter_config(&self) -> Option<apewisdom::ApeWisdomConfig> {
        self.enabled.then(|| apewisdom::ApeWisdomConfig {
            api_url: self.api_url.to_string(),
        })
    }
}
