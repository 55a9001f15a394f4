//! Time in tests: the date in New York, and waiting with a deadline.

use std::future::Future;
use std::time::Duration;

use jiff::civil::Date;
use jiff::{Span, Timestamp};

pub use testkit::HANG_LIMIT;

/// Interval between two checks of an awaited condition.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Returns the current time.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "black-box tests share only the machine's clock with the service"
)]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns today's date in New York, the date of the current session.
#[must_use]
pub fn new_york_today() -> Date {
    now().in_tz("America/New_York").unwrap().date()
}

/// Returns the date `days` days before today in New York.
#[must_use]
pub fn days_ago(days: i64) -> Date {
    new_york_today() - Span::new().days(days)
}

/// Calls `poll` repeatedly until it returns a value.
///
/// # Panics
/// If there is no value within [`HANG_LIMIT`].
pub async fn wait_for<T, F: Future<Output = Option<T>>>(description: &str, mut poll: impl FnMut() -> F) -> T {
    let mut tick = tokio::time::interval(POLL_INTERVAL);
    let found = tokio::time::timeout(HANG_LIMIT, async {
        loop {
            tick.tick().await;
            if let Some(found) = poll().await {
                return found;
            }
        }
    });
    found
        .await
        .unwrap_or_else(|_| panic!("{description}: not within {HANG_LIMIT:?}"))
}
