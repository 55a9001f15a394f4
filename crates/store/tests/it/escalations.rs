//! Routes of firings: which channels get a message, and when the next one does.

use serde_json::{Value, json};
use store::Store;
use store::model::{
    AccountId, Acknowledgement, ClaimQuery, ClaimedMessage, EventId, MessageChannel, MessageDestination, MessageId,
    MessageReceipt, MessageResult, NotificationChannel, NotificationChannelId, NotificationChannelType, Settlement,
    SettlementDecision, Webhook,
};
use testkit::on_both_databases;

use crate::deliveries::{add_webhook, webhook};
use crate::firings::{fire, firing};
use crate::notification_channels::{channel, insert};
use crate::support::{add, alert_of, asked, at, open, uuid, with_accounts};

pub(crate) const SERVICE: MessageChannel = MessageChannel::Service;

/// A store with an account that has the channels 10 (Slack), 11 (ntfy), 12 (a verified address) and 13 (its webhook 20).
pub(crate) async fn with_channels(database: &testkit::Database) -> Store {
    let store = with_accounts(database, 2).await;
    add_webhook(&store, &webhook(20, 1)).await;
    insert(&store, channel(1, 10, NotificationChannelType::Slack)).await;
    insert(&store, channel(1, 11, NotificationChannelType::Ntfy)).await;
    let email = channel(1, 12, NotificationChannelType::Email);
    insert(
        &store,
        NotificationChannel {
            verified_at: Some(at(0)),
            ..email
        },
    )
    .await;
    let by_webhook = channel(1, 13, NotificationChannelType::Webhook);
    insert(
        &store,
        NotificationChannel {
            webhook: Some(webhook(20, 1).id),
            ..by_webhook
        },
    )
    .await;
    store
}

/// Fires an alert with a routing at second 100. Returns its event.
pub(crate) async fn fire_with(store: &Store, id: u128, routing: Value) -> EventId {
    let mut body = json!({"threshold": id});
    body.as_object_mut()
        .unwrap()
        .extend(routing.as_object().cloned().unwrap());
    let alert = alert_of(1, id, asked("AAPL", "price_above", &body), 0);
    add(store, &alert).await;
    let firing = firing(&alert, 100);
    let event = firing.event;
    fire(store, vec![firing]).await;
    event
}

pub(crate) fn ids(channels: &[u128]) -> Vec<Value> {
    channels.iter().map(|id| json!(uuid(*id))).collect()
}

/// The messages of an event: the channel of each (0 for the account's own address), and its status.
pub(crate) async fn messages(store: &Store, event: EventId) -> Vec<(u128, String)> {
    let receipts: Vec<MessageReceipt> = store.receipts_of_events(&[event]).await.unwrap();
    let of = |receipt: &MessageReceipt| {
        assert_eq!(receipt.event, Some(event));
        let channel = receipt.sent.routed_to.as_ref().map_or(0, |route| route.id.0.as_u128());
        (channel, receipt.sent.status.clone())
    };
    receipts.iter().map(of).collect()
}

pub(crate) fn pending(channels: &[u128]) -> Vec<(u128, String)> {
    channels
        .iter()
        .map(|channel| (*channel, "pending".to_owned()))
        .collect()
}

/// Claims all due messages of a channel.
pub(crate) async fn claim(store: &Store, channel: MessageChannel, seconds: i64, lease: i64) -> Vec<ClaimedMessage> {
    let pending = store.pending_endpoints(channel, i64::MIN, 100).await.unwrap();
    let query = ClaimQuery {
        endpoints: pending.iter().map(|pending| pending.endpoint).collect(),
        max_per_endpoint: 100,
        max_total: 100,
        now: at(seconds),
        until: at(seconds + 60),
        lease,
    };
    store.claim_messages(channel, query, u32::MAX).await.unwrap()
}

pub(crate) async fn settle(
    store: &Store,
    channel: MessageChannel,
    claimed: &ClaimedMessage,
    decision: SettlementDecision,
    seconds: i64,
) {
    let settlement = Settlement {
        seq: claimed.seq,
        lease: claimed.lease,
        decision,
        result: MessageResult::of_outcome("quiet_hours"),
    };
    store
        .settle_messages(channel, vec![settlement], at(seconds))
        .await
        .unwrap();
}

/// Claims the only due message to a service and lets it fail for good.
pub(crate) async fn fail_service(store: &Store, seconds: i64) {
    let claimed = claim(store, SERVICE, seconds, seconds).await;
    settle(store, SERVICE, &claimed[0], SettlementDecision::Failed, seconds).await;
}

pub(crate) async fn acknowledge(store: &Store, event: EventId, seconds: i64) {
    let acknowledgement = Acknowledgement {
        at: at(seconds),
        by: "ann@example.com".to_owned(),
        via: "slack".to_owned(),
    };
    let transaction = store.commit((event, acknowledgement), |(event, acknowledgement), unit| {
        Box::pin(unit.acknowledge_firing(AccountId(uuid(1)), *event, acknowledgement))
    });
    assert!(transaction.await.unwrap().unwrap().is_first);
}

async fn set_route(store: &Store, channels: &[u128]) {
    let body = json!({"channels": ids(channels)});
    let route = alerts::routing::parse_route(&body).unwrap();
    let transaction = store.commit(route, |route, unit| {
        Box::pin(unit.set_notification_route(AccountId(uuid(1)), route.as_ref()))
    });
    transaction.await.unwrap();
}

pub(crate) async fn change_channel(store: &Store, id: u128, change: impl Fn(&mut NotificationChannel)) {
    let found = store
        .notification_channel(AccountId(uuid(1)), NotificationChannelId(uuid(id)))
        .await;
    let mut channel = found.unwrap().unwrap();
    change(&mut channel);
    let transaction = store.commit(channel, |channel, unit| {
        Box::pin(unit.update_notification_channel(channel))
    });
    transaction.await.unwrap();
}

pub(crate) async fn delete_channel(store: &Store, id: u128) {
    let transaction = store.commit(id, |id, unit| {
        Box::pin(unit.delete_notification_channel(AccountId(uuid(1)), NotificationChannelId(uuid(*id)), at(0)))
    });
    assert!(transaction.await.unwrap());
}

on_both_databases! {
    async fn policy_all_creates_one_message_for_each_channel(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[11, 10, 12, 13])})).await;
        // The webhook gets its delivery.
        assert_eq!(messages(&store, event).await, pending(&[11, 10, 12]));
        assert_eq!(store.next_escalation().await.unwrap(), None);
        let claimed = claim(&store, MessageChannel::Email, 100, 1).await;
        let MessageDestination::Channel(channel) = &claimed[0].destination else { panic!("{claimed:?}") };
        assert_eq!((channel.id, claimed[0].event), (NotificationChannelId(uuid(12)), Some(event)));
        assert_eq!(claimed[0].id, MessageId::for_channel(event, NotificationChannelId(uuid(12))));
    }

    async fn alert_without_a_route_has_that_of_its_account(database) {
        let store = with_channels(database).await;
        let own = fire_with(&store, 100, json!({})).await;
        set_route(&store, &[11]).await;
        let by_account = fire_with(&store, 101, json!({})).await;
        let by_alert = fire_with(&store, 102, json!({"channels": ids(&[10])})).await;
        set_route(&store, &[]).await;
        let own_again = fire_with(&store, 103, json!({})).await;
        assert_eq!(messages(&store, own).await, pending(&[0]));
        assert_eq!(messages(&store, by_account).await, pending(&[11]));
        assert_eq!(messages(&store, by_alert).await, pending(&[10]));
        assert_eq!(messages(&store, own_again).await, pending(&[0]));
    }

    async fn unusable_channels_are_left_out(database) {
        let store = with_channels(database).await;
        insert(&store, channel(1, 14, NotificationChannelType::Email)).await;
        insert(&store, channel(2, 15, NotificationChannelType::Slack)).await;
        change_channel(&store, 10, |channel| channel.is_enabled = false).await;
        delete_channel(&store, 11).await;
        // Disabled, deleted, not verified, of another account.
        let unusable = [10, 11, 14, 15];
        let with_one_left = fire_with(&store, 100, json!({"channels": ids(&[10, 11, 14, 15, 12])})).await;
        assert_eq!(messages(&store, with_one_left).await, pending(&[12]));
        let without_any = fire_with(&store, 101, json!({"channels": ids(&unusable)})).await;
        assert_eq!(messages(&store, without_any).await, pending(&[0]), "the account's own address");
    }

    async fn failure_for_good_sends_to_the_next_channel_at_once(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10, 11, 12]), "policy": "failover"})).await;
        assert_eq!(messages(&store, event).await, pending(&[10]));
        assert_eq!(store.next_escalation().await.unwrap(), None, "only a failure counts");
        let claimed = claim(&store, SERVICE, 100, 1).await;
        settle(&store, SERVICE, &claimed[0], SettlementDecision::Retry { at: at(110) }, 101).await;
        assert_eq!(store.next_escalation().await.unwrap(), None, "it is tried again");
        fail_service(&store, 110).await;
        assert_eq!(store.next_escalation().await.unwrap(), Some(at(110)));
        assert_eq!(store.advance_escalations(at(110), 10).await.unwrap(), 1);
        assert_eq!(store.advance_escalations(at(110), 10).await.unwrap(), 0);
        fail_service(&store, 120).await;
        assert_eq!(store.advance_escalations(at(120), 10).await.unwrap(), 1);
        let failed = |channel| (channel, "failed".to_owned());
        assert_eq!(messages(&store, event).await, [failed(10), failed(11), (12, "pending".to_owned())]);
        assert_eq!(store.next_escalation().await.unwrap(), None);
    }

    async fn next_channel_is_used_if_nobody_acknowledges_in_time(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[10, 11]), "policy": "failover", "ack_timeout": "2m"});
        let event = fire_with(&store, 100, routing).await;
        assert_eq!(store.next_escalation().await.unwrap(), Some(at(220)));
        assert_eq!(store.advance_escalations(at(219), 10).await.unwrap(), 0);
        // The first message was accepted meanwhile.
        let claimed = claim(&store, SERVICE, 100, 1).await;
        settle(&store, SERVICE, &claimed[0], SettlementDecision::Delivered, 101).await;
        assert_eq!(store.advance_escalations(at(220), 10).await.unwrap(), 1);
        assert_eq!(messages(&store, event).await, [(10, "sent".to_owned()), (11, "pending".to_owned())]);
        assert_eq!(store.next_escalation().await.unwrap(), None, "no channel is left");
    }

    async fn failure_of_a_channel_that_was_left_changes_nothing(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[10, 11, 12]), "policy": "failover", "ack_timeout": "2m"});
        let event = fire_with(&store, 100, routing).await;
        assert_eq!(store.advance_escalations(at(220), 10).await.unwrap(), 1);
        let claimed = claim(&store, SERVICE, 221, 1).await;
        settle(&store, SERVICE, &claimed[0], SettlementDecision::Failed, 222).await;
        assert_eq!(store.next_escalation().await.unwrap(), Some(at(340)));
        assert_eq!(messages(&store, event).await.len(), 2);
    }

    async fn acknowledgement_ends_the_escalation_and_stops_what_is_not_sent(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[10, 11]), "policy": "failover", "ack_timeout": "2m"});
        let event = fire_with(&store, 100, routing).await;
        let all = fire_with(&store, 101, json!({"channels": ids(&[10, 12])})).await;
        let own = fire_with(&store, 102, json!({})).await;
        for event in [event, all, own] {
            acknowledge(&store, event, 110).await;
        }
        assert_eq!(store.next_escalation().await.unwrap(), None);
        assert_eq!(store.advance_escalations(at(1_000), 10).await.unwrap(), 0);
        for channel in [SERVICE, MessageChannel::Email] {
            assert_eq!(claim(&store, channel, 1_000, 1).await, []);
        }
        for receipt in store.receipts_of_events(&[event, all, own]).await.unwrap() {
            assert_eq!(receipt.sent.outcome.as_deref(), Some("acknowledged"));
            assert_eq!(receipt.sent.finished_at, Some(at(110)));
        }
    }

    async fn message_that_is_on_its_way_is_not_tried_again_after_an_acknowledgement(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10])})).await;
        let claimed = claim(&store, SERVICE, 100, 1).await;
        assert!(!claimed[0].is_acknowledged);
        acknowledge(&store, event, 101).await;
        settle(&store, SERVICE, &claimed[0], SettlementDecision::Retry { at: at(110) }, 102).await;
        assert!(claim(&store, SERVICE, 110, 2).await[0].is_acknowledged);
    }

    async fn held_message_is_awaited(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[10, 11]), "policy": "failover", "ack_timeout": "2m"});
        let event = fire_with(&store, 100, routing).await;
        let claimed = claim(&store, SERVICE, 100, 1).await;
        let postponed = SettlementDecision::Postponed { until: at(5_000) };
        settle(&store, SERVICE, &claimed[0], postponed, 101).await;
        assert_eq!(store.advance_escalations(at(220), 10).await.unwrap(), 0);
        assert_eq!(messages(&store, event).await, pending(&[10]));
        assert_eq!(store.next_escalation().await.unwrap(), Some(at(5_120)));
    }

    async fn webhook_stands_for_its_delivery(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[13, 10]), "policy": "failover"});
        let event = fire_with(&store, 100, routing).await;
        assert_eq!(messages(&store, event).await, []);
        let due = store.pending_endpoints(store::model::Queue::Webhooks, i64::MIN, 10).await.unwrap();
        let query = ClaimQuery {
            endpoints: due.iter().map(|due| due.endpoint).collect(),
            max_per_endpoint: 10,
            max_total: 10,
            now: at(100),
            until: at(160),
            lease: 1,
        };
        let claimed = store.claim_deliveries(query).await.unwrap();
        let failed = Settlement {
            seq: claimed[0].seq,
            lease: 1,
            decision: SettlementDecision::Failed,
            result: store::model::DeliveryResult::default(),
        };
        let policy = store::model::DisablePolicy { failing_for: jiff::SignedDuration::from_hours(1) };
        let notice = store::DisabledNotice::new(|_, _| None);
        store.settle_deliveries(vec![failed], policy, notice, at(101)).await.unwrap();
        assert_eq!(store.next_escalation().await.unwrap(), Some(at(101)));
        assert_eq!(store.advance_escalations(at(101), 10).await.unwrap(), 1);
        assert_eq!(messages(&store, event).await, pending(&[10]));
    }

    async fn disabled_webhook_is_left_at_once(database) {
        let store = with_channels(database).await;
        change_channel(&store, 10, |channel| channel.is_enabled = false).await;
        let routing = json!({"channels": ids(&[13, 10, 11]), "policy": "failover", "ack_timeout": "1m"});
        let event = fire_with(&store, 100, routing).await;
        // Another process disables the webhook and fails its deliveries; the channel 10 is disabled, too.
        assert_eq!(store.advance_escalations(at(160), 10).await.unwrap(), 1);
        assert_eq!(messages(&store, event).await, pending(&[11]));
    }

    async fn escalation_survives_a_restart(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[10, 11]), "policy": "failover", "ack_timeout": "2m"});
        let event = fire_with(&store, 100, routing).await;
        drop(store);
        let store = open(database).await;
        assert_eq!(store.next_escalation().await.unwrap(), Some(at(220)));
        assert_eq!(store.advance_escalations(at(220), 10).await.unwrap(), 1);
        assert_eq!(messages(&store, event).await, pending(&[10, 11]));
    }

    async fn concurrent_jobs_send_a_firing_to_the_next_channel_once(database) {
        let store = with_channels(database).await;
        let mut events = Vec::new();
        for id in 100..120 {
            let routing = json!({"channels": ids(&[10, 11]), "policy": "failover", "ack_timeout": "1m"});
            events.push(fire_with(&store, id, routing).await);
        }
        let other = open(database).await;
        let now = at(200);
        let advance = async |store: &Store| while store.advance_escalations(now, 3).await.unwrap() > 0 {};
        tokio::join!(advance(&store), advance(&other));
        for event in events {
            assert_eq!(messages(&store, event).await, pending(&[10, 11]));
        }
    }

    async fn webhook_that_its_owner_disables_or_deletes_is_left_at_once(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[13, 10]), "policy": "failover"});
        let disabled = fire_with(&store, 100, routing.clone()).await;
        let webhook = Webhook { is_active: false, ..webhook(20, 1) };
        let update = store.commit(webhook.clone(), |webhook, unit| Box::pin(unit.update_webhook(webhook, at(101))));
        update.await.unwrap();
        assert_eq!(store.advance_escalations(at(101), 10).await.unwrap(), 1);
        assert_eq!(messages(&store, disabled).await, pending(&[10]));
        let update = store.commit(Webhook { is_active: true, ..webhook.clone() }, |webhook, unit| Box::pin(unit.update_webhook(webhook, at(101))));
        update.await.unwrap();
        let deleted = fire_with(&store, 101, routing).await;
        let deletion = store.commit(webhook, |webhook, unit| Box::pin(unit.delete_webhook(webhook.account, webhook.id, at(102))));
        assert!(deletion.await.unwrap());
        assert_eq!(store.advance_escalations(at(102), 10).await.unwrap(), 1);
        assert_eq!(messages(&store, deleted).await, pending(&[10]));
    }

    async fn time_for_an_acknowledgement_begins_at_an_early_end_of_quiet_hours(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[10, 11]), "policy": "failover", "ack_timeout": "2m"});
        let _ = fire_with(&store, 100, routing).await;
        let claimed = claim(&store, SERVICE, 100, 1).await;
        let postponed = SettlementDecision::Postponed { until: at(5_000) };
        settle(&store, SERVICE, &claimed[0], postponed, 101).await;
        assert_eq!(store.advance_escalations(at(220), 10).await.unwrap(), 0);
        let release = store.commit((), |(), unit| Box::pin(unit.release_quiet_messages(AccountId(uuid(1)), at(300))));
        release.await.unwrap();
        assert_eq!(store.next_escalation().await.unwrap(), Some(at(420)));
    }

    async fn message_that_is_sent_again_after_an_acknowledgement_is_wanted(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10])})).await;
        let claimed = claim(&store, SERVICE, 100, 1).await;
        settle(&store, SERVICE, &claimed[0], SettlementDecision::Delivered, 101).await;
        acknowledge(&store, event, 110).await;
        let original = MessageId::for_channel(event, NotificationChannelId(uuid(10)));
        let resend = store.commit((), move |(), unit| {
            Box::pin(unit.resend_message(AccountId(uuid(1)), original, original.for_resend(at(120)), at(120)))
        });
        assert!(resend.await.unwrap());
        assert!(!claim(&store, SERVICE, 120, 2).await[0].is_acknowledged);
    }
}
