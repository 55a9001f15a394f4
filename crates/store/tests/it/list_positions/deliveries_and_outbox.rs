//! Deliveries of webhooks, and the outbox.

use std::collections::HashMap;

use store::Store;
use store::model::{
    DeliveryId, DeliveryStatus, ListRequest, MessageChannel, MessageId, MessageResult, PageRequest, Settlement,
    SettlementDecision, StoredOutboxMessage,
};
use testkit::on_both_databases;

use super::{assert_unknown, check, check_while_it_changes};
use crate::deliveries::{add_webhook, claim, settle, settled, webhook};
use crate::firings::{fire, firing};
use crate::support::{add, add_many, alert_of, asked, at, uuid, with_accounts};

async fn keep(store: &Store, number: u128, channel: MessageChannel, to: &str, seconds: i64) -> MessageId {
    let kept = StoredOutboxMessage {
        id: MessageId(uuid(number)),
        channel,
        recipient: to.to_owned(),
        content: vec![1],
        created_at: at(seconds),
    };
    let result = MessageResult {
        kept: Some(kept),
        ..MessageResult::of_outcome("kept")
    };
    let settled = Settlement {
        seq: 1,
        lease: 1,
        decision: SettlementDecision::Delivered,
        result,
    };
    store
        .settle_messages(channel, vec![settled], at(seconds))
        .await
        .unwrap();
    MessageId(uuid(number))
}

on_both_databases! {
    async fn deliveries_behind_a_delivery_continue_the_pages(database) {
        let store = with_accounts(database, 1).await;
        let hooks = [webhook(1, 1), webhook(2, 1)];
        for hook in &hooks {
            add_webhook(&store, hook).await;
        }
        let alerts = add_many(&store, 30).await;
        // The ids of the first webhook's deliveries with the times of their events, oldest first.
        let mut model = Vec::new();
        for (number, alert) in (0..).zip(&alerts) {
            // Up to ten deliveries of one time, and times in no order.
            let seconds = [20, 10, 30][number / 10];
            let firing = firing(alert, seconds);
            model.push((seconds, DeliveryId::for_event(firing.event, hooks[0].id)));
            fire(&store, vec![firing]).await;
        }
        let claimed = claim(&store, 40, 1, 20).await;
        let outcomes = claimed.iter().enumerate().map(|(number, claimed)| {
            let decisions = [SettlementDecision::Delivered, SettlementDecision::Failed, SettlementDecision::Released];
            (claimed.id, settled(claimed, at(41), decisions[number % 3]))
        });
        let (mut statuses, mut settlements) = (HashMap::new(), Vec::new());
        for (id, settlement) in outcomes {
            statuses.insert(id, match settlement.decision {
                SettlementDecision::Delivered => DeliveryStatus::Delivered,
                SettlementDecision::Failed => DeliveryStatus::Failed,
                _ => DeliveryStatus::Pending,
            });
            settlements.push(settlement);
        }
        settle(&store, settlements, 41).await;
        model.sort_by_key(|(seconds, _)| *seconds);
        model.reverse();
        let status_of = |id: &DeliveryId| statuses.get(id).copied().unwrap_or(DeliveryStatus::Pending);
        let read = async |status, request: ListRequest<DeliveryId>| {
            let page = store.deliveries(hooks[0].id, status, request).await.unwrap();
            page.map(|delivery| (delivery.id, delivery.status))
        };
        for status in [None, Some(DeliveryStatus::Pending), Some(DeliveryStatus::Delivered), Some(DeliveryStatus::Failed)] {
            let listed = model.iter().map(|(_, id)| (*id, status_of(id)));
            let expected: Vec<_> = listed.filter(|(_, found)| status.is_none_or(|status| status == *found)).collect();
            assert!(expected.len() > 3, "{status:?}");
            check(&expected, async |request| read(status, request).await, |(id, _)| *id).await;
        }
        // Of another webhook, and unknown.
        for after in [DeliveryId::for_event(firing(&alerts[0], 0).event, hooks[1].id), DeliveryId(uuid(9))] {
            assert_unknown(store.deliveries(hooks[0].id, None, ListRequest::following(after, 1)).await);
        }
        // A delivery keeps its place when its status changes. One that was deleted has none.
        let (after, _) = read(Some(DeliveryStatus::Failed), PageRequest { page: 1, limit: 1 }.into()).await.items[0];
        let rest = read(Some(DeliveryStatus::Pending), ListRequest::following(after, 100)).await;
        let place = model.iter().position(|(_, id)| *id == after).unwrap();
        let pending = model[place..].iter().filter(|(_, id)| status_of(id) == DeliveryStatus::Pending).count();
        assert_eq!(rest.items.len(), pending);
        assert!(store.purge_deliveries(at(1_000), 1_000).await.unwrap() > 0);
        assert_unknown(store.deliveries(hooks[0].id, None, ListRequest::following(after, 1)).await);

        let stable: Vec<DeliveryId> = read(None, PageRequest { page: 1, limit: 100 }.into()).await.items.into_iter().map(|(id, _)| id).collect();
        let new = alert_of(1, 500, asked("AAPL", "daily_reminder", &serde_json::json!({})), 0);
        add(&store, &new).await;
        let mut number = 0_u32;
        let ids = async |request| read(None, request).await.items.into_iter().map(|(id, _)| id).collect();
        check_while_it_changes(&stable, ids, async || {
            number += 1;
            let mut again = firing(&new, 50);
            again.revision = alerts::Revision(number - 1);
            again.event = store::model::EventId(uuid(0xF000_0000 + u128::from(number)));
            fire(&store, vec![again]).await;
        }).await;
    }

    async fn outbox_behind_a_message_continues_the_pages(database) {
        use MessageChannel::{Email, Sms};
        let store = with_accounts(database, 1).await;
        let mut model = Vec::new();
        for number in 1..=24 {
            let (channel, to) = [(Email, "ann@example.com"), (Sms, "+15550100"), (Email, "bob@example.com")][number % 3];
            // All times are equal.
            let id = keep(&store, u128::try_from(number).unwrap(), channel, to, 5).await;
            model.insert(0, (id, channel, to));
        }
        let read = async |channel, to, request: ListRequest<MessageId>| {
            let page = store.outbox_messages(channel, to, request).await.unwrap();
            page.map(|message| message.id)
        };
        for (channel, to) in [
            (None, None), (Some(Email), None), (Some(Sms), None), (None, Some("ann@example.com")),
            (Some(Email), Some("bob@example.com")), (Some(Sms), Some("bob@example.com")), (None, Some("eve@example.com")),
        ] {
            let listed = model.iter().filter(|(_, of, address)| channel.is_none_or(|channel| channel == *of) && to.is_none_or(|to| to == *address));
            let expected: Vec<MessageId> = listed.map(|(id, ..)| *id).collect();
            check(&expected, async |request| read(channel, to, request).await, |id| *id).await;
        }
        let mut number = 100;
        let stable: Vec<MessageId> = model.iter().map(|(id, ..)| *id).collect();
        let ids = async |request| read(None, None, request).await.items;
        check_while_it_changes(&stable, ids, async || {
            number += 1;
            keep(&store, number, Email, "ann@example.com", 6).await;
        }).await;
        // The oldest messages are deleted first, so nothing is left behind a deleted one.
        store.purge_messages(at(6), 1_000).await.unwrap();
        assert_unknown(store.outbox_messages(None, None, ListRequest::following(stable[0], 1)).await);
    }
}
