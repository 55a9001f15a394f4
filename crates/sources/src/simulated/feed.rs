//! The task that sends the data of the simulated market.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use tokio::sync::mpsc;

use super::market::{SavedMarket, SimulatedMarket, SimulationConfig};
use crate::{FeedSet, MarketUpdate};
use clock::Clock;

/// Returns the kinds of data of the simulated market: all.
#[must_use]
pub const fn feeds() -> FeedSet {
    FeedSet::ALL
}

/// Sends the market's history until now, and then new data at the pace of `config`. Ends when the receiver is dropped.
///
/// With a slow receiver, the market skips the instants that it is late for.
pub async fn run(
    config: SimulationConfig,
    calendar: Calendar,
    saved: Option<SavedMarket>,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<MarketUpdate>,
) {
    let now = clock.now();
    // The history of many companies takes a while to compute.
    let begin = tokio::task::spawn_blocking(move || SimulatedMarket::begin(config, &calendar, saved.as_ref(), now));
    let (mut market, past) = match begin.await {
        Ok(begun) => begun,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down.
            Err(_) => return,
        },
    };
    tracing::info!(updates = past.len(), "the simulated market has started");
    for update in past {
        if sender.send(update).await.is_err() {
            return;
        }
    }
    loop {
        let due = next(clock.now(), config.pace);
        tokio::select! {
            () = clock.sleep_until(due) => {}
            () = sender.closed() => return,
        }
        let at = clock.now();
        let batch = market.step(at);
        if !batch.is_empty() && sender.send(MarketUpdate::new(at, batch)).await.is_err() {
            return;
        }
    }
}

/// Returns the first multiple of `pace` after `now`.
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
