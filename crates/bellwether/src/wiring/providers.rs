//! Builds the market data providers from the settings.
//!
//! The settings require that each named provider is configured and offers the capability, so this is not checked
//! again here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use alerts::engine::Feed;
use anyhow::Context;
use clock::Clock;
use evaluation::feed::ProviderSetup;
use jiff::{SignedDuration, Timestamp};
use sources::freshness::QuoteLimits;
use sources::provider::http::AdapterSetup;
use sources::provider::{Capability, stream};
use sources::routing::{PollingConfig, ProviderRouter};

use crate::settings::{self, ProviderName, Settings};

/// Builds the market data providers from the settings.
///
/// # Errors
/// If a provider cannot be built, for example because TLS cannot be set up.
pub fn build_providers(settings: &Settings, clock: Arc<dyn Clock>, seed: u64) -> anyhow::Result<ProviderSetup> {
    build_shared_providers(settings, clock, seed, None)
}

/// Builds the market data providers, with accounts that another node has used until a time.
///
/// # Errors
/// As [`build_providers`].
pub fn build_shared_providers(
    settings: &Settings,
    clock: Arc<dyn Clock>,
    seed: u64,
    used_until: Option<Timestamp>,
) -> anyhow::Result<ProviderSetup> {
    let config = &settings.sources;
    let setup = AdapterSetup {
        used_until,
        timeout: config.timeout.unsigned_abs(),
        proxies_from_environment: config.use_proxies,
        ..AdapterSetup::new(Arc::clone(&clock), seed)
    };
    let mut providers = BTreeMap::new();
    for &name in ProviderName::ALL {
        if let Some(provider) = config.build(name, &setup) {
            let provider =
                provider.with_context(|| format!("cannot set up the provider {name}; see [sources.{name}]"))?;
            providers.insert(name.name(), provider);
        }
    }
    let mut router = ProviderRouter::new(clock);
    for capability in Capability::ALL {
        for provider in config
            .providers_for(capability)
            .iter()
            .filter_map(|name| providers.get(name.name()))
        {
            router = router.with(capability, Arc::clone(provider));
        }
    }
    let names = ProviderName::ALL.iter();
    Ok(ProviderSetup {
        router,
        providers: names.filter_map(|name| providers.get(name.name()).cloned()).collect(),
        setup,
        polling: PollingConfig {
            every: config.poll_every.unsigned_abs(),
            share_percent: config.quota_share_percent.get(),
            extended_symbols: 0,
        },
        limits: limits(settings),
        stream: stream::StreamConfig::default(),
        nightly_at: config.nightly_at,
    })
}

/// Returns the limits of the quote filter.
fn limits(settings: &Settings) -> QuoteLimits {
    let config = &settings.sources;
    QuoteLimits {
        delay: delay(config),
        late_after: config.late_after,
        stale_after: config.quote_stale_after,
        // The setting counts millionths of a percent; one percent is 10,000 ppm.
        max_jump_ppm: config.most_jump_percent.micros() / 100,
        confirm_within: config.confirm_within,
        ..QuoteLimits::default()
    }
}

/// Returns the longest delay of prices on the plans of the primary providers.
fn delay(sources: &settings::SourcesConfig) -> SignedDuration {
    let primary_delay = |capability| {
        let primary = *sources.providers_for(capability).first()?;
        Some(sources.tier(primary)?.offer(capability)?.delay)
    };
    let delays = [Capability::Quotes, Capability::Stream]
        .into_iter()
        .filter_map(primary_delay);
    let longest: Duration = delays.max().unwrap_or_default();
    SignedDuration::try_from(longest).unwrap_or(SignedDuration::MAX)
}

/// Returns whether a primary provider of prices documents prices of extended hours.
pub(super) fn has_extended_hours(sources: &settings::SourcesConfig) -> bool {
    let primary_has_them = |capability| {
        let primary = *sources.providers_for(capability).first()?;
        Some(sources.tier(primary)?.offer(capability)?.has_extended_hours)
    };
    [Capability::Quotes, Capability::Stream]
        .into_iter()
        .filter_map(primary_has_them)
        .any(std::convert::identity)
}

/// Returns the time without a quote after which a stock's quotes are stale: the market's setting plus the plan's
/// delay.
pub(super) fn stale_after(settings: &Settings) -> SignedDuration {
    settings.market.stale_after.saturating_add(delay(&settings.sources))
}

/// Returns the kinds of data without a provider.
pub(super) fn missing_feeds(sources: &settings::SourcesConfig) -> Vec<Feed> {
    let has_no_provider = |(capability, _): &&(Capability, Feed)| sources.providers_for(*capability).is_empty();
    FEEDS.iter().filter(has_no_provider).map(|(_, feed)| *feed).collect()
}

/// The kind of data of each capability. Prices are not listed, because the settings require a provider of prices.
const FEEDS: &[(Capability, Feed)] = &[
    (Capability::Fundamentals, Feed::Fundamentals),
    (Capability::Earnings, Feed::Earnings),
    (Capability::Dividends, Feed::Dividends),
    (Capability::InsiderTrades, Feed::Insiders),
    (Capability::Mentions, Feed::Mentions),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    fn settings_from(variables: &[(&str, &str)]) -> Settings {
        let alpaca = [
            ("MARKET__SOURCE", "providers"),
            ("SOURCES__ALPACA__KEY_ID", "PKTEST"),
            ("SOURCES__ALPACA__SECRET", "open-sesame"),
        ];
        Settings::with_overrides(&[&alpaca, variables].concat()).unwrap()
    }

    fn setup_from(variables: &[(&str, &str)]) -> ProviderSetup {
        build_providers(&settings_from(variables), Arc::new(SystemClock), 7).unwrap()
    }

    #[test]
    fn each_capability_uses_its_configured_providers_in_order() {
        let setup = setup_from(&[
            ("SOURCES__FINNHUB__KEY", "k"),
            ("SOURCES__QUOTES", "finnhub,alpaca"),
            ("SOURCES__STREAM", "none"),
        ]);
        let asked = |capability| {
            let providers = setup.router.providers(capability);
            providers.map(|provider| provider.name()).collect::<Vec<_>>()
        };
        assert_eq!(asked(Capability::Quotes), ["finnhub", "alpaca"]);
        assert_eq!(asked(Capability::DailyBars), ["alpaca"]);
        assert_eq!(asked(Capability::Earnings), ["finnhub"]);
        assert!(asked(Capability::Stream).is_empty() && asked(Capability::Mentions).is_empty());
        let names: Vec<_> = setup.providers.iter().map(|provider| provider.name()).collect();
        assert_eq!(names, ["alpaca", "finnhub"]);
    }

    #[test]
    fn provider_has_one_budget_for_all_capabilities() {
        let setup = setup_from(&[]);
        let of = |capability| setup.router.providers(capability).next().unwrap();
        assert!(Arc::ptr_eq(of(Capability::Quotes), of(Capability::DailyBars)));
        assert!(Arc::ptr_eq(of(Capability::Quotes), &setup.providers[0]));
    }

    #[test]
    fn defaults_match_the_quote_filter_and_polling() {
        let setup = setup_from(&[]);
        assert_eq!(setup.polling, PollingConfig::default());
        let expected = QuoteLimits {
            // A price can be as old as one polling round when it is requested.
            late_after: SignedDuration::from_mins(2),
            ..QuoteLimits::default()
        };
        assert_eq!(setup.limits, expected);
        assert_eq!(setup.setup.timeout, AdapterSetup::new(Arc::new(SystemClock), 7).timeout);
    }

    #[test]
    fn quote_filter_limits_are_configurable() {
        let limits = setup_from(&[
            ("SOURCES__LATE_AFTER", "90s"),
            ("SOURCES__QUOTE_STALE_AFTER", "10m"),
            ("SOURCES__MOST_JUMP_PERCENT", "12.5"),
            ("SOURCES__CONFIRM_WITHIN", "2m"),
        ])
        .limits;
        let expected = QuoteLimits {
            late_after: SignedDuration::from_secs(90),
            stale_after: SignedDuration::from_mins(10),
            max_jump_ppm: 125_000,
            confirm_within: SignedDuration::from_mins(2),
            ..QuoteLimits::default()
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn delayed_plan_extends_the_staleness_limit() {
        let delayed = settings_from(&[("SOURCES__ALPACA__FEED", "delayed_sip")]);
        assert_eq!(limits(&delayed).delay, SignedDuration::from_mins(15));
        assert_eq!(stale_after(&delayed), SignedDuration::from_mins(30));
        assert_eq!(stale_after(&settings_from(&[])), SignedDuration::from_mins(15));
    }

    #[test]
    fn feed_without_a_provider_is_missing() {
        let alpaca = missing_feeds(&settings_from(&[]).sources);
        assert_eq!(
            alpaca,
            [Feed::Fundamentals, Feed::Earnings, Feed::Insiders, Feed::Mentions]
        );
        let all = missing_feeds(
            &settings_from(&[
                ("SOURCES__FINNHUB__KEY", "k"),
                ("SOURCES__APEWISDOM__ENABLED", "true"),
                ("SOURCES__DIVIDENDS", "none"),
            ])
            .sources,
        );
        assert_eq!(all, [Feed::Dividends]);
    }
}
