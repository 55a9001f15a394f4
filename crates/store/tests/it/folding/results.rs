//! Folded messages follow the one that lists them.

use alerts::HistoryAction;
use serde_json::json;
use store::model::{AccountId, MessageId, NotificationChannelType};

use super::*;
use crate::firings::ALL;
use crate::messages::sms_alert;

/// The notifications in the history of an alert: the action and the message.
async fn notifications(store: &Store, alert: u128) -> Vec<(HistoryAction, String)> {
    let history = store
        .history(AccountId(uuid(1)), alerts::AlertId(uuid(alert)), ALL)
        .await;
    let rows = history.unwrap().unwrap().items.into_iter();
    let rows = rows.filter(|row| row.entry.action.name().starts_with("notification"));
    rows.map(|row| {
        let message = &row.details.unwrap()["message_id"];
        (row.entry.action, message.as_str().unwrap().to_owned())
    })
    .collect()
}

on_both_databases! {
    async fn result_is_in_the_history_of_each_alert_under_one_id(database) {
        let store = with_channel(database).await;
        fire_alerts(&store, 1..6).await;
        let claimed = claim(&store, FIRED, 1).await;
        send(&store, SERVICE, &claimed, FIRED).await;
        for alert in 1..6 {
            let expected = (HistoryAction::NotificationSent, claimed[0].id.0.to_string());
            assert_eq!(notifications(&store, alert).await, [expected]);
        }
    }

    async fn failure_makes_the_escalation_of_each_firing_due(database) {
        let store = with_channel(database).await;
        insert(&store, channel(1, 11, NotificationChannelType::Ntfy)).await;
        let route = json!({"channels": [uuid(10), uuid(11)], "policy": "failover"});
        fire_with(&store, 1..6, FIRED, route).await;
        let claimed = claim(&store, FIRED, 1).await;
        assert_eq!(claimed.iter().map(firings_in).collect::<Vec<_>>(), [5]);
        settle(&store, SERVICE, &claimed, SettlementDecision::Failed, "gone", FIRED).await;
        assert_eq!(store.advance_escalations(at(FIRED), 100).await.unwrap(), 5);
        assert_eq!(send_due(&store, FIRED).await, [1; 5]);
    }

    async fn retried_message_keeps_its_firings(database) {
        let store = with_channel(database).await;
        let events = fire_alerts(&store, 1..6).await;
        let claimed = claim(&store, FIRED, 1).await;
        admit(&store, SERVICE, &claimed, FIRED).await;
        let retry = SettlementDecision::Retry { at: at(FIRED + 10) };
        settle(&store, SERVICE, &claimed, retry, "refused", FIRED).await;
        fire_alerts(&store, 6..7).await;
        assert_eq!(send_due(&store, FIRED + 10).await, [5]);
        assert!(states(&store, &events).await.iter().all(|state| state.0 == "sent"));
    }

    async fn messages_held_by_quiet_hours_wait_separately_and_become_one_at_their_end(database) {
        let store = with_channel(database).await;
        let events = fire_alerts(&store, 1..6).await;
        let claimed = claim(&store, FIRED, 1).await;
        let end = SettlementDecision::Postponed { until: at(1_000) };
        settle(&store, SERVICE, &claimed, end, "quiet_hours", FIRED).await;
        let held = ("pending".to_owned(), Some("quiet_hours".to_owned()), false);
        assert_eq!(states(&store, &events).await, vec![held; 5]);
        assert_eq!(send_due(&store, 999).await, [0; 0]);
        assert_eq!(send_due(&store, 1_000).await, [5]);
    }

    async fn two_messages_held_by_quiet_hours_become_one(database) {
        let store = with_channel(database).await;
        for alert in 1..3 {
            fire_alerts(&store, alert..alert + 1).await;
            let claimed = claim(&store, FIRED, 1).await;
            let end = SettlementDecision::Postponed { until: at(1_000) };
            settle(&store, SERVICE, &claimed, end, "quiet_hours", FIRED).await;
        }
        assert_eq!(send_due(&store, 1_000).await, [2]);
    }

    async fn text_messages_over_quota_move_to_email_together(database) {
        let store = with_accounts(database, 1).await;
        let alerts: Vec<_> = (1..13).map(|id| sms_alert(id, u32::try_from(id).unwrap())).collect();
        for alert in &alerts {
            add(&store, alert).await;
        }
        fire(&store, alerts.iter().map(|alert| firing(alert, FIRED)).collect()).await;
        let claimed = claim_by(&store, MessageChannel::Sms, FIRED, 1).await;
        assert_eq!(claimed.iter().map(firings_in).collect::<Vec<_>>(), [12]);
        let mut moved = settled(&claimed[0], "over_quota", SettlementDecision::Released);
        moved.result.moved_to = Some(MessageChannel::Email);
        store.settle_messages(MessageChannel::Sms, vec![moved], at(FIRED)).await.unwrap();
        let mails = claim_by(&store, MessageChannel::Email, FIRED, 2).await;
        assert_eq!(mails.iter().map(firings_in).collect::<Vec<_>>(), [12]);
    }

    async fn text_messages_held_by_quiet_hours_move_to_email_together(database) {
        let store = with_accounts(database, 1).await;
        let by_sms = MessageChannel::Sms;
        for id in 1..3 {
            let alert = sms_alert(id, u32::try_from(id).unwrap());
            add(&store, &alert).await;
            fire(&store, vec![firing(&alert, FIRED)]).await;
            let claimed = claim_by(&store, by_sms, FIRED, 1).await;
            let end = SettlementDecision::Postponed { until: at(1_000) };
            settle(&store, by_sms, &claimed, end, "quiet_hours", FIRED).await;
        }
        let claimed = claim_by(&store, by_sms, 1_000, 2).await;
        let mut moved = settled(&claimed[0], "over_quota", SettlementDecision::Released);
        moved.result.moved_to = Some(MessageChannel::Email);
        store.settle_messages(by_sms, vec![moved], at(1_000)).await.unwrap();
        let mails = claim_by(&store, MessageChannel::Email, 1_000, 3).await;
        assert_eq!(mails.iter().map(firings_in).collect::<Vec<_>>(), [2]);
        send(&store, MessageChannel::Email, &mails, 1_000).await;
        for alert in 1..3 {
            assert_eq!(notifications(&store, alert).await.len(), 1);
        }
    }

    async fn later_failure_of_the_provider_counts_for_each_firing(database) {
        let store = with_channel(database).await;
        let events = fire_alerts(&store, 1..6).await;
        let claimed = claim(&store, FIRED, 1).await;
        let mut sent = settled(&claimed[0], "sent", SettlementDecision::Delivered);
        sent.result.provider_id = Some("SM1".to_owned());
        store.settle_messages(SERVICE, vec![sent], at(FIRED)).await.unwrap();
        assert!(store.record_message_status(SERVICE, "SM1", "undelivered", true, at(FIRED + 5)).await.unwrap());
        // No other channel is left, so each firing goes to the account's own address, too.
        let states = states(&store, &events).await;
        let failed = states.iter().filter(|state| state.0 == "failed").count();
        assert_eq!((states.len(), failed), (10, 5), "{states:?}");
        let actions: Vec<_> = notifications(&store, 4).await.into_iter().map(|row| row.0).collect();
        assert_eq!(actions, [HistoryAction::NotificationFailed, HistoryAction::NotificationSent]);
    }

    async fn firing_of_a_folded_message_is_sent_again_alone_and_at_once(database) {
        let store = with_channel(database).await;
        let events = fire_alerts(&store, 1..6).await;
        assert_eq!(send_due(&store, FIRED).await, [5]);
        let receipts = store.receipts_of_events(&events[3..4]).await.unwrap();
        let (folded, copy) = (receipts[0].sent.id, MessageId(uuid(0xC0)));
        let resent = store.commit((), move |(), unit| {
            Box::pin(unit.resend_message(AccountId(uuid(1)), folded, copy, at(FIRED + 5)))
        });
        assert!(resent.await.unwrap());
        assert_eq!(send_due(&store, FIRED + 5).await, [1]);
    }
}
