//! The settings of market data providers: the providers of each capability, polling, limits and accounts.
//!
//! * [`selection`]: the providers' names, and the providers of a capability.
//! * [`account`]: the conversion to the adapters' configurations.
//! * [`check`]: values that are valid alone but not in combination.
//! * [`address`], [`value`]: the types of these settings.

mod account;
mod address;
mod check;
mod selection;
#[cfg(test)]
mod tests;
mod value;

use std::num::NonZeroU32;

use jiff::SignedDuration;
use jiff::civil::Time;
use market::Decimal;
use sources::provider::{Capability, ProviderKey};

use super::layers::Layers;
use super::section::section;
use super::value::Setting;

pub use account::ProviderConfig;
pub use address::{HttpUrl, StreamUrl};
pub use selection::{ProviderName, ProviderSelection};
pub use value::{AlpacaFeed, Contact, MassivePlan};

section! {
    /// The providers of market data.
    SourcesConfig "sources" {
        /// The providers of the stock catalog.
        catalog: ProviderSelection,
        /// The providers of polled prices.
        quotes: ProviderSelection,
        /// The providers of streamed prices.
        stream: ProviderSelection,
        /// The providers of minute bars for filling gaps.
        minute_bars: ProviderSelection,
        /// The providers of daily bars.
        daily_bars: ProviderSelection,
        /// The providers of the benchmark's daily bars.
        benchmark: ProviderSelection,
        /// The providers of earnings per share and other fundamentals.
        fundamentals: ProviderSelection,
        /// The providers of earnings dates.
        earnings: ProviderSelection,
        /// The providers of dividends.
        dividends: ProviderSelection,
        /// The providers of splits.
        splits: ProviderSelection,
        /// The providers of insider trades.
        insider_trades: ProviderSelection,
        /// The providers of mentions.
        mentions: ProviderSelection,
        /// The interval of polling each price.
        poll_every: SignedDuration,
        /// The share of a plan's quota that polling may use, in percent.
        quota_share_percent: NonZeroU32,
        /// The age at which a quote is late.
        late_after: SignedDuration,
        /// The age at which a quote is dropped.
        quote_stale_after: SignedDuration,
        /// The maximum price change between two quotes that needs no confirmation, in percent.
        most_jump_percent: Decimal,
        /// The time in which another quote must confirm a larger change.
        confirm_within: SignedDuration,
        /// The New York time at which the nightly jobs start.
        nightly_at: Time,
        /// The timeout of requests.
        timeout: SignedDuration,
        /// Whether the proxies in the environment variables are used.
        use_proxies: bool,
    }
    parts {
        /// The account at Alpaca.
        alpaca: AlpacaConfig,
        /// The account at Finnhub.
        finnhub: FinnhubConfig,
        /// The account at Massive.
        massive: MassiveConfig,
        /// The account at Tiingo.
        tiingo: TiingoConfig,
        /// Access to the SEC.
        sec: SecConfig,
        /// Access to ApeWisdom.
        apewisdom: ApeWisdomConfig,
    }
}

section! {
    /// The account at Alpaca.
    AlpacaConfig "sources.alpaca" {
        /// The key's id.
        key_id: Option<ProviderKey>,
        /// The secret key.
        secret: Option<ProviderKey>,
        /// The feed of trades.
        feed: AlpacaFeed,
        /// The plan's requests per minute.
        requests_per_minute: NonZeroU32,
        /// The maximum number of symbols in the plan's stream; `None`: unlimited.
        stream_symbols: Option<NonZeroU32>,
        /// The base URL of market data.
        data_url: HttpUrl,
        /// The base URL of the catalog.
        trading_url: HttpUrl,
        /// The URL of the stream.
        stream_url: StreamUrl,
    }
}

section! {
    /// The account at Finnhub.
    FinnhubConfig "sources.finnhub" {
        /// The API key.
        key: Option<ProviderKey>,
        /// Whether the plan is paid.
        premium: bool,
        /// The plan's requests per minute.
        requests_per_minute: NonZeroU32,
        /// The maximum number of symbols in the plan's stream; `None`: unlimited.
        stream_symbols: Option<NonZeroU32>,
        /// The base URL of the API.
        api_url: HttpUrl,
        /// The URL of the stream.
        stream_url: StreamUrl,
    }
}

section! {
    /// The account at Massive.
    MassiveConfig "sources.massive" {
        /// The API key.
        key: Option<ProviderKey>,
        /// The plan. It determines the rate limit and the delay of prices.
        plan: MassivePlan,
        /// The base URL of the API.
        api_url: HttpUrl,
        /// The URL of the stream; `None`: the plan's default.
        stream_url: Option<StreamUrl>,
    }
}

section! {
    /// The account at Tiingo.
    TiingoConfig "sources.tiingo" {
        /// The API key.
        key: Option<ProviderKey>,
        /// The plan's requests per hour.
        requests_per_hour: NonZeroU32,
        /// The plan's requests per day.
        requests_per_day: NonZeroU32,
        /// The base URL of the API.
        api_url: HttpUrl,
    }
}

section! {
    /// Access to the SEC.
    SecConfig "sources.sec" {
        /// The contact for the `User-Agent` header, which the SEC requires.
        contact: Option<Contact>,
        /// The base URL of files and archives.
        www_url: HttpUrl,
        /// The base URL of the data APIs.
        data_url: HttpUrl,
    }
}

section! {
    /// Access to ApeWisdom.
    ApeWisdomConfig "sources.apewisdom" {
        /// Whether it is used.
        enabled: bool,
        /// The base URL of the API.
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
            ProviderSelection::All => ProviderName::default_order(capability)
                .into_iter()
                .filter(|&name| self.tier(name).is_some_and(|tier| tier.offer(capability).is_some()))
                .collect(),
        }
    }
}
