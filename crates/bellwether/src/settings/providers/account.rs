//! Converts the settings of a provider to its adapter's configuration.

use std::num::NonZeroU32;
use std::sync::Arc;

use sources::provider::http::{AdapterSetup, AdapterSetupError};
use sources::provider::{Provider, Tier, alpaca, apewisdom, finnhub, massive, sec, tiingo};

use super::{ProviderName, SourcesConfig};

fn shared<P: Provider + 'static>(provider: P) -> Arc<dyn Provider> {
    Arc::new(provider)
}

impl SourcesConfig {
    /// Builds a provider's adapter; `None` if the provider is not set up. The error: the HTTP client cannot be built.
    pub(crate) fn build(
        &self,
        name: ProviderName,
        setup: &AdapterSetup,
    ) -> Option<Result<Arc<dyn Provider>, AdapterSetupError>> {
        Some(match name {
            ProviderName::Alpaca => alpaca::Alpaca::new(self.alpaca.adapter()?, setup).map(shared),
            ProviderName::Massive => massive::Massive::new(self.massive.adapter()?, setup).map(shared),
            ProviderName::Tiingo => tiingo::Tiingo::new(&self.tiingo.adapter()?, setup).map(shared),
            ProviderName::Finnhub => finnhub::Finnhub::new(self.finnhub.adapter()?, setup).map(shared),
            ProviderName::Sec => sec::Sec::new(&self.sec.adapter()?, setup).map(shared),
            ProviderName::ApeWisdom => apewisdom::ApeWisdom::new(&self.apewisdom.adapter()?, setup).map(shared),
        })
    }

    /// Returns the limits and offers of a provider's plan; `None` if it is not set up.
    #[must_use]
    pub fn tier(&self, name: ProviderName) -> Option<Tier> {
        Some(match name {
            ProviderName::Alpaca => self.alpaca.adapter()?.tier(),
            ProviderName::Massive => self.massive.adapter()?.tier(),
            ProviderName::Tiingo => self.tiingo.adapter()?.tier(),
            ProviderName::Finnhub => self.finnhub.adapter()?.tier(),
            ProviderName::Sec => self.sec.adapter().map(|_| sec::SecConfig::tier())?,
            ProviderName::ApeWisdom => self.apewisdom.adapter().map(|_| apewisdom::ApeWisdomConfig::tier())?,
        })
    }
}

impl super::AlpacaConfig {
    pub(super) fn adapter(&self) -> Option<alpaca::AlpacaConfig> {
        let (key_id, secret) = (self.key_id.clone()?, self.secret.clone()?);
        Some(alpaca::AlpacaConfig {
            data_url: self.data_url.to_string(),
            trading_url: self.trading_url.to_string(),
            stream_url: self.stream_url.to_string(),
            feed: self.feed,
            requests_per_minute: self.requests_per_minute.get(),
            stream_symbols: self.stream_symbols.map(NonZeroU32::get),
            ..alpaca::AlpacaConfig::free(key_id, secret)
        })
    }
}

impl super::MassiveConfig {
    pub(super) fn adapter(&self) -> Option<massive::MassiveConfig> {
        let config = massive::MassiveConfig::new(self.key.clone()?, self.plan);
        let stream_url = self.stream_url.as_ref().map(ToString::to_string);
        Some(massive::MassiveConfig {
            api_url: self.api_url.to_string(),
            stream_url: stream_url.unwrap_or(config.stream_url),
            ..config
        })
    }
}

impl super::TiingoConfig {
    pub(super) fn adapter(&self) -> Option<tiingo::TiingoConfig> {
        Some(tiingo::TiingoConfig {
            api_url: self.api_url.to_string(),
            key: self.key.clone()?,
            requests_per_hour: self.requests_per_hour.get(),
            requests_per_day: self.requests_per_day.get(),
        })
    }
}

impl super::FinnhubConfig {
    pub(super) fn adapter(&self) -> Option<finnhub::FinnhubConfig> {
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
    pub(super) fn adapter(&self) -> Option<sec::SecConfig> {
        Some(sec::SecConfig {
            www_url: self.www_url.to_string(),
            data_url: self.data_url.to_string(),
            contact: self.contact.as_ref()?.to_string(),
        })
    }
}

impl super::ApeWisdomConfig {
    pub(super) fn adapter(&self) -> Option<apewisdom::ApeWisdomConfig> {
        let api_url = self.api_url.to_string();
        self.enabled.then_some(apewisdom::ApeWisdomConfig { api_url })
    }
}
