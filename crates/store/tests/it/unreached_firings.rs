//! Firings that no channel of their route could get go to the account's own address.

use serde_json::json;
use store::model::{
    Attempt, ClaimQuery, DeliveryResult, DisablePolicy, EventId, MessageChannel, MessageDestination, MessageId,
    MessageResult, Queue, Settlement, SettlementDecision,
};
use store::{DisabledNotice, Store};
use testkit::on_both_databases;

use crate::deliveries::{add_webhook, webhook};
use crate::escalations::{
    SERVICE, acknowledge, change_channel, claim, delete_channel, fail_service, fire_with, ids, messages, pending,
    settle, with_channels,
};
use crate::support::{at, open};

const EMAIL: MessageChannel = MessageChannel::Email;

fn states(expected: &[(u128, &str)]) -> Vec<(u128, String)> {
    expected
        .iter()
        .map(|(channel, status)| (*channel, (*status).to_owned()))
        .collect()
}

/// Claims all due deliveries, of which there is one for each webhook, and settles those to a webhook.
async fn settle_delivery(store: &Store, webhook_id: u128, decision: SettlementDecision, seconds: i64) {
    let due = store.pending_endpoints(Queue::Webhooks, i64::MIN, 10).await.unwrap();
    let query = ClaimQuery {
        endpoints: due.iter().map(|due| due.endpoint).collect(),
        max_per_endpoint: 10,
        max_total: 10,
        now: at(seconds),
        until: at(seconds),
        lease: seconds,
    };
    let claimed = store.claim_deliveries(query).await.unwrap();
    let settlements = claimed
        .iter()
        .filter(|claimed| claimed.webhook == webhook(webhook_id, 1).id)
        .map(|claimed| {
            let outcome = match decision {
                SettlementDecision::Delivered => "delivered",
                _ => "http_error",
            };
            Settlement {
                seq: claimed.seq,
                lease: claimed.lease,
                decision,
                result: DeliveryResult {
                    attempt: Some(Attempt {
                        at: at(seconds),
                        outcome: outcome.to_owned(),
                        http_status: None,
                        duration_ms: 1,
                        response: None,
                    }),
                    ..DeliveryResult::default()
                },
            }
        });
    let settlements: Vec<_> = settlements.collect();
    assert!(!settlements.is_empty());
    let policy = DisablePolicy {
        failing_for: jiff::SignedDuration::from_hours(1),
    };
    let notice = DisabledNotice::new(|_, _| None);
    store
        .settle_deliveries(settlements, policy, notice, at(seconds))
        .await
        .unwrap();
}

/// Returns the number of messages to the account's own address about a firing.
async fn own(store: &Store, event: EventId) -> usize {
    let all = messages(store, event).await;
    all.iter().filter(|(channel, _)| *channel == 0).count()
}

on_both_databases! {
    async fn firing_goes_to_the_own_address_once_all_channels_have_failed(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10, 12])})).await;
        fail_service(&store, 101).await;
        assert_eq!(messages(&store, event).await, states(&[(10, "failed"), (12, "pending")]));
        let claimed = claim(&store, EMAIL, 102, 2).await;
        assert!(!claimed[0].is_fallback);
        settle(&store, EMAIL, &claimed[0], SettlementDecision::Retry { at: at(110) }, 103).await;
        assert_eq!(own(&store, event).await, 0, "it is tried again");
        let claimed = claim(&store, EMAIL, 110, 3).await;
        settle(&store, EMAIL, &claimed[0], SettlementDecision::Failed, 111).await;
        // After a kill at this moment, the message exists.
        drop(store);
        let store = open(database).await;
        assert_eq!(messages(&store, event).await, states(&[(0, "pending"), (10, "failed"), (12, "failed")]));
        let claimed = claim(&store, EMAIL, 111, 4).await;
        assert_eq!((claimed.len(), claimed[0].id), (1, MessageId::for_event(event)));
        assert_eq!((&claimed[0].destination, claimed[0].is_fallback), (&MessageDestination::Own, true));
        settle(&store, EMAIL, &claimed[0], SettlementDecision::Failed, 112).await;
        assert_eq!(messages(&store, event).await, states(&[(0, "failed"), (10, "failed"), (12, "failed")]));
    }

    async fn firing_that_a_channel_has_accepted_does_not_go_to_the_own_address(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10, 12])})).await;
        let claimed = claim(&store, EMAIL, 100, 1).await;
        settle(&store, EMAIL, &claimed[0], SettlementDecision::Delivered, 101).await;
        fail_service(&store, 102).await;
        assert_eq!(messages(&store, event).await, states(&[(10, "failed"), (12, "sent")]));
    }

    async fn firing_without_a_route_is_sent_once(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({})).await;
        let claimed = claim(&store, EMAIL, 100, 1).await;
        assert!(!claimed[0].is_fallback);
        settle(&store, EMAIL, &claimed[0], SettlementDecision::Failed, 101).await;
        settle_delivery(&store, 20, SettlementDecision::Failed, 102).await;
        assert_eq!(messages(&store, event).await, states(&[(0, "failed")]));
    }

    async fn acknowledged_firing_does_not_go_to_the_own_address(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10])})).await;
        let claimed = claim(&store, SERVICE, 100, 1).await;
        acknowledge(&store, event, 101).await;
        settle(&store, SERVICE, &claimed[0], SettlementDecision::Failed, 102).await;
        assert_eq!(messages(&store, event).await, states(&[(10, "failed")]));
    }

    async fn acknowledgement_stops_the_message_to_the_own_address(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10])})).await;
        fail_service(&store, 101).await;
        acknowledge(&store, event, 102).await;
        assert_eq!(messages(&store, event).await, states(&[(0, "failed"), (10, "failed")]));
    }

    async fn failure_of_the_last_channel_of_an_escalation_counts(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10, 11]), "policy": "failover"})).await;
        fail_service(&store, 110).await;
        assert_eq!(own(&store, event).await, 0, "a channel is left");
        assert_eq!(store.advance_escalations(at(110), 10).await.unwrap(), 1);
        fail_service(&store, 120).await;
        assert_eq!(messages(&store, event).await, states(&[(0, "pending"), (10, "failed"), (11, "failed")]));
    }

    async fn escalation_without_a_usable_channel_ends_at_the_own_address(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[10, 11, 12]), "policy": "failover"})).await;
        change_channel(&store, 11, |channel| channel.is_enabled = false).await;
        delete_channel(&store, 12).await;
        fail_service(&store, 110).await;
        assert_eq!(messages(&store, event).await, states(&[(10, "failed")]));
        assert_eq!(store.advance_escalations(at(111), 10).await.unwrap(), 1);
        assert_eq!(messages(&store, event).await, states(&[(0, "pending"), (10, "failed")]));
    }

    async fn firing_that_merely_was_not_acknowledged_does_not_go_to_the_own_address(database) {
        let store = with_channels(database).await;
        let routing = json!({"channels": ids(&[10, 11]), "policy": "failover", "ack_timeout": "2m"});
        let accepted = fire_with(&store, 100, routing.clone()).await;
        let claimed = claim(&store, SERVICE, 100, 1).await;
        settle(&store, SERVICE, &claimed[0], SettlementDecision::Delivered, 101).await;
        let waiting = fire_with(&store, 101, routing).await;
        delete_channel(&store, 11).await;
        assert_eq!(store.advance_escalations(at(300), 10).await.unwrap(), 2);
        assert_eq!(messages(&store, accepted).await, states(&[(10, "sent")]));
        assert_eq!(messages(&store, waiting).await, pending(&[10]));
        // Its only channel fails after the end of the escalation.
        fail_service(&store, 310).await;
        assert_eq!(messages(&store, waiting).await, states(&[(0, "pending"), (10, "failed")]));
    }

    async fn failed_delivery_to_the_webhook_of_a_route_counts(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[13])})).await;
        settle_delivery(&store, 20, SettlementDecision::Retry { at: at(105) }, 101).await;
        assert_eq!(messages(&store, event).await, []);
        settle_delivery(&store, 20, SettlementDecision::Failed, 106).await;
        assert_eq!(messages(&store, event).await, pending(&[0]));
    }

    async fn webhook_counts_only_as_a_channel_of_the_route(database) {
        let store = with_channels(database).await;
        add_webhook(&store, &webhook(21, 1)).await;
        let by_webhook = fire_with(&store, 100, json!({"channels": ids(&[10, 13])})).await;
        settle_delivery(&store, 20, SettlementDecision::Delivered, 101).await;
        settle_delivery(&store, 21, SettlementDecision::Failed, 102).await;
        fail_service(&store, 103).await;
        assert_eq!(messages(&store, by_webhook).await, states(&[(10, "failed")]));
        let beside = fire_with(&store, 101, json!({"channels": ids(&[10])})).await;
        settle_delivery(&store, 20, SettlementDecision::Delivered, 104).await;
        fail_service(&store, 105).await;
        assert_eq!(messages(&store, beside).await, states(&[(0, "pending"), (10, "failed")]));
    }

    async fn delivery_that_was_accepted_once_counts_as_accepted(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[13])})).await;
        settle_delivery(&store, 20, SettlementDecision::Delivered, 101).await;
        let id = store::model::DeliveryId::for_event(event, webhook(20, 1).id);
        let resend = store.commit(id, |id, unit| Box::pin(unit.resend_delivery(webhook(20, 1).id, *id, at(110))));
        assert!(resend.await.unwrap());
        settle_delivery(&store, 20, SettlementDecision::Failed, 111).await;
        assert_eq!(messages(&store, event).await, []);
    }

    async fn firing_of_a_deleted_webhook_goes_to_the_own_address(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[13])})).await;
        let deletion = store.commit(webhook(20, 1), |webhook, unit| {
            Box::pin(unit.delete_webhook(webhook.account, webhook.id, at(102)))
        });
        assert!(deletion.await.unwrap());
        assert_eq!(messages(&store, event).await, pending(&[0]));
    }

    async fn failure_that_a_provider_reports_later_counts(database) {
        let store = with_channels(database).await;
        let event = fire_with(&store, 100, json!({"channels": ids(&[12])})).await;
        let claimed = claim(&store, EMAIL, 100, 1).await;
        let accepted = Settlement {
            seq: claimed[0].seq,
            lease: claimed[0].lease,
            decision: SettlementDecision::Delivered,
            result: MessageResult { provider_id: Some("SM1".to_owned()), ..MessageResult::of_outcome("accepted") },
        };
        store.settle_messages(EMAIL, vec![accepted], at(101)).await.unwrap();
        assert_eq!(own(&store, event).await, 0);
        assert!(store.record_message_status(EMAIL, "SM1", "undelivered", true, at(110)).await.unwrap());
        assert_eq!(messages(&store, event).await, states(&[(0, "pending"), (12, "failed")]));
    }

    async fn last_failures_that_two_processes_record_at_once_create_one_message(database) {
        let store = with_channels(database).await;
        let other = open(database).await;
        let mut events = Vec::new();
        for id in 100..120 {
            events.push(fire_with(&store, id, json!({"channels": ids(&[10, 12])})).await);
        }
        let services = claim(&store, SERVICE, 100, 1).await;
        let emails = claim(&other, EMAIL, 100, 2).await;
        assert_eq!((services.len(), emails.len()), (20, 20));
        for (service, email) in services.iter().zip(&emails) {
            tokio::join!(
                settle(&store, SERVICE, service, SettlementDecision::Failed, 101),
                settle(&other, EMAIL, email, SettlementDecision::Failed, 101),
            );
        }
        for event in events {
            assert_eq!(messages(&store, event).await, states(&[(0, "pending"), (10, "failed"), (12, "failed")]));
        }
    }
}
