//! The time, as the tests need it: the day in New York, and waiting with a deadline.

use std::future::Future;
use std::time::Duration;

use jiff::civil::Date;
use jiff::{Span, Timestamp};

pub use testkit::HANG_LIMIT;

/// How often is looked whether something has happened.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// The instant that it is.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever stands outside the program shares nothing with it but the machine's clock"
)]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// The day that it is in New York, which dates sessions.
#[must_use]
pub fn new_york_today() -> Date {
    now().in_tz("America/New_York").unwrap().date()
}

/// The day so many days before today in New York.
#[must_use]
pub fn days_ago(days: i64) -> Date {
    new_york_today() - Span::new().days(days)
}

/// Asks `look` again and again until it answers something.
///
/// # Panics
/// If it has not after [`HANG_LIMIT`].
pub async fn wait_for<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let mut tick = tokio::time::interval(LOOK_EVERY);
    let found = tokio::time::timeout(HANG_LIMIT, async {
        loop {
            tick.tick().await;
            if let Some(found) = look().await {
                return found;
            }
        }
    });
    found
        .await
        .unwrap_or_else(|_| panic!("{what}: has not happened within {HANG_LIMIT:?}"))
}
