//! The rooms put together: from settings to a store, a clock, chance and a service.

use std::sync::Arc;

use alerts::engine::BuzzLevels;
use anyhow::Context;
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use service::{Chance, Ports};
use store::Store;

use crate::clock::SystemClock;
use crate::settings::{Market, Settings};

/// How often what other processes changed in the database is looked for: an administrator's new plan, say.
const FOLLOW_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// How often the engine's alerts are compared with the database's, should a change have been missed.
const COMPARE_EVERY: SignedDuration = SignedDuration::from_mins(5);

/// Opens the database and takes the machine's time and chance.
///
/// # Errors
/// If the database cannot be opened, or the operating system has no chance to give.
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
    let generator = ChaCha20Rng::try_from_os_rng().context("the operating system gives no random numbers")?;
    Ok(Ports {
        store,
        clock: Arc::new(SystemClock),
        chance: Arc::new(Chance::new(Box::new(generator))),
    })
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

/// What the settings say about the service.
#[must_use]
pub fn service_settings(settings: &Settings) -> service::Settings {
    let market = &settings.market;
    service::Settings {
        calendar: calendar(market),
        engine: alerts::engine::Settings {
            buzz: BuzzLevels {
                rising_ratio: market.buzz_rising_ratio,
                rising_mentions: market.buzz_rising_mentions,
                falling_ratio: market.buzz_falling_ratio,
                falling_base: market.buzz_falling_base,
            },
            stale_after: market.stale_after,
        },
        missing_feeds: Vec::new(),
        follow_every: FOLLOW_EVERY,
        compare_every: COMPARE_EVERY,
    }
}

/// An instant as it is shown: RFC 3339 in UTC with milliseconds.
#[must_use]
pub fn timestamp(at: Timestamp) -> String {
    format!("{at:.3}")
}
