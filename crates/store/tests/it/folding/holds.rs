//! Digests, budgets and urgent alerts.

use jiff::civil::time;
use store::model::Digest;

use super::*;

/// 18:00 in Berlin, in seconds: the first full hour after the alerts fired.
const HOUR: i64 = 3_600;
/// 08:00 in Berlin on the next day, in seconds.
const MORNING: i64 = 15 * 3_600;

fn digest(digest: Digest) -> ChannelThrottle {
    ChannelThrottle {
        digest: Some(digest),
        ..ChannelThrottle::default()
    }
}

fn budget(daily_budget: u32) -> ChannelThrottle {
    ChannelThrottle {
        daily_budget: Some(daily_budget),
        ..ChannelThrottle::default()
    }
}

/// Changes the throttle of the channel 10.
async fn set_throttle(store: &Store, throttle: ChannelThrottle, seconds: i64) {
    let id = channel(1, 10, NotificationChannelType::Slack).id;
    let found = store
        .notification_channel(store::model::AccountId(uuid(1)), id)
        .await
        .unwrap()
        .unwrap();
    let changed = NotificationChannel { throttle, ..found };
    let transaction = store.commit(changed, move |channel, unit| {
        Box::pin(async move {
            unit.update_notification_channel(channel).await?;
            unit.release_held_messages(channel, at(seconds)).await
        })
    });
    transaction.await.unwrap();
}

async fn holds(store: &Store, events: &[EventId]) -> Vec<Option<String>> {
    states(store, events).await.into_iter().map(|state| state.1).collect()
}

on_both_databases! {
    async fn hourly_digest_is_one_message_of_all_firings_of_the_hour(database) {
        let store = with_throttled_channel(database, digest(Digest::Hourly)).await;
        let first = fire_alerts(&store, 1..2).await;
        assert_eq!(send_due(&store, FIRED).await, [0; 0]);
        assert_eq!(holds(&store, &first).await, [Some("digest".to_owned())]);
        fire_with(&store, 2..4, FIRED + 500, json!({"channels": [uuid(10)]})).await;
        assert_eq!(send_due(&store, HOUR - 1).await, [0; 0]);
        assert_eq!(send_due(&store, HOUR).await, [3]);
        fire_with(&store, 4..5, HOUR, json!({"channels": [uuid(10)]})).await;
        assert_eq!(send_due(&store, HOUR + 120).await, [0; 0]);
        assert_eq!(send_due(&store, 2 * HOUR).await, [1]);
    }

    async fn daily_digest_follows_the_time_zone_of_the_account(database) {
        let store = with_throttled_channel(database, digest(Digest::Daily(time(17, 5, 0, 0)))).await;
        fire_alerts(&store, 1..3).await;
        assert_eq!(send_due(&store, 299).await, [0; 0]);
        assert_eq!(send_due(&store, 300).await, [2]);
    }

    async fn digest_that_is_removed_is_sent_at_once(database) {
        let store = with_throttled_channel(database, digest(Digest::Hourly)).await;
        fire_alerts(&store, 1..3).await;
        assert_eq!(send_due(&store, FIRED).await, [0; 0]);
        set_throttle(&store, ChannelThrottle::default(), FIRED + 10).await;
        assert_eq!(send_due(&store, FIRED + 10).await, [2]);
    }

    async fn digest_that_is_changed_holds_messages_until_its_new_time(database) {
        let store = with_throttled_channel(database, digest(Digest::Hourly)).await;
        fire_alerts(&store, 1..3).await;
        assert_eq!(send_due(&store, FIRED).await, [0; 0]);
        set_throttle(&store, digest(Digest::Daily(time(20, 0, 0, 0))), FIRED + 10).await;
        assert_eq!(send_due(&store, HOUR).await, [0; 0]);
        assert_eq!(send_due(&store, 3 * HOUR).await, [2]);
    }

    async fn surplus_of_the_daily_budget_is_one_message_in_the_morning(database) {
        let store = with_throttled_channel(database, budget(2)).await;
        let events = fire_alerts(&store, 1..6).await;
        assert_eq!(send_due(&store, FIRED).await, [1, 1]);
        let surplus = holds(&store, &events).await;
        assert_eq!(surplus.iter().filter(|hold| hold.as_deref() == Some("budget")).count(), 3);
        fire_with(&store, 6..7, HOUR, json!({"channels": [uuid(10)]})).await;
        assert_eq!(send_due(&store, HOUR).await, [0; 0]);
        assert_eq!(send_due(&store, MORNING - 1).await, [0; 0]);
        assert_eq!(send_due(&store, MORNING).await, [4]);
        // It counts for the new day.
        fire_with(&store, 7..9, MORNING + 120, json!({"channels": [uuid(10)]})).await;
        assert_eq!(send_due(&store, MORNING + 120).await, [1]);
    }

    async fn urgent_firing_is_not_held_by_digest_and_budget(database) {
        let throttle = ChannelThrottle { daily_budget: Some(1), ..digest(Digest::Hourly) };
        let store = with_throttled_channel(database, throttle).await;
        let urgent = json!({"channels": [uuid(10)], "urgent": true});
        fire_with(&store, 1..3, FIRED, urgent).await;
        fire_alerts(&store, 3..5).await;
        assert_eq!(send_due(&store, FIRED).await, [1, 1]);
        assert_eq!(send_due(&store, HOUR).await, [2]);
    }

    async fn urgent_firings_count_with_the_others_of_their_channel(database) {
        let store = with_channel(database).await;
        let urgent = json!({"channels": [uuid(10)], "urgent": true});
        fire_with(&store, 1..3, FIRED, urgent).await;
        fire_alerts(&store, 3..5).await;
        let query = claim_query(&store, SERVICE, FIRED, 1, 100).await;
        let mut sent: Vec<u64> = store.claim_messages(SERVICE, query, 10).await.unwrap().iter().map(firings_in).collect();
        sent.sort_unstable();
        assert_eq!(sent, [1, 1, 2]);
    }

    async fn digest_does_not_delay_the_messages_after_it(database) {
        let store = with_throttled_channel(database, budget(1)).await;
        fire_alerts(&store, 1..3).await;
        assert_eq!(send_due(&store, FIRED).await, [1]);
        assert_eq!(send_due(&store, MORNING).await, [1]);
        set_throttle(&store, ChannelThrottle::default(), MORNING).await;
        fire_with(&store, 3..4, MORNING + 1, json!({"channels": [uuid(10)]})).await;
        assert_eq!(send_due(&store, MORNING + 1).await, [1]);
    }

    async fn time_for_an_acknowledgement_begins_when_the_digest_is_sent(database) {
        let store = with_throttled_channel(database, digest(Digest::Hourly)).await;
        insert(&store, channel(1, 11, NotificationChannelType::Ntfy)).await;
        let route = json!({"channels": [uuid(10), uuid(11)], "policy": "failover", "ack_timeout": "2h"});
        fire_with(&store, 1..3, FIRED, route).await;
        assert_eq!(send_due(&store, FIRED).await, [0; 0]);
        assert_eq!(store.next_escalation().await.unwrap(), Some(at(3 * HOUR)));
        assert_eq!(send_due(&store, HOUR).await, [2]);
        assert_eq!(store.advance_escalations(at(3 * HOUR - 1), 100).await.unwrap(), 0);
        assert_eq!(store.advance_escalations(at(3 * HOUR), 100).await.unwrap(), 2);
    }

    async fn urgent_firings_are_folded_among_themselves(database) {
        let store = with_channel(database).await;
        let urgent = json!({"channels": [uuid(10)], "urgent": true});
        fire_with(&store, 1..5, FIRED, urgent.clone()).await;
        fire_alerts(&store, 5..9).await;
        assert_eq!(send_due(&store, FIRED).await.iter().filter(|firings| **firings == 4).count(), 1);
        // One that comes later does not wait.
        fire_with(&store, 9..10, FIRED, urgent).await;
        assert_eq!(send_due(&store, FIRED + 1).await, [1]);
        assert_eq!(send_due(&store, FIRED + 60).await, [4]);
    }
}
