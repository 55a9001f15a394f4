//! Benchmark: 100,000 firings of 500 channels become 500 digests.
//!
//! The firings are committed, held back until the digest, claimed as 500 messages and settled. Compares the processor time of all that
//! follows the commit with that of the commit, and measures the memory that it takes.
//!
//! ```sh
//! cargo bench -p store --bench digests
//! ```

#![allow(clippy::unwrap_used, reason = "a bench may fail so")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::json;
use store::model::{
    ChannelThrottle, ClaimQuery, ClaimedMessage, Digest, EvaluationCommit, Firing, MessageChannel, MessageContent,
    MessageLimits, MessageResult, QuotaRequest, Settlement, SettlementDecision, StoredAlert,
};
use store::{Store, StoreOptions};
use testkit::{Database, MemoryUsage};

use support::{at, channel, firing, insert_fixtures, is_measured, route_to};

const BY: MessageChannel = MessageChannel::Service;
/// When the alerts fire, and the next full hour, in seconds.
const FIRED: i64 = 1_001_000;
const HOUR: i64 = 1_003_600;
/// The largest growth of memory, in MiB.
const MAX_GROWTH: u64 = 64;
/// The maximum numbers of a claim, as those of the dispatcher.
const MAX_ENDPOINTS: usize = 256;
const MAX_PER_ENDPOINT: u32 = 16;
/// No limit applies.
const UNLIMITED: MessageLimits = MessageLimits {
    day_start: jiff::Timestamp::UNIX_EPOCH,
    month_start: jiff::Timestamp::UNIX_EPOCH,
    max_total: u32::MAX,
    max_account_messages: u32::MAX,
    max_firing_messages: u32::MAX,
    max_account_messages_per_recipient: u32::MAX,
    max_account_messages_per_account: u32::MAX,
    max_firing_messages_per_recipient: u32::MAX,
};

fn main() {
    let (firings, channels) = if is_measured() { (100_000, 500) } else { (200, 5) };
    testkit::run(async {
        let database = Database::sqlite();
        let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
        insert_fixtures(&store, 0..1_000, 0..0).await;
        for round in 0..firings / channels {
            insert_fixtures(&store, 0..0, round * 1_000..round * 1_000 + channels).await;
        }
        add_digests(&store, channels).await;
        let numbers: Vec<u64> = alerts_with_channel(firings, channels).collect();
        let committed = processor_time(commit(&store, &numbers)).await.1;
        let before = MemoryUsage::now();
        let (sent, folding) = processor_time(hold_and_send(&store)).await;
        let growth = sent.memory.anonymous.saturating_sub(before.anonymous) / (1024 * 1024);
        assert_eq!(sent.firings.iter().sum::<u64>(), firings, "each firing is in a digest");
        let ratio = folding.as_secs_f64() / committed.as_secs_f64();
        let found = format!(
            "{ratio:.2} times the processor time of their commit, goal at most 2 ({folding:.2?} against {committed:.2?}, {} messages)",
            sent.firings.len()
        );
        let what = format!("{firings} firings held back and sent in {channels} digests");
        testkit::print_goal(&what, &found, ratio <= 2.0 && sent.firings.len() as u64 == channels);
        let found = format!("{growth} MiB, goal at most {MAX_GROWTH}");
        testkit::print_goal("the memory for that", &found, growth <= MAX_GROWTH);
    });
}

/// Runs work and returns the processor time of this process.
async fn processor_time<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let before = testkit::processor_time();
    let value = work.await;
    (value, testkit::processor_time().saturating_sub(before))
}

/// Gives accounts a chat channel with an hourly digest, to which all of their firings go.
async fn add_digests(store: &Store, channels: u64) {
    let added = store.commit(channels, |&channels, unit| {
        Box::pin(async move {
            for number in 0..channels {
                let hourly = ChannelThrottle {
                    digest: Some(Digest::Hourly),
                    ..ChannelThrottle::default()
                };
                let channel = channel(number, hourly);
                unit.insert_notification_channel(&channel).await?;
                unit.set_notification_route(channel.account, route_to(&channel).as_ref())
                    .await?;
            }
            Ok(())
        })
    });
    added.await.unwrap();
}

/// The numbers of the alerts of the accounts with a channel.
fn alerts_with_channel(firings: u64, channels: u64) -> impl Iterator<Item = u64> {
    (0..firings / channels).flat_map(move |round| (0..channels).map(move |account| round * 1_000 + account))
}

/// Lets the alerts fire.
async fn commit(store: &Store, numbers: &[u64]) {
    let commit = EvaluationCommit {
        firings: numbers.iter().map(|number| firing(*number, at(FIRED))).collect(),
        ..EvaluationCommit::default()
    };
    let compose = |alert: &StoredAlert, firing: &Firing| {
        json!({"alert": {"symbol": alert.alert.symbol.as_str()}, "reason": firing.reason}).to_string()
    };
    let outcome = store.commit_evaluation(commit, Arc::new(compose)).await.unwrap();
    assert_eq!(outcome.firings.len(), numbers.len());
}

/// The firings of the messages, and the memory that they took.
#[derive(Default)]
struct Sent {
    /// The number of firings in each message.
    firings: Vec<u64>,
    memory: MemoryUsage,
}

/// Claims the messages, which holds them back, and sends them with the digest.
async fn hold_and_send(store: &Store) -> Sent {
    let mut sent = Sent::default();
    for (seconds, is_digest) in [(FIRED, false), (HOUR, true)] {
        for lease in 1.. {
            let claimed = claim(store, seconds, lease).await;
            if claimed.is_empty() && !is_due(store, seconds).await {
                break;
            }
            assert!(is_digest || claimed.is_empty(), "messages wait for the digest");
            sent.firings.extend(claimed.iter().map(firings_in));
            settle(store, claimed, seconds).await;
            sent.memory = sent.memory.max(MemoryUsage::now());
        }
    }
    sent
}

async fn is_due(store: &Store, seconds: i64) -> bool {
    let pending = store.pending_endpoints(BY, i64::MIN, u32::MAX).await.unwrap();
    pending.iter().any(|endpoint| endpoint.first_due <= at(seconds))
}

async fn claim(store: &Store, seconds: i64, lease: i64) -> Vec<ClaimedMessage> {
    let pending = store.pending_endpoints(BY, i64::MIN, u32::MAX).await.unwrap();
    let due = pending.iter().filter(|endpoint| endpoint.first_due <= at(seconds));
    let query = ClaimQuery {
        endpoints: due.map(|endpoint| endpoint.endpoint).take(MAX_ENDPOINTS).collect(),
        max_per_endpoint: MAX_PER_ENDPOINT,
        max_total: 1_000,
        now: at(seconds),
        until: at(seconds) + SignedDuration::from_mins(1),
        lease,
    };
    store.claim_messages(BY, query, 10).await.unwrap()
}

/// Admits messages and lets them be accepted.
async fn settle(store: &Store, claimed: Vec<ClaimedMessage>, seconds: i64) {
    let requests = claimed.iter().map(|message| QuotaRequest {
        seq: message.seq,
        lease: message.lease,
        recipient: message.endpoint.to_string(),
        account: message.account,
        kind: message.kind.clone(),
        quota: None,
    });
    store
        .admit_messages(BY, requests.collect(), UNLIMITED, at(seconds))
        .await
        .unwrap();
    let settlements = claimed.iter().map(|message| Settlement {
        seq: message.seq,
        lease: message.lease,
        decision: SettlementDecision::Delivered,
        result: MessageResult::of_outcome("sent"),
    });
    store
        .settle_messages(BY, settlements.collect(), at(seconds))
        .await
        .unwrap();
}

fn firings_in(message: &ClaimedMessage) -> u64 {
    match &message.content {
        MessageContent::Firings(firings) => firings.total,
        MessageContent::Firing(_) => 1,
        MessageContent::Sealed(_) => 0,
    }
}
