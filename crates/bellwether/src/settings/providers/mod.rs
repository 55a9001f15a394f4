//! The settings of providers of market data: who is asked for what, how often, and with which account.
//!
//! * [`who`]: the providers' names, and who is asked for a capability.
//! * [`account`]: what an account comes to: which plan, and what it offers.
//! * [`check`]: what is allowed alone, but not together.
//! * [`address`], [`value`]: what their settings can be.

mod account;
mod address;
mod check;
#[cfg(test)]
mod tests;
mod value;
mod who;

use std::num::NonZeroU32;

use jiff::SignedDuration;
use jiff::civil::Time;
use market::Decimal;
use sources::provider::{Capability, Key};

use super::layers::Layers;
use super::section::section;
use super::value::Setting;

pub use account::Account;
pub use address::{HttpUrl, StreamUrl};
pub use value::{AlpacaFeed, Contact, MassivePlan};
pub use who::{ProviderName, Who};

section! {
    /// Providers: who is asked for what, and how.
    Sources "sources" {
        /// Who is asked which stocks there are.
        catalog: Who,
        /// Who is asked for prices, again and again.
        quotes: Who,
        /// Whose prices come by themselves.
        stream: Who,
        /// Who is asked for the minutes of a stretch that was missed.
        minute_bars: Who,
        /// Who is asked for completed sessions.
        daily_bars: Who,
        /// Who is asked for those of what everything is compared with.
        benchmark: Who,
        /// Who is asked for earnings per share and other figures.
        fundamentals: Who,
        /// Who is asked for earnings dates.
        earnings: Who,
        /// Who is asked for dividends.
        dividends: Who,
        /// Who is asked for splits.
        splits: Who,
        /// Who is asked for insiders' trades.
        insider_trades: Who,
        /// Who is asked for mentions.
        mentions: Who,
        /// How often each price is asked for.
        poll_every: SignedDuration,
        /// How much of a plan that may use, in percent.
        quota_share_percent: NonZeroU32,
        /// A quote that is older is late.
        late_after: SignedDuration,
        /// A quote that is older is dropped.
        quote_stale_after: SignedDuration,
        /// How far a price may move between two quotes, in percent.
        most_jump_percent: Decimal,
        /// How long a jump waits for a quote that confirms it.
        confirm_within: SignedDuration,
        /// When the nightly jobs begin, in New York.
        nightly_at: Time,
        /// How long a provider may take to answer.
        timeout: SignedDuration,
        /// Whether proxies that variables of the environment name are used.
        use_proxies: bool,
    }
    parts {
        /// The account at Alpaca.
        alpaca: Alpaca,
        /// The account at Finnhub.
        finnhub: Finnhub,
        /// The account at Massive.
        massive: Massive,
        /// The account at Tiingo.
        tiingo: Tiingo,
        /// How the SEC is asked.
        sec: Sec,
        /// How ApeWisdom is asked.
        apewisdom: ApeWisdom,
    }
}

section! {
    /// The account at Alpaca.
    Alpaca "sources.alpaca" {
        /// The key's id.
        key_id: Option<Key>,
        /// The key.
        secret: Option<Key>,
        /// Which trades are told of.
        feed: AlpacaFeed,
        /// How many requests the plan has a minute.
        requests_per_minute: NonZeroU32,
        /// How many symbols the plan's stream has; `None`: any number.
        stream_symbols: Option<NonZeroU32>,
        /// Where the data are.
        data_url: HttpUrl,
        /// Where the catalog is.
        trading_url: HttpUrl,
        /// Where the stream is.
        stream_url: StreamUrl,
    }
}

section! {
    /// The account at Finnhub.
    Finnhub "sources.finnhub" {
        /// The key.
        key: Option<Key>,
        /// Whether the plan is a paid one.
        premium: bool,
        /// How many requests the plan has a minute.
        requests_per_minute: NonZeroU32,
        /// How many symbols the plan's stream has; `None`: any number.
        stream_symbols: Option<NonZeroU32>,
        /// Where the data are.
        api_url: HttpUrl,
        /// Where the stream is.
        stream_url: StreamUrl,
    }
}

section! {
    /// The account at Massive.
    Massive "sources.massive" {
        /// The key.
        key: Option<Key>,
        /// The plan, which says how often one may ask and how late prices are.
        plan: MassivePlan,
        /// Where the data are.
        api_url: HttpUrl,
        /// Where the stream is; `None`: where the plan's is.
        stream_url: Option<StreamUrl>,
    }
}

section! {
    /// The account at Tiingo.
    Tiingo "sources.tiingo" {
        /// The key.
        key: Option<Key>,
        /// How many requests the plan has an hour.
        requests_per_hour: NonZeroU32,
        /// How many requests the plan has a day.
        requests_per_day: NonZeroU32,
        /// Where the data are.
        api_url: HttpUrl,
    }
}

section! {
    /// How the SEC is asked.
    Sec "sources.sec" {
        /// Who asks.
        contact: Option<Contact>,
        /// Where files and archives are.
        www_url: HttpUrl,
        /// Where the programming interfaces are.
        data_url: HttpUrl,
    }
}

section! {
    /// How ApeWisdom is asked.
    ApeWisdom "sources.apewisdom" {
        /// Whether it is asked at all.
        enabled: bool,
        /// Where the data are.
        api_url: HttpUrl,
    }
}

impl Sources {
    /// Who is set for `capability`.
    #[must_use]
    pub const fn who(&self, capability: Capability) -> &Who {
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

    /// Who is asked for `capability`, the primary first: those that are named, or all that are set up and offer it.
    #[must_use]
    pub fn asked(&self, capability: Capability) -> Vec<ProviderName> {
        match self.who(capability) {
            Who::Named(names) => names.clone(),
            Who::All => ProviderName::in_order(capability)
                .into_iter()
                .filter(|&name| self.tier(name).is_some_and(|tier| tier.offer(capability).is_some()))
                .collect(),
        }
    }
}
