//! `bellwether watch`: prints the firings of an account as they come.
//!
//! The firings since the last one are read again and again, so the command continues where it was after the server or the network was
//! gone: nothing is lost, and nothing is printed twice.

use std::collections::HashSet;
use std::time::Duration;

use clap::Args;
use client::{ClientError, RemoteFiring};
use clock::Clock;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use uuid::Uuid;

use super::super::{CommandError, print, say};
use super::connection::{ConnectionArgs, block_on};
use crate::clock::SystemClock;

/// How far before the last firing the next read begins: several processes may write firings in another order than that of their times.
const OVERLAP: SignedDuration = SignedDuration::from_secs(60);
/// The first pause while the server cannot be reached; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause while the server cannot be reached.
const MAX_PAUSE: Duration = Duration::from_secs(15);

#[derive(Args, Debug)]
pub(in crate::cli) struct WatchArgs {
    /// Print each firing as a JSON line
    #[arg(long)]
    json: bool,
    /// Begin with the firings since this time, such as 2026-03-02T15:04:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// The seconds between two reads. Each of them counts as a request of your plan
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,
    /// Stop after this number of firings
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Prints firings until the command is stopped.
pub(super) fn run(args: &WatchArgs) -> Result<(), CommandError> {
    let client = args.connection.client()?;
    block_on(async {
        let now = SystemClock.now();
        let mut cursor = WatchCursor::new(args.since, now);
        let mut printed = 0;
        let mut failures = 0;
        loop {
            let pause = match client.firings(Some(&cursor.since())).await {
                Ok(found) => {
                    if failures > 0 {
                        say!("connected again");
                    }
                    failures = 0;
                    for firing in cursor.take_new(found) {
                        print(&line(&firing, args.json))?;
                        printed += 1;
                        if args.count.is_some_and(|count| printed >= count) {
                            return Ok(());
                        }
                    }
                    Duration::from_secs(args.interval)
                }
                Err(error) => {
                    if failures == 0 {
                        say!("{error}; trying again");
                    }
                    failures += 1;
                    pause_after(&error, failures).ok_or(error)?
                }
            };
            tokio::time::sleep(pause).await;
        }
    })
}

/// Returns the pause after a failure that may pass; `None` for one that stays.
fn pause_after(error: &ClientError, failures: u32) -> Option<Duration> {
    let own = FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)))
        .min(MAX_PAUSE);
    match error {
        ClientError::Unreachable { .. } => Some(own),
        ClientError::Refused(refusal) if refusal.status == 429 || refusal.status >= 500 => {
            Some(refusal.retry_after_s.map_or(own, Duration::from_secs))
        }
        ClientError::InvalidUrl(_) | ClientError::Refused(_) | ClientError::UnexpectedResponse { .. } => None,
    }
}

fn line(firing: &RemoteFiring, is_json: bool) -> String {
    if is_json {
        return format!("{}\n", json!(firing));
    }
    let time = firing
        .timeline
        .committed_at
        .as_ref()
        .unwrap_or(&firing.timeline.received_at);
    format!("{time}  {:6}  {}\n", firing.symbol, firing.reason)
}

/// The firings that were seen, and the time from which the next read begins.
#[derive(Debug)]
struct WatchCursor {
    since: Timestamp,
    seen: HashSet<Uuid>,
    /// Whether the firings of the first read are old ones, which are not printed.
    skips_first: bool,
}

impl WatchCursor {
    /// Begins at an instant, or now. The clock of the server may differ, so the firings of the last minute are read, and not printed.
    fn new(since: Option<Timestamp>, now: Timestamp) -> Self {
        Self {
            since: since.unwrap_or_else(|| before(now)),
            seen: HashSet::new(),
            skips_first: since.is_none(),
        }
    }

    fn since(&self) -> String {
        format!("{:.3}", self.since)
    }

    /// Returns the firings that were not seen, oldest first. `found` are all since the cursor, newest first.
    fn take_new(&mut self, found: Vec<RemoteFiring>) -> Vec<RemoteFiring> {
        let newest = found
            .iter()
            .filter_map(|firing| firing.timeline.committed_at.as_ref()?.parse::<Timestamp>().ok())
            .max();
        let ids = found.iter().map(|firing| firing.id).collect();
        // Everything since the cursor was found, so what is missing now does not come again.
        let seen = std::mem::replace(&mut self.seen, ids);
        if let Some(newest) = newest {
            self.since = self.since.max(before(newest));
        }
        if std::mem::take(&mut self.skips_first) {
            return Vec::new();
        }
        found
            .into_iter()
            .rev()
            .filter(|firing| !seen.contains(&firing.id))
            .collect()
    }
}

fn before(instant: Timestamp) -> Timestamp {
    instant.saturating_sub(OVERLAP).unwrap_or(instant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firing(number: u128, second: i64) -> RemoteFiring {
        let at = format!("{:.3}", Timestamp::from_second(1_800_000_000 + second).unwrap());
        serde_json::from_value(json!({
            "id": Uuid::from_u128(number), "alert_id": Uuid::nil(), "symbol": "AAPL", "condition": "price_above", "threshold": 1,
            "trigger_price": 2, "reason": "r", "timeline": {"received_at": at, "committed_at": at},
        }))
        .unwrap()
    }

    fn ids(firings: &[RemoteFiring]) -> Vec<u128> {
        firings.iter().map(|firing| firing.id.as_u128()).collect()
    }

    #[test]
    fn each_firing_is_printed_once_and_in_order() {
        let mut cursor = WatchCursor::new(
            Some(Timestamp::from_second(1_800_000_000).unwrap()),
            Timestamp::UNIX_EPOCH,
        );
        assert_eq!(ids(&cursor.take_new(vec![firing(2, 5), firing(1, 3)])), [1, 2]);
        assert_eq!(ids(&cursor.take_new(vec![firing(2, 5), firing(1, 3)])), [0; 0]);
        // One that another process wrote later, with an earlier time.
        assert_eq!(
            ids(&cursor.take_new(vec![firing(4, 90), firing(2, 5), firing(3, 4), firing(1, 3)])),
            [3, 4]
        );
        assert_eq!(cursor.since(), "2027-01-15T08:00:30.000Z");
        assert_eq!(ids(&cursor.take_new(vec![firing(4, 90)])), [0; 0]);
        assert_eq!(ids(&cursor.take_new(vec![firing(5, 91), firing(4, 90)])), [5]);
    }

    #[test]
    fn without_a_time_only_new_firings_are_printed() {
        let mut cursor = WatchCursor::new(None, Timestamp::from_second(1_800_000_000).unwrap());
        assert_eq!(ids(&cursor.take_new(vec![firing(1, 3)])), [0; 0]);
        assert_eq!(ids(&cursor.take_new(vec![firing(2, 5), firing(1, 3)])), [2]);
    }

    #[test]
    fn failures_that_pass_are_waited_for() {
        let unreachable = ClientError::Unreachable {
            url: "a".to_owned(),
            cause: "b".to_owned(),
        };
        assert_eq!(pause_after(&unreachable, 1), Some(FIRST_PAUSE));
        assert_eq!(pause_after(&unreachable, 100), Some(MAX_PAUSE));
        assert_eq!(pause_after(&ClientError::InvalidUrl("a".to_owned()), 1), None);
    }
}
