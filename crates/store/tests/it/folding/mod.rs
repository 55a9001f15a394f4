//! Folding: many firings for one channel become one message.

mod holds;
mod results;

use serde_json::json;
use store::Store;
use store::model::{
    ChannelThrottle, ClaimedMessage, EventId, MessageChannel, MessageContent, MessageReceipt, NotificationChannel,
    NotificationChannelType, QuotaDecision, SettlementDecision,
};
use testkit::on_both_databases;

use crate::escalations::acknowledge;
use crate::firings::{fire, firing};
use crate::message_limits::{UNLIMITED, quota_request};
use crate::messages::settled;
use crate::notification_channels::{channel, insert};
use crate::queue::claim_query;
use crate::support::{add, alert_of, asked, at, open, uuid, with_accounts};

const SERVICE: MessageChannel = MessageChannel::Service;
/// When all alerts fire, in seconds.
const FIRED: i64 = 100;

/// A store with an account that has the Slack channel 10, which gets at most three separate messages within a minute.
async fn with_channel(database: &testkit::Database) -> Store {
    let three = ChannelThrottle {
        burst_limit: Some(3),
        ..ChannelThrottle::default()
    };
    with_throttled_channel(database, three).await
}

async fn with_throttled_channel(database: &testkit::Database, throttle: ChannelThrottle) -> Store {
    let store = with_accounts(database, 1).await;
    let slack = channel(1, 10, NotificationChannelType::Slack);
    insert(&store, NotificationChannel { throttle, ..slack }).await;
    store
}

/// Fires new alerts of the channel 10 at [`FIRED`]. Returns their events.
async fn fire_alerts(store: &Store, ids: std::ops::Range<u128>) -> Vec<EventId> {
    fire_with(store, ids, FIRED, json!({"channels": [uuid(10)]})).await
}

async fn fire_with(store: &Store, ids: std::ops::Range<u128>, seconds: i64, more: serde_json::Value) -> Vec<EventId> {
    let mut firings = Vec::new();
    for id in ids {
        let mut body = json!({"threshold": id});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let alert = alert_of(1, id, asked("AAPL", "price_above", &body), 0);
        add(store, &alert).await;
        firings.push(firing(&alert, seconds));
    }
    let events = firings.iter().map(|firing| firing.event).collect();
    fire(store, firings).await;
    events
}

/// Claims what is due, two messages of each endpoint.
async fn claim(store: &Store, seconds: i64, lease: i64) -> Vec<ClaimedMessage> {
    claim_by(store, SERVICE, seconds, lease).await
}

async fn claim_by(store: &Store, by: MessageChannel, seconds: i64, lease: i64) -> Vec<ClaimedMessage> {
    let query = claim_query(store, by, seconds, lease, 2).await;
    store.claim_messages(by, query, 10).await.unwrap()
}

/// Claims all that is due, admits it and lets it be accepted. Returns the number of firings in each message.
async fn send_due(store: &Store, seconds: i64) -> Vec<u64> {
    let mut sent = Vec::new();
    for lease in 1.. {
        let claimed = claim(store, seconds, lease).await;
        if claimed.is_empty() {
            break;
        }
        sent.extend(claimed.iter().map(firings_in));
        send(store, SERVICE, &claimed, seconds).await;
    }
    sent
}

async fn send(store: &Store, by: MessageChannel, claimed: &[ClaimedMessage], seconds: i64) {
    admit(store, by, claimed, seconds).await;
    settle(store, by, claimed, SettlementDecision::Delivered, "sent", seconds).await;
}

async fn admit(store: &Store, by: MessageChannel, claimed: &[ClaimedMessage], seconds: i64) {
    let requests = claimed
        .iter()
        .map(|message| quota_request(message, "slack", None))
        .collect();
    let decisions = store
        .admit_messages(by, requests, UNLIMITED, at(seconds))
        .await
        .unwrap();
    assert!(decisions.iter().all(|decision| *decision == QuotaDecision::Granted));
}

async fn settle(
    store: &Store,
    by: MessageChannel,
    claimed: &[ClaimedMessage],
    decision: SettlementDecision,
    outcome: &str,
    seconds: i64,
) {
    let settlements = claimed
        .iter()
        .map(|message| settled(message, outcome, decision))
        .collect();
    store.settle_messages(by, settlements, at(seconds)).await.unwrap();
}

/// The number of firings that a message lists or is about.
fn firings_in(message: &ClaimedMessage) -> u64 {
    match &message.content {
        MessageContent::Firings(firings) => firings.total,
        MessageContent::Firing(_) => 1,
        MessageContent::Sealed(_) => 0,
    }
}

/// The state of each firing's message: its status, its outcome, and whether another message lists it.
async fn states(store: &Store, events: &[EventId]) -> Vec<(String, Option<String>, bool)> {
    let mut states = Vec::new();
    for event in events {
        let receipts: Vec<MessageReceipt> = store.receipts_of_events(&[*event]).await.unwrap();
        let of = |receipt: MessageReceipt| (receipt.sent.status, receipt.sent.outcome, receipt.folded_into.is_some());
        states.extend(receipts.into_iter().map(of));
    }
    states
}

on_both_databases! {
    async fn burst_becomes_one_message_with_all_firings(database) {
        let store = with_channel(database).await;
        let events = fire_alerts(&store, 1..61).await;
        let claimed = claim(&store, FIRED, 1).await;
        assert_eq!(claimed.len(), 1);
        let MessageContent::Firings(firings) = &claimed[0].content else { panic!("{:?}", claimed[0].content) };
        assert_eq!((firings.total, firings.listed.len()), (60, 50));
        assert_eq!(claim(&store, FIRED, 2).await, []);

        send(&store, SERVICE, &claimed, FIRED).await;
        let receipts = store.receipts_of_events(&events).await.unwrap();
        assert_eq!(receipts.len(), 60);
        for receipt in receipts {
            let message = receipt.folded_into.unwrap_or(receipt.sent.id);
            assert_eq!((message, receipt.sent.status.as_str()), (claimed[0].id, "sent"));
            assert_eq!((receipt.attempts, receipt.claimed_at), (1, Some(at(FIRED))));
        }
        assert_eq!(store.firings_of_message(claimed[0].id).await.unwrap(), events);
    }

    async fn firings_up_to_the_burst_limit_are_separate(database) {
        let store = with_channel(database).await;
        fire_alerts(&store, 1..4).await;
        assert_eq!(send_due(&store, FIRED).await, [1, 1, 1]);
    }

    async fn default_burst_limit_counts_for_the_accounts_own_address(database) {
        let store = with_accounts(database, 1).await;
        fire_with(&store, 1..11, FIRED, json!({})).await;
        let by_mail = MessageChannel::Email;
        assert_eq!(claim_by(&store, by_mail, FIRED, 1).await.len(), 2);
        fire_with(&store, 11..12, FIRED, json!({})).await;
        let claimed = claim_by(&store, by_mail, FIRED, 2).await;
        assert_eq!(claimed.iter().map(firings_in).collect::<Vec<_>>(), [9]);
    }

    async fn what_was_sent_within_a_minute_counts(database) {
        let store = with_channel(database).await;
        fire_alerts(&store, 1..3).await;
        assert_eq!(send_due(&store, FIRED).await, [1, 1]);
        fire_alerts(&store, 3..5).await;
        assert_eq!(send_due(&store, FIRED + 59).await, [2]);
        fire_alerts(&store, 5..7).await;
        assert_eq!(send_due(&store, FIRED + 119).await, [1, 1]);
    }

    async fn what_comes_after_a_folded_message_waits_for_the_end_of_its_minute(database) {
        let store = with_channel(database).await;
        fire_alerts(&store, 1..5).await;
        assert_eq!(send_due(&store, FIRED).await, [4]);
        let late = fire_alerts(&store, 5..6).await;
        assert_eq!(send_due(&store, FIRED + 1).await, [0; 0]);
        assert_eq!(states(&store, &late).await, [("pending".to_owned(), Some("burst".to_owned()), false)]);
        assert_eq!(send_due(&store, FIRED + 59).await, [0; 0]);
        assert_eq!(send_due(&store, FIRED + 60).await, [1]);
    }

    async fn claim_of_a_process_that_died_is_repeated_with_the_same_firings(database) {
        let store = with_channel(database).await;
        let events = fire_alerts(&store, 1..6).await;
        let lost = claim(&store, FIRED, 1).await;
        let again = claim(&store, FIRED + 60, 2).await;
        assert_eq!(again.len(), 1);
        assert_eq!((again[0].id, firings_in(&again[0])), (lost[0].id, 5));
        send(&store, SERVICE, &again, FIRED + 60).await;
        assert!(states(&store, &events).await.iter().all(|state| state.0 == "sent"));
    }

    async fn lost_claim_and_newer_firings_become_one_message(database) {
        let store = with_channel(database).await;
        let mut events = fire_alerts(&store, 1..6).await;
        claim(&store, FIRED, 1).await;
        events.extend(fire_alerts(&store, 6..12).await);
        assert_eq!(send_due(&store, FIRED + 60).await, [11]);
        let sent = states(&store, &events).await;
        assert_eq!(sent.iter().filter(|state| state.0 == "sent" && state.2).count(), 10);
    }

    async fn two_processes_together_respect_the_burst_limit(database) {
        let store = with_channel(database).await;
        let other = open(database).await;
        fire_alerts(&store, 1..4).await;
        let claims = |store: Store, lease| async move { claim(&store, FIRED, lease).await };
        let (one, two) = tokio::join!(claims(store.clone(), 1), claims(other.clone(), 2));
        fire_alerts(&store, 4..9).await;
        let (three, four) = tokio::join!(claims(store.clone(), 3), claims(other, 4));
        let messages: Vec<u64> = one.iter().chain(&two).chain(&three).chain(&four).map(firings_in).collect();
        assert_eq!(messages.iter().sum::<u64>(), 8, "{messages:?}");
        assert!(messages.len() <= 4, "{messages:?}");
    }

    async fn acknowledged_firing_is_not_folded(database) {
        let store = with_channel(database).await;
        let events = fire_alerts(&store, 1..6).await;
        acknowledge(&store, events[1], FIRED).await;
        assert_eq!(send_due(&store, FIRED).await, [4]);
    }

    async fn acknowledged_firing_does_not_stop_the_message_that_lists_others(database) {
        let store = with_channel(database).await;
        let events = fire_alerts(&store, 1..6).await;
        let claimed = claim(&store, FIRED, 1).await;
        admit(&store, SERVICE, &claimed, FIRED).await;
        settle(&store, SERVICE, &claimed, SettlementDecision::Retry { at: at(FIRED + 10) }, "refused", FIRED).await;
        acknowledge(&store, events[0], FIRED + 5).await;
        let again = claim(&store, FIRED + 10, 2).await;
        assert_eq!((again.len(), again[0].is_acknowledged, firings_in(&again[0])), (1, false, 5));
    }
}
