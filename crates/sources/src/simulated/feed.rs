//! The simulated market as a task that sends what becomes known.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use tokio::sync::mpsc;

use super::market::{Known, Market, Options};
use crate::{Clock, Delivery, FeedSet, Missed};

/// The kinds of data that the simulated market has: all.
#[must_use]
pub const fn feeds() -> FeedSet {
    FeedSet::ALL
}

/// Sends the market's past up to now, and then what becomes known, at the pace of `options`; ends when nobody
/// receives any more.
///
/// Who receives too slowly is not sent more and more: the market steps over the instants that it is late for.
pub async fn run(
    options: Options,
    calendar: Calendar,
    known: Option<Known>,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<Delivery>,
) {
    let now = clock.now();
    // Two years of many companies take their time.
    let begin = tokio::task::spawn_blocking(move || Market::begin(options, &calendar, known.as_ref(), now));
    let (mut market, past) = match begin.await {
        Ok(begun) => begun,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The program is about to end.
            Err(_) => return,
        },
    };
    tracing::info!(deliveries = past.len(), "the simulated market begins");
    for delivery in past {
        if sender.send(delivery).await.is_err() {
            return;
        }
    }
    loop {
        let due = next(clock.now(), options.pace);
        tokio::select! {
            () = clock.sleep_until(due) => {}
            () = sender.closed() => return,
        }
        let at = clock.now();
        let batch = market.step(at);
        let delivery = Delivery {
            at,
            backfill: false,
            batch,
            missed: Missed::default(),
        };
        if !delivery.batch.is_empty() && sender.send(delivery).await.is_err() {
            return;
        }
    }
}

/// The first whole multiple of `pace` after `now`.
fn next(now: Timestamp, pace: SignedDuration) -> Timestamp {
    let pace = pace.as_micros().clamp(1_000, 86_400_000_000);
    let pace = i64::try_from(pace).unwrap_or(1_000_000);
    let due = now
        .as_microsecond()
        .div_euclid(pace)
        .saturating_add(1)
        .saturating_mul(pace);
    Timestamp::from_microsecond(due).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_due_at_multiples_of_the_pace() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let due = |now: &str, seconds| next(at(now), SignedDuration::from_secs(seconds));
        assert_eq!(due("2024-03-08T15:00:00.4Z", 1), at("2024-03-08T15:00:01Z"));
        assert_eq!(due("2024-03-08T15:00:00Z", 1), at("2024-03-08T15:00:01Z"));
        assert_eq!(due("2024-03-08T15:00:07Z", 60), at("2024-03-08T15:01:00Z"));
        assert_eq!(due("2024-03-08T15:00:00Z", 0), at("2024-03-08T15:00:00.001Z"));
    }
}
