//! The settings of market data providers: the providers of each capability, polling, limits and accounts.
//!
//! * [`selection`]: the providers' names, and the providers of a capability.
//! * [`account`]: the conversion to the adapters' configurations.
//! * [`check`]: values that are valid alone but not in combination.

mod account;
mod check;
mod selection;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use jiff::SignedDuration;
use jiff::civil::Time;
use market::Decimal;
use sources::provider::alpaca::AlpacaFeed;
use sources::provider::massive::MassivePlan;
use sources::provider::{Capability, ProviderKey};

use super::section::section;
use super::{Contact, HttpUrl, StreamUrl};

pub use selection::{ProviderName, ProviderSelection};

section! {
    /// The providers of market data.
    SourcesConfig {
        catalog: ProviderSelection,
        quotes: ProviderSelection,
        stream: ProviderSelection,
        minute_bars: ProviderSelection,
        daily_bars: ProviderSelection,
        benchmark: ProviderSelection,
        fundamentals: ProviderSelection,
        earnings: ProviderSelection,
        dividends: ProviderSelection,
        splits: ProviderSelection,
        insider_trades: ProviderSelection,
        mentions: ProviderSelection,
        poll_every: SignedDuration,
        quota_share_percent: NonZeroU32,
        late_after: SignedDuration,
        quote_stale_after: SignedDuration,
        most_jump_percent: Decimal,
        confirm_within: SignedDuration,
        nightly_at: Time,
        timeout: SignedDuration,
        use_proxies: bool,
        alpaca: AlpacaConfig,
        finnhub: FinnhubConfig,
        massive: MassiveConfig,
        tiingo: TiingoConfig,
        sec: SecConfig,
        apewisdom: ApeWisdomConfig,
    }
}

section! {
    /// The account at Alpaca.
    AlpacaConfig {
        key_id: Option<ProviderKey>,
        secret: Option<ProviderKey>,
        feed: AlpacaFeed,
        requests_per_minute: NonZeroU32,
        stream_symbols: Option<NonZeroU32>,
        data_url: HttpUrl,
        trading_url: HttpUrl,
        stream_url: StreamUrl,
    }
}

section! {
    /// The account at Finnhub.
    FinnhubConfig {
        key: Option<ProviderKey>,
        premium: bool,
        requests_per_minute: NonZeroU32,
        stream_symbols: Option<NonZeroU32>,
        api_url: HttpUrl,
        stream_url: StreamUrl,
    }
}

section! {
    /// The account at Massive.
    MassiveConfig {
        key: Option<ProviderKey>,
        plan: MassivePlan,
        api_url: HttpUrl,
        stream_url: Option<StreamUrl>,
    }
}

section! {
    /// The account at Tiingo.
    TiingoConfig {
        key: Option<ProviderKey>,
        requests_per_hour: NonZeroU32,
        requests_per_day: NonZeroU32,
        api_url: HttpUrl,
    }
}

section! {
    /// Access to the SEC.
    SecConfig {
        contact: Option<Contact>,
        www_url: HttpUrl,
        data_url: HttpUrl,
    }
}

section! {
    /// Access to ApeWisdom.
    ApeWisdomConfig {
        enabled: bool,
        api_url: HttpUrl,
    }
}

impl SourcesConfig {
    /// Returns the setting for `capability`.
    #[must_use]
    pub const fn selection(&self, capability: Capability) -> &ProviderSelection {
        match capability {
            Capability::Catalog => &self.catalog,
            Capability::Quotes => &self.quotes,
            Capability::Stream => &self.stream,
            Capability::MinuteBars => &self.minute_bars,
            Capability::DailyBars => &self.daily_bars,
            Capability::Fundamentals => &self.fundamentals,
            Capability::Earnings => &self.earnings,
            Capability::Dividends => &self.dividends,
            Capability::Splits => &self.splits,
            Capability::InsiderTrades => &self.insider_trades,
            Capability::Mentions => &self.mentions,
            Capability::Benchmark => &self.benchmark,
        }
    }

    /// Returns the providers for `capability`, the primary first: the named ones, or all that are set up and offer
    /// it.
    #[must_use]
    pub fn providers_for(&self, capability: Capability) -> Vec<ProviderName> {
        match self.selection(capability) {
            ProviderSelection::Named(names) => names.clone(),
            ProviderSelection::All => self.offering(capability).collect(),
        }
    }

    /// Returns the providers that are set up and offer `capability`.
    fn offering(&self, capability: Capability) -> impl Iterator<Item = ProviderName> {
        let offers = move |name: &ProviderName| self.tier(*name).is_some_and(|tier| tier.offer(capability).is_some());
        ProviderName::default_order(capability).into_iter().filter(offers)
    }
}
