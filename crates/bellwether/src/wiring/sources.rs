//! Providers of market data, from settings to somebody who can be asked.
//!
//! The settings see to it that whoever is named is set up and offers what it is named for, so nothing is checked again here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use alerts::engine::Feed;
use anyhow::Context;
use jiff::SignedDuration;
use jiff::civil::Time;
use sources::Clock;
use sources::combine::{Combination, Polling};
use sources::freshness::Limits;
use sources::provider::http::Setup;
use sources::provider::{Capability, Provider, stream};

use crate::settings::{self, ProviderName, Settings};

/// Who is asked for market data, and how.
#[derive(Debug)]
pub struct Sources {
    /// Who is asked for what.
    pub combination: Combination,
    /// Everybody who is set up, in the order of [`ProviderName::ALL`].
    pub providers: Vec<Arc<dyn Provider>>,
    /// With what they are asked.
    pub setup: Setup,
    /// How prices are polled.
    pub polling: Polling,
    /// What the gate for quotes goes by.
    pub limits: Limits,
    /// How streams are held.
    pub stream: stream::Settings,
    /// When the nightly jobs begin, in New York.
    pub nightly_at: Time,
}

/// Who is asked for market data, as the settings say.
///
/// # Errors
/// If somebody cannot be asked at all, because TLS cannot be set up, say.
pub fn sources(settings: &Settings, clock: Arc<dyn Clock>, seed: u64) -> anyhow::Result<Sources> {
    let set = &settings.sources;
    let setup = Setup {
        deadline: set.timeout.unsigned_abs(),
        proxies_from_environment: set.use_proxies,
        ..Setup::new(Arc::clone(&clock), seed)
    };
    let mut providers = BTreeMap::new();
    for name in ProviderName::ALL {
        if let Some(account) = set.account(name) {
            let provider = account.open(&setup);
            let provider = provider.with_context(|| format!("{name} cannot be asked; see [sources.{name}]"))?;
            providers.insert(name.name(), provider);
        }
    }
    let mut combination = Combination::new(clock);
    for capability in Capability::ALL {
        for provider in set
            .asked(capability)
            .iter()
            .filter_map(|name| providers.get(name.name()))
        {
            combination = combination.with(capability, Arc::clone(provider));
        }
    }
    let in_order = ProviderName::ALL.iter();
    Ok(Sources {
        combination,
        providers: in_order
            .filter_map(|name| providers.get(name.name()).cloned())
            .collect(),
        setup,
        polling: Polling {
            every: set.poll_every.unsigned_abs(),
            share_percent: set.quota_share_percent.get(),
        },
        limits: limits(settings),
        stream: stream::Settings::default(),
        nightly_at: set.nightly_at,
    })
}

/// What the gate goes by.
fn limits(settings: &Settings) -> Limits {
    let set = &settings.sources;
    Limits {
        delay: delay(set),
        late_after: set.late_after,
        stale_after: set.quote_stale_after,
        // A percent is ten thousand millionths, and the setting counts millionths of a percent.
        most_jump_ppm: set.most_jump_percent.micros() / 100,
        confirm_within: set.confirm_within,
        // What is blind is the market's to say.
        blind_after: settings.market.stale_after,
        ..Limits::default()
    }
}

/// By how much prices are late on the plans of those who are asked first.
fn delay(sources: &settings::Sources) -> SignedDuration {
    let of_primary = |capability| {
        let primary = *sources.asked(capability).first()?;
        Some(sources.tier(primary)?.offer(capability)?.delay)
    };
    let delays = [Capability::Quotes, Capability::Stream]
        .into_iter()
        .filter_map(of_primary);
    let longest: Duration = delays.max().unwrap_or_default();
    SignedDuration::try_from(longest).unwrap_or(SignedDuration::MAX)
}

/// After how long without a quote a stock's quotes are stale: what the market says, and the delay of the plan.
pub(super) fn stale_after(settings: &Settings) -> SignedDuration {
    settings.market.stale_after.saturating_add(delay(&settings.sources))
}

/// The kinds of data that nobody is asked for.
pub(super) fn missing_feeds(sources: &settings::Sources) -> Vec<Feed> {
    let is_nobody = |(capability, _): &&(Capability, Feed)| sources.asked(*capability).is_empty();
    FEEDS.iter().filter(is_nobody).map(|(_, feed)| *feed).collect()
}

/// Which capability has which kind of data. Prices are not among them: the settings see to it that there are some.
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

    fn set(variables: &[(&str, &str)]) -> Settings {
        let variables = variables
            .iter()
            .map(|(name, value)| (format!("BELLWETHER_{name}"), (*value).to_owned()));
        let alpaca = [("KEY_ID", "PKTEST"), ("SECRET", "open-sesame")]
            .map(|(name, value)| (format!("BELLWETHER_SOURCES__ALPACA__{name}"), value.to_owned()));
        let source = ("BELLWETHER_MARKET__SOURCE".to_owned(), "providers".to_owned());
        Settings::load(None, alpaca.into_iter().chain([source]).chain(variables)).unwrap()
    }

    fn wired(variables: &[(&str, &str)]) -> Sources {
        sources(&set(variables), Arc::new(SystemClock), 7).unwrap()
    }

    #[test]
    fn each_capability_is_asked_of_those_that_are_set_primary_first() {
        let wired = wired(&[
            ("SOURCES__FINNHUB__KEY", "k"),
            ("SOURCES__QUOTES", "finnhub,alpaca"),
            ("SOURCES__STREAM", "none"),
        ]);
        let asked = |capability| {
            let providers = wired.combination.providers(capability);
            providers.map(|provider| provider.name()).collect::<Vec<_>>()
        };
        assert_eq!(asked(Capability::Quotes), ["finnhub", "alpaca"]);
        assert_eq!(asked(Capability::DailyBars), ["alpaca"]);
        assert_eq!(asked(Capability::Earnings), ["finnhub"]);
        assert!(asked(Capability::Stream).is_empty() && asked(Capability::Mentions).is_empty());
        let names: Vec<_> = wired.providers.iter().map(|provider| provider.name()).collect();
        assert_eq!(names, ["alpaca", "finnhub"]);
    }

    #[test]
    fn a_provider_has_one_budget_for_all_that_it_is_asked() {
        let wired = wired(&[]);
        let of = |capability| wired.combination.providers(capability).next().unwrap();
        assert!(Arc::ptr_eq(of(Capability::Quotes), of(Capability::DailyBars)));
        assert!(Arc::ptr_eq(of(Capability::Quotes), &wired.providers[0]));
    }

    #[test]
    fn the_defaults_are_those_of_the_gate_and_of_polling() {
        let wired = wired(&[]);
        assert_eq!(wired.polling, Polling::default());
        let expected = Limits {
            // A price can be as old as a round of polling when it is asked for.
            late_after: SignedDuration::from_mins(2),
            blind_after: SignedDuration::from_mins(15),
            ..Limits::default()
        };
        assert_eq!(wired.limits, expected);
        assert_eq!(wired.setup.deadline, Setup::new(Arc::new(SystemClock), 7).deadline);
    }

    #[test]
    fn what_the_gate_goes_by_can_be_set() {
        let limits = wired(&[
            ("SOURCES__LATE_AFTER", "90s"),
            ("SOURCES__QUOTE_STALE_AFTER", "10m"),
            ("SOURCES__MOST_JUMP_PERCENT", "12.5"),
            ("SOURCES__CONFIRM_WITHIN", "2m"),
            ("MARKET__STALE_AFTER", "20m"),
        ])
        .limits;
        let expected = Limits {
            late_after: SignedDuration::from_secs(90),
            stale_after: SignedDuration::from_mins(10),
            most_jump_ppm: 125_000,
            confirm_within: SignedDuration::from_mins(2),
            blind_after: SignedDuration::from_mins(20),
            ..Limits::default()
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn prices_that_a_plan_tells_late_are_not_late_and_not_stale() {
        let delayed = set(&[("SOURCES__ALPACA__FEED", "delayed_sip")]);
        assert_eq!(limits(&delayed).delay, SignedDuration::from_mins(15));
        assert_eq!(stale_after(&delayed), SignedDuration::from_mins(30));
        assert_eq!(stale_after(&set(&[])), SignedDuration::from_mins(15));
    }

    #[test]
    fn a_kind_of_data_that_nobody_is_asked_for_is_missing() {
        let alpaca = missing_feeds(&set(&[]).sources);
        assert_eq!(
            alpaca,
            [Feed::Fundamentals, Feed::Earnings, Feed::Insiders, Feed::Mentions]
        );
        let all = missing_feeds(
            &set(&[
                ("SOURCES__FINNHUB__KEY", "k"),
                ("SOURCES__APEWISDOM__ENABLED", "true"),
                ("SOURCES__DIVIDENDS", "none"),
            ])
            .sources,
        );
        assert_eq!(all, [Feed::Dividends]);
    }
}
