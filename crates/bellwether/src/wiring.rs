//! The rooms put together: from settings to a store, a clock, chance and a service.

mod analyst;
mod messages;
pub mod sources;

use std::path::Path;
use std::sync::Arc;

use alerts::engine::{BuzzLevels, Feed};
use anyhow::Context;
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use notify::address::Cidr;
use notify::schedule::RetryDelays;
use notify::signature::HeaderStyle;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use service::webhooks::Network;
use service::{Chance, Clock, Ports};
use store::Store;

use crate::clock::SystemClock;
use crate::keys;
use crate::settings::{self, EmailTransport, Market, Settings, SourceKind, TimestampFormat};

/// How often what other processes changed in the database is looked for: an administrator's new plan, say.
const FOLLOW_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// How often the engine's alerts are compared with the database's, should a change have been missed.
const COMPARE_EVERY: SignedDuration = SignedDuration::from_mins(5);

/// Opens the database and takes the machine's time and chance.
///
/// # Errors
/// If the database cannot be opened, its secrets are sealed with another key, or the operating system provides no random numbers.
pub async fn ports(settings: &Settings) -> anyhow::Result<Ports> {
    let url = &settings.database.url;
    let options = store::Options {
        max_connections: settings.database.max_connections.get(),
        unsafe_without_compare_and_set: settings.database.unsafe_without_compare_and_set,
        ..store::Options::new(url.expose())
    };
    let store = Store::open(options)
        .await
        .with_context(|| format!("cannot open the database {url}"))?;
    let chance = chance()?;
    let vault = keys::vault(settings, &store, &chance, SystemClock.now()).await;
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
        chance: Arc::new(chance),
        vault,
        network: Network::of(Arc::new(SystemClock)),
    })
}

/// Returns a cryptographically secure generator of random numbers.
///
/// # Errors
/// If the operating system provides no random numbers.
pub(crate) fn chance() -> anyhow::Result<Chance> {
    let generator = ChaCha20Rng::try_from_os_rng().context("the operating system gives no random numbers")?;
    Ok(Chance::new(Box::new(generator)))
}

/// What the settings say about webhooks.
fn webhooks(webhooks: &settings::Webhooks) -> service::webhooks::Settings {
    let ranges = webhooks.allow_private_cidrs.iter();
    service::webhooks::Settings {
        allow_private: ranges
            .filter_map(|range| Cidr::new(range.address, range.prefix_bits))
            .collect(),
        retry_delays: RetryDelays::new(webhooks.retry_delays.clone()),
        timeout: webhooks.timeout,
        headers: HeaderStyle {
            prefixes: webhooks.header_prefixes.iter().map(settings::Prefix::names).collect(),
            timestamp: match webhooks.timestamp_format {
                TimestampFormat::Iso => notify::signature::TimestampFormat::Iso,
                TimestampFormat::EpochMs => notify::signature::TimestampFormat::EpochMs,
            },
        },
        ..service::webhooks::Settings::default()
    }
}

/// When the market is open.
#[must_use]
pub fn calendar(market: &Market) -> Calendar {
    let calendar = Calendar::nyse().with_extra_closures(market.extra_closures.iter().copied());
    if market.always_open {
        calendar.always_open()
    } else {
        calendar
    }
}

/// What the settings say about how people come to accounts.
fn identity(settings: &Settings) -> service::identity::Settings {
    let auth = &settings.auth;
    // What goes to the outbox reaches nobody who could follow a link.
    let is_mail_sent = settings.email.transport == EmailTransport::Smtp;
    service::identity::Settings {
        require_email_confirmation: auth.require_email_confirmation.unwrap_or(is_mail_sent),
        is_registration_closed: !auth.allow_registration,
    }
}

/// Where people reach the service: where it listens, unless they are told another address.
fn public_url(settings: &Settings) -> String {
    let server = &settings.server;
    let shown = server.public_url.as_ref().map(ToString::to_string);
    shown.unwrap_or_else(|| format!("http://{}", server.listen))
}

/// What the settings say about the service.
///
/// # Errors
/// If a file that they name cannot be read.
pub fn service_settings(settings: &Settings) -> anyhow::Result<service::Settings> {
    let market = &settings.market;
    Ok(service::Settings {
        calendar: calendar(market),
        engine: alerts::engine::Settings {
            buzz: BuzzLevels {
                rising_ratio: market.buzz_rising_ratio,
                rising_mentions: market.buzz_rising_mentions,
                falling_ratio: market.buzz_falling_ratio,
                falling_base: market.buzz_falling_base,
            },
            stale_after: stale_after(settings),
        },
        benchmark: market.benchmark,
        missing_feeds: missing_feeds(settings),
        follow_every: FOLLOW_EVERY,
        compare_every: COMPARE_EVERY,
        webhooks: webhooks(&settings.webhooks),
        public_url: public_url(settings),
        identity: identity(settings),
        messages: messages::settings(settings)?,
        analyst: analyst::settings(&settings.analyst),
    })
}

/// After how long without a quote a stock's quotes are stale.
fn stale_after(settings: &Settings) -> SignedDuration {
    match settings.market.source {
        SourceKind::Providers => sources::stale_after(settings),
        SourceKind::Simulated | SourceKind::File | SourceKind::Push => settings.market.stale_after,
    }
}

/// The kinds of data that cannot come: those that a data folder has no file of, or that no provider is asked for. Alerts that
/// need them say so. What is pushed can be of any kind, and the simulated market has all.
fn missing_feeds(settings: &Settings) -> Vec<Feed> {
    match (settings.market.source, &settings.market.data_dir) {
        (SourceKind::Providers, _) => sources::missing_feeds(&settings.sources),
        (SourceKind::File, Some(dir)) => missing_files(dir),
        (SourceKind::File, None) | (SourceKind::Simulated | SourceKind::Push, _) => Vec::new(),
    }
}

/// What a data folder has no file of.
fn missing_files(dir: &Path) -> Vec<Feed> {
    let is_there = |name: &str| [name, &format!("{name}.gz")].iter().any(|name| dir.join(name).exists());
    FILES
        .iter()
        .filter(|(name, _)| !is_there(name))
        .map(|(_, feed)| *feed)
        .collect()
}

/// Which file of a data folder has which kind of data. Prices are not among them: without them nothing is judged.
const FILES: &[(&str, Feed)] = &[
    ("fundamentals.csv", Feed::Fundamentals),
    ("earnings.csv", Feed::Earnings),
    ("dividends.csv", Feed::Dividends),
    ("insiders.csv", Feed::Insiders),
    ("mentions.csv", Feed::Mentions),
];

/// An instant as it is shown: RFC 3339 in UTC with milliseconds.
#[must_use]
pub fn timestamp(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_folder_lacks_what_it_has_no_file_of() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["fundamentals.csv.gz", "earnings.csv", "insiders.csv"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let path = dir.path().display().to_string();
        let source = |kind: &str| {
            let variables = [("SOURCE", kind), ("DATA_DIR", &path)];
            let variables = variables.map(|(name, value)| (format!("BELLWETHER_MARKET__{name}"), value.to_owned()));
            missing_feeds(&Settings::load(None, variables).unwrap())
        };
        assert_eq!(source("file"), [Feed::Dividends, Feed::Mentions]);
        assert_eq!(source("push"), []);
    }

    #[test]
    fn a_market_that_is_always_open_is_open_on_a_sunday() {
        let sunday = "2024-03-10T15:00:00Z".parse().unwrap();
        let opened = |always: &str| {
            let variable = ("BELLWETHER_MARKET__ALWAYS_OPEN".to_owned(), always.to_owned());
            let settings = Settings::load(None, [variable]).unwrap();
            calendar(&settings.market).session_at(sunday).is_some()
        };
        assert!(opened("true") && !opened("false"));
    }

    #[test]
    fn instants_are_shown_with_milliseconds() {
        assert_eq!(timestamp(Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }
}
