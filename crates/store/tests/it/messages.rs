//! Messages: one per firing, claimed once, settled with a history entry. Their limits are in `message_limits.rs`.

use std::collections::HashSet;

use alerts::transition;
use alerts::{AlertId, HistoryAction};
use serde_json::json;
use store::Store;
use store::model::{
    AccountId, AlertOwner, ClaimedMessage, FIRING_KIND, HistoryRow, MessageChannel, MessageContent, MessageId,
    MessageResult, NewMessage, PageRequest, Settlement, SettlementDecision, StoredAlert, StoredOutboxMessage,
};
use testkit::on_both_databases;

use crate::firings::{fire, firing};
use crate::queue::claim_query;
use crate::support::{add, add_many, alert_of, asked, asked_price, at, open, pause, price, uuid, with_accounts};

const ALL: PageRequest = PageRequest { page: 1, limit: 1_000 };
pub(crate) const EMAIL: MessageChannel = MessageChannel::Email;
pub(crate) const SMS: MessageChannel = MessageChannel::Sms;

pub(crate) fn account_message(number: u128, to: &str, account: Option<u128>, seconds: i64) -> NewMessage {
    NewMessage {
        id: MessageId(uuid(0x1E77_0000 + number)),
        channel: EMAIL,
        kind: "guest_alert",
        recipient: to.to_owned(),
        account: account.map(|account| AccountId(uuid(account))),
        content: b"sealed".to_vec(),
        created_at: at(seconds),
    }
}

pub(crate) async fn queue(store: &Store, messages: Vec<NewMessage>) {
    let queued = store.commit(messages, |messages, unit| {
        Box::pin(async move {
            for message in messages {
                unit.queue_message(message).await?;
            }
            Ok(())
        })
    });
    queued.await.unwrap();
}

/// Claims messages that are due a number of seconds after the start, for one minute.
pub(crate) async fn claim(store: &Store, channel: MessageChannel, seconds: i64, lease: i64) -> Vec<ClaimedMessage> {
    let query = claim_query(store, channel, seconds, lease, 1_000).await;
    store.claim_messages(channel, query, u32::MAX).await.unwrap()
}

pub(crate) fn settled(
    claimed: &ClaimedMessage,
    outcome: &str,
    decision: SettlementDecision,
) -> Settlement<MessageResult> {
    Settlement {
        seq: claimed.seq,
        lease: claimed.lease,
        decision,
        result: MessageResult::of_outcome(outcome),
    }
}

const SENT: SettlementDecision = SettlementDecision::Delivered;

/// The history of an alert of the first account, newest first.
async fn history(store: &Store, alert: &StoredAlert) -> Vec<HistoryRow> {
    let page = store.history(AccountId(uuid(1)), alert.alert.id, ALL).await.unwrap();
    page.unwrap().items
}

pub(crate) fn sms_alert(id: u128, threshold: u32) -> StoredAlert {
    let wish = asked(
        "AAPL",
        "price_above",
        &json!({"threshold": threshold, "notification": "sms"}),
    );
    alert_of(1, id, wish, 0)
}

fn guests(id: u128, email: &str) -> StoredAlert {
    let made = transition::create(
        asked_price(200),
        AlertId(uuid(id)),
        transition::OwnerVerification::Verified,
        transition::PriceAvailability::Awaited,
        at(0),
    );
    StoredAlert {
        alert: alerts::Alert {
            initial_price: Some(price("200")),
            ..made.unwrap().alert
        },
        owner: AlertOwner::Guest {
            email: email.to_owned(),
        },
        created_by: None,
        role: store::model::ScopeRole::Single,
        managed_by: None,
    }
}

on_both_databases! {
    async fn firing_creates_one_message_on_alert_channel(database) {
        let store = with_accounts(database, 1).await;
        let by_mail = add_many(&store, 1).await.remove(0);
        let by_sms = sms_alert(2, 7);
        add(&store, &by_sms).await;
        let guest = guests(3, "guest@example.com");
        add(&store, &guest).await;
        fire(&store, [&by_mail, &by_sms, &guest].map(|alert| firing(alert, 60)).into()).await;

        let mails = claim(&store, EMAIL, 60, 1).await;
        let (mine, guests): (Vec<_>, Vec<_>) = mails.into_iter().partition(|mail| mail.account.is_some());
        assert_eq!((mine.len(), guests.len()), (1, 1));
        let event = firing(&by_mail, 60).event;
        assert_eq!((mine[0].id, mine[0].alert), (MessageId::for_event(event), Some(by_mail.alert.id)));
        assert_eq!((mine[0].kind.as_str(), mine[0].recipient.as_deref()), (FIRING_KIND, None));
        assert_eq!(mine[0].owner.as_ref().unwrap().email, "1@example.com");
        let MessageContent::Firing(data) = &mine[0].content else { panic!("{:?}", mine[0].content) };
        assert!(data.contains("triggered"), "{data}");
        assert_eq!((guests[0].recipient.as_deref(), &guests[0].owner), (Some("guest@example.com"), &None));

        let texts = claim(&store, SMS, 60, 2).await;
        assert_eq!(texts.iter().map(|text| text.alert).collect::<Vec<_>>(), [Some(by_sms.alert.id)]);
    }

    async fn rejected_firing_creates_no_message(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        assert!(pause(&store, &alert.alert).await);
        fire(&store, vec![firing(&alert, 60)]).await;
        assert_eq!(claim(&store, EMAIL, 60, 1).await, []);
    }

    async fn concurrent_firings_create_one_message_per_alert(database) {
        let store = with_accounts(database, 1).await;
        let other = open(database).await;
        let alerts = add_many(&store, 200).await;
        let firings: Vec<_> = alerts.iter().map(|alert| firing(alert, 60)).collect();
        let mut opposite = firings.clone();
        opposite.reverse();
        let (one, two) = (store.clone(), other.clone());
        let (one, two) = tokio::join!(
            tokio::spawn(async move { fire(&one, firings).await }),
            tokio::spawn(async move { fire(&two, opposite).await }),
        );
        one.unwrap();
        two.unwrap();
        let claimed = claim(&store, EMAIL, 60, 1).await;
        let of: HashSet<_> = claimed.iter().map(|message| message.alert).collect();
        assert_eq!((claimed.len(), of.len()), (200, 200));
    }

    async fn message_sent_twice_has_one_history_entry(database) {
        let store = with_accounts(database, 1).await;
        let alert = add_many(&store, 1).await.remove(0);
        fire(&store, vec![firing(&alert, 60)]).await;
        let first = claim(&store, EMAIL, 60, 1).await;
        let second = claim(&store, EMAIL, 120, 2).await;
        // The first process was only slow. Its failure does not count any more, and the second has sent the message.
        for (claimed, outcome, decision) in [
            (&first, "late", SettlementDecision::Failed), (&second, "sent", SENT), (&first, "sent", SENT),
        ] {
            store.settle_messages(EMAIL, vec![settled(&claimed[0], outcome, decision)], at(121)).await.unwrap();
        }
        let actions: Vec<_> = history(&store, &alert).await.iter().map(|row| row.entry.action).collect();
        assert_eq!(actions, [HistoryAction::NotificationSent, HistoryAction::Triggered, HistoryAction::Created]);
    }

    async fn message_result_is_in_history_and_changes_no_alert(database) {
        let store = with_accounts(database, 1).await;
        let alerts = add_many(&store, 2).await;
        fire(&store, alerts.iter().map(|alert| firing(alert, 60)).collect()).await;
        let position = store.history_position().await.unwrap();
        let claimed = claim(&store, EMAIL, 60, 1).await;
        let settlements = vec![
            settled(&claimed[0], "sent", SENT),
            settled(&claimed[1], "unsubscribed", SettlementDecision::Failed),
        ];
        store.settle_messages(EMAIL, settlements, at(61)).await.unwrap();
        for (message, action, reason) in [
            (&claimed[0], HistoryAction::NotificationSent, None),
            (&claimed[1], HistoryAction::NotificationFailed, Some("unsubscribed")),
        ] {
            let alert = alerts.iter().find(|alert| Some(alert.alert.id) == message.alert).unwrap();
            let newest = history(&store, alert).await.remove(0);
            assert_eq!((newest.entry.action, newest.at, newest.price), (action, at(61), None));
            assert_eq!(newest.entry.previous_status.map(alerts::Status::name), Some("triggered"));
            assert_eq!(newest.entry.new_status.name(), "triggered");
            let details = newest.details.unwrap();
            assert_eq!(details["channel"], "email");
            assert_eq!(details["message_id"], message.id.0.to_string());
            assert_eq!(details.get("reason").and_then(|reason| reason.as_str()), reason);
        }
        let (changed, next) = store.changed_since(position, 10).await.unwrap();
        assert_eq!((changed, next), (vec![], store.history_position().await.unwrap()));
        assert_eq!(next, position + 2);
        assert_eq!(claim(&store, EMAIL, 100_000, 2).await, []);
    }

    async fn account_message_content_is_deleted_after_sending(database) {
        let store = with_accounts(database, 1).await;
        queue(&store, vec![account_message(1, "a\u{e9}@example.com", Some(1), 5), account_message(2, "b@example.com", None, 6)]).await;
        let claimed = claim(&store, EMAIL, 6, 1).await;
        assert_eq!(claimed.len(), 2);
        assert_eq!((claimed[0].recipient.as_deref(), claimed[0].kind.as_str()), (Some("a\u{e9}@example.com"), "guest_alert"));
        assert_eq!((&claimed[0].content, claimed[0].alert), (&MessageContent::Sealed(b"sealed".to_vec()), None));
        assert_ne!(claimed[0].endpoint, claimed[1].endpoint);
        let kept = StoredOutboxMessage {
            id: claimed[0].id,
            channel: EMAIL,
            recipient: "a\u{e9}@example.com".to_owned(),
            content: b"another seal".to_vec(),
            created_at: at(7),
        };
        for lease in [claimed[0].lease, 99] {
            let mut again = Settlement { lease, ..settled(&claimed[0], "kept", SENT) };
            again.result.kept = Some(kept.clone());
            store.settle_messages(EMAIL, vec![again], at(7)).await.unwrap();
        }
        for (channel, to, found) in [
            (None, None, 1), (Some(EMAIL), Some("a\u{e9}@example.com"), 1), (Some(SMS), None, 0), (None, Some("b@example.com"), 0),
        ] {
            let page = store.outbox_messages(channel, to, ALL).await.unwrap();
            assert_eq!((page.total, page.items.first()), (found, (found == 1).then_some(&kept)), "{channel:?} {to:?}");
        }
        // Finished messages are purged once they are old enough; pending ones are not.
        assert_eq!(store.purge_messages(at(7), 10).await.unwrap(), 0);
        assert_eq!(store.purge_messages(at(8), 10).await.unwrap(), 2);
        assert_eq!(store.outbox_messages(None, None, ALL).await.unwrap().total, 0);
        assert_eq!(claim(&store, EMAIL, 100_000, 2).await.len(), 1);
    }

    async fn later_provider_status_is_recorded_and_failure_is_in_history(database) {
        let store = with_accounts(database, 1).await;
        let alert = sms_alert(1, 7);
        add(&store, &alert).await;
        fire(&store, vec![firing(&alert, 60)]).await;
        let claimed = claim(&store, SMS, 60, 1).await;
        let mut sent = settled(&claimed[0], "sent", SENT);
        sent.result.provider_id = Some("SM1".to_owned());
        store.settle_messages(SMS, vec![sent], at(61)).await.unwrap();
        let note = |id: &'static str, outcome: &'static str, has_failed| {
            let store = store.clone();
            async move { store.record_message_status(SMS, id, outcome, has_failed, at(70)).await.unwrap() }
        };
        assert!(!note("SM2", "delivered", false).await);
        assert!(note("SM1", "delivered", false).await);
        assert_eq!(history(&store, &alert).await.len(), 3);
        assert!(note("SM1", "undelivered", true).await);
        assert!(note("SM1", "undelivered", true).await);
        assert!(note("SM1", "delivered", false).await);
        let history = history(&store, &alert).await;
        assert_eq!((history.len(), history[0].entry.action), (4, HistoryAction::NotificationFailed));
        assert_eq!(history[0].details.as_ref().unwrap()["reason"], "undelivered");
    }

    async fn address_can_unsubscribe_and_resubscribe(database) {
        let store = open(database).await;
        let set = |since| store.commit((), move |(), unit| Box::pin(unit.set_unsubscribed("a@example.com", since)));
        let both = ["a@example.com", "b@example.com"].map(str::to_owned);
        let ask = || store.unsubscribed(&both);
        assert_eq!(ask().await.unwrap(), Vec::<String>::new());
        set(Some(at(0))).await.unwrap();
        set(Some(at(1))).await.unwrap();
        assert_eq!(ask().await.unwrap(), ["a@example.com"]);
        set(None).await.unwrap();
        assert_eq!(ask().await.unwrap(), Vec::<String>::new());
    }

    async fn queueing_notifies_after_commit(database) {
        let store = with_accounts(database, 1).await;
        let wake = store.wake_handle(EMAIL);
        // Discards earlier notifications.
        let _ = tokio::time::timeout(std::time::Duration::ZERO, wake.notified()).await;
        let heard = wake.notified();
        queue(&store, vec![account_message(1, "a@example.com", None, 0)]).await;
        heard.await;
        assert_eq!(claim(&store, EMAIL, 0, 1).await.len(), 1);
    }

}
