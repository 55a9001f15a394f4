//! Builds the service's dependencies and settings from the program's settings.

mod analyst;
mod channels;
pub mod cluster;
mod messages;
pub mod providers;

use std::path::Path;
use std::sync::Arc;

use alerts::engine::{BuzzThresholds, Feed};
use anyhow::Context;
use clock::Clock;
use delivery::DeliveryConfig;
use evaluation::EvaluationConfig;
use foundation::{Network, Ports, Random};
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use notify::schedule::RetrySchedule;
use notify::signature::{HeaderPrefix, HeaderStyle};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use store::Store;

use crate::clock::SystemClock;
use crate::keys;
use crate::settings::{self, EmailTransport, MarketConfig, Settings, SourceKind};

/// The interval of polling the database for changes by other processes, for example a plan that an administrator
/// changed.
const CHANGE_POLL_INTERVAL: SignedDuration = SignedDuration::from_secs(1);
/// The interval of comparing the engine's alerts with the database, in case a change was missed.
const ENGINE_COMPARISON_INTERVAL: SignedDuration = SignedDuration::from_mins(5);

/// Opens the database, and uses the system clock and the operating system's random numbers.
///
/// # Errors
/// If the database cannot be opened, its secrets are sealed with another key, or the operating system provides no random numbers.
pub async fn ports(settings: &Settings) -> anyhow::Result<Ports> {
    let url = &settings.database.url;
    let options = store::StoreOptions {
        max_connections: settings.database.max_connections.get(),
        unsafe_without_compare_and_set: settings.database.unsafe_without_compare_and_set,
        unsafe_without_fence: settings.cluster.unsafe_without_fence,
        ..store::StoreOptions::new(url.expose())
    };
    let store = Store::open(options)
        .await
        .with_context(|| format!("cannot open the database {url}"))?;
    let random = secure_random()?;
    let vault = keys::vault(settings, &store, &random, SystemClock.now()).await;
    let vault = match vault {
        Ok(vault) => vault,
        Err(error) => {
            store.close().await;
            return Err(error);
        }
    };
    Ok(Ports {
        store,
        clock: Arc::new(SystemClock),
        random: Arc::new(random),
        vault,
        network: Network::new(Arc::new(SystemClock)),
    })
}

/// Returns a cryptographically secure random number generator.
///
/// # Errors
/// If the operating system provides no random numbers.
pub(crate) fn secure_random() -> anyhow::Result<Random> {
    let generator = ChaCha20Rng::try_from_os_rng().context("the operating system provides no random numbers")?;
    Ok(Random::new(Box::new(generator)))
}

/// Converts the webhook settings.
fn webhook_settings(webhooks: &settings::WebhooksSection) -> delivery::webhooks::WebhooksConfig {
    let prefixes = webhooks.header_prefixes.iter();
    delivery::webhooks::WebhooksConfig {
        allow_private: webhooks.allow_private_cidrs.clone(),
        retry_delays: RetrySchedule::new(webhooks.retry_delays.clone()),
        timeout: webhooks.timeout,
        headers: HeaderStyle {
            prefixes: prefixes
                .filter_map(|prefix| HeaderPrefix::new(prefix.as_str()).ok())
                .collect(),
            timestamp: webhooks.timestamp_format,
        },
        ..delivery::webhooks::WebhooksConfig::default()
    }
}

/// Returns the market calendar with the configured closures.
#[must_use]
pub fn calendar(market: &MarketConfig) -> Calendar {
    let calendar = Calendar::nyse().with_extra_closures(market.extra_closures.iter().copied());
    if market.always_open {
        calendar.always_open()
    } else {
        calendar
    }
}

/// Converts the settings of sign-up and sign-in.
fn identity_settings(settings: &Settings) -> accounts::identity::IdentityConfig {
    let auth = &settings.auth;
    // Mail that stays in the outbox reaches no user who could follow a confirmation link.
    let sends_email = settings.email.transport == EmailTransport::Smtp;
    accounts::identity::IdentityConfig {
        require_email_confirmation: auth.require_email_confirmation.unwrap_or(sends_email),
        is_registration_closed: !auth.allow_registration,
    }
}

/// Returns the public base URL: `server.public_url`, or the listen address.
fn public_url(settings: &Settings) -> String {
    let server = &settings.server;
    let configured = server.public_url.as_ref().map(ToString::to_string);
    configured.unwrap_or_else(|| format!("http://{}", server.listen))
}

/// Converts all settings of the service.
///
/// # Errors
/// If a file named in the settings cannot be read.
pub fn service_settings(settings: &Settings) -> anyhow::Result<service::ServiceConfig> {
    let market = &settings.market;
    Ok(service::ServiceConfig {
        evaluation: EvaluationConfig {
            calendar: calendar(market),
            engine: alerts::engine::EngineConfig {
                buzz: BuzzThresholds {
                    rising_ratio: market.buzz_rising_ratio,
                    rising_mentions: market.buzz_rising_mentions,
                    falling_ratio: market.buzz_falling_ratio,
                    falling_base: market.buzz_falling_base,
                },
                stale_after: stale_after(settings),
                has_extended_hours: has_extended_hours(settings),
            },
            benchmark: market.benchmark,
            missing_feeds: missing_feeds(settings),
            follow_every: CHANGE_POLL_INTERVAL,
            compare_every: ENGINE_COMPARISON_INTERVAL,
        },
        delivery: DeliveryConfig {
            public_url: public_url(settings),
            messages: messages::settings(settings)?,
            channels: channels::settings(settings),
            webhooks: webhook_settings(&settings.webhooks),
        },
        identity: identity_settings(settings),
        analyst: analyst::settings(&settings.analyst),
        cluster: None,
    })
}

/// Returns the time without a quote after which a stock's quotes are stale.
fn stale_after(settings: &Settings) -> SignedDuration {
    match settings.market.source {
        SourceKind::Providers => providers::stale_after(settings),
        SourceKind::Simulated | SourceKind::File | SourceKind::Push => settings.market.stale_after,
    }
}

/// Returns whether the source may deliver prices of extended hours. Only of providers it is known that they do not.
fn has_extended_hours(settings: &Settings) -> bool {
    match settings.market.source {
        SourceKind::Providers => providers::has_extended_hours(&settings.sources),
        SourceKind::Simulated | SourceKind::File | SourceKind::Push => true,
    }
}

/// Returns the kinds of data that are not available: those without a file in the data folder, or without a provider.
/// Alerts that need them report this. Pushed data can be of any kind, and the simulated market has all kinds.
fn missing_feeds(settings: &Settings) -> Vec<Feed> {
    match (settings.market.source, &settings.market.data_dir) {
        (SourceKind::Providers, _) => providers::missing_feeds(&settings.sources),
        (SourceKind::File, Some(dir)) => missing_files(dir),
        (SourceKind::File, None) | (SourceKind::Simulated | SourceKind::Push, _) => Vec::new(),
    }
}

/// Returns the kinds of data without a file in the data folder.
fn missing_files(dir: &Path) -> Vec<Feed> {
    let exists = |name: &str| [name, &format!("{name}.gz")].iter().any(|name| dir.join(name).exists());
    DATA_FILES
        .iter()
        .filter(|(name, _)| !exists(name))
        .map(|(_, feed)| *feed)
        .collect()
}

/// The file of each kind of data in a data folder. Prices are not listed: without them nothing is evaluated.
const DATA_FILES: &[(&str, Feed)] = &[
    ("fundamentals.csv", Feed::Fundamentals),
    ("earnings.csv", Feed::Earnings),
    ("dividends.csv", Feed::Dividends),
    ("insiders.csv", Feed::Insiders),
    ("mentions.csv", Feed::Mentions),
];

/// Formats a timestamp as RFC 3339 in UTC with milliseconds.
#[must_use]
pub fn format_timestamp(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feeds_without_a_file_in_the_data_folder_are_missing() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["fundamentals.csv.gz", "earnings.csv", "insiders.csv"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let path = dir.path().display().to_string();
        let source = |kind: &str| {
            let overrides = [("MARKET__SOURCE", kind), ("MARKET__DATA_DIR", &path)];
            missing_feeds(&Settings::with_overrides(&overrides).unwrap())
        };
        assert_eq!(source("file"), [Feed::Dividends, Feed::Mentions]);
        assert_eq!(source("push"), []);
    }

    #[test]
    fn always_open_market_is_open_on_sunday() {
        let sunday = "2024-03-10T15:00:00Z".parse().unwrap();
        let opened = |always: &str| {
            let settings = Settings::with_overrides(&[("MARKET__ALWAYS_OPEN", always)]).unwrap();
            calendar(&settings.market).session_at(sunday).is_some()
        };
        assert!(opened("true") && !opened("false"));
    }

    #[test]
    fn timestamps_have_milliseconds() {
        assert_eq!(format_timestamp(Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }
}
