//! Test helpers for messages.

use std::future::Future;

use alerts::{AlertId, HistoryAction};
use delivery::messages::{MessageChannel, OutboxFilter, OutboxMessage};
use foundation::Actor;
use jiff::Timestamp;
use serde_json::json;
use store::model::HistoryRow;

use crate::support::{ALL, TestApp};

/// Polls until there is a result. Background tasks produce it.
pub(crate) async fn eventually<T, F>(what: &str, ask: impl Fn() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    let answer = tokio::time::timeout(testkit::HANG_LIMIT, asking).await;
    answer.unwrap_or_else(|_| panic!("{what} did not come about"))
}

impl TestApp {
    /// Returns all stored messages to an address or number, oldest first.
    pub(crate) async fn outbox(&self, to: &str) -> Vec<OutboxMessage> {
        let filter = OutboxFilter {
            to: Some(to.to_owned()),
            ..OutboxFilter::default()
        };
        let page = self.service.outbox.outbox(self.operator(), filter, ALL).await.unwrap();
        let mut messages = page.items;
        messages.reverse();
        messages
    }

    /// Like `outbox`, once there are `count` messages.
    pub(crate) async fn mailed_at_least(&self, to: &str, count: usize) -> Vec<OutboxMessage> {
        eventually(&format!("{count} messages to {to}"), || async {
            let found = self.outbox(to).await;
            (found.len() >= count).then_some(found)
        })
        .await
    }

    /// Returns the notification entries of an alert's history, oldest first.
    pub(crate) async fn notifications(&self, actor: &Actor, id: AlertId) -> Vec<HistoryRow> {
        let mut rows = self.service.alerts.alert_history(actor, id, ALL).await.unwrap().items;
        rows.reverse();
        rows.retain(|row| {
            matches!(
                row.entry.action,
                HistoryAction::NotificationSent | HistoryAction::NotificationFailed
            )
        });
        rows
    }

    /// Like `notifications`, once there are enough entries.
    pub(crate) async fn notified(&self, actor: &Actor, id: AlertId, count: usize) -> Vec<HistoryRow> {
        eventually(&format!("{count} notifications"), || async {
            let found = self.notifications(actor, id).await;
            (found.len() >= count).then_some(found)
        })
        .await
    }
}

/// Returns the outcome of a notification: `sent`, or the reason why it was not sent.
pub(crate) fn outcome(row: &HistoryRow) -> String {
    match row.entry.action {
        HistoryAction::NotificationSent => "sent".to_owned(),
        _ => row.details.as_ref().unwrap()["reason"].as_str().unwrap().to_owned(),
    }
}

/// Returns `count` equal outcomes.
pub(crate) fn times(count: usize, outcome: &str) -> Vec<String> {
    vec![outcome.to_owned(); count]
}

impl TestApp {
    /// Creates and fires `count` new alerts at once, and returns their ids.
    pub(crate) async fn fire(&self, actor: &Actor, channel: &str, count: u32) -> Vec<AlertId> {
        self.quote("AAPL", 100.0).await;
        let mut alerts = Vec::new();
        for place in 0..count {
            let body = json!({
                "symbol": "AAPL", "condition": "price_above", "notification": channel,
                "threshold": 101.0 + f64::from(place) / 1_000.0,
            });
            alerts.push(self.create(actor, body).await.stored.alert.id);
        }
        self.quote("AAPL", 150.0).await;
        alerts
    }

    /// Returns the sorted outcomes of alerts with one notification each.
    pub(crate) async fn outcomes(&self, actor: &Actor, alerts: &[AlertId]) -> Vec<String> {
        let mut outcomes = Vec::new();
        for alert in alerts {
            let told = self.notified(actor, *alert, 1).await;
            assert_eq!(told.len(), 1);
            outcomes.push(outcome(&told[0]));
        }
        outcomes.sort();
        outcomes
    }

    /// Verifies a phone number with the code sent to it.
    pub(crate) async fn verify_phone(&self, actor: &Actor, number: &str) {
        let before = self.outbox(number).await.len();
        let body = json!({"phone": number, "sms_consent": true});
        self.service.account_settings.request_phone(actor, &body).await.unwrap();
        let message = self.mailed_at_least(number, before + 1).await.pop().unwrap();
        let code = message.text.split_whitespace().next().unwrap();
        let body = json!({"phone": number, "token": code});
        self.service.account_settings.verify_phone(actor, &body).await.unwrap();
    }

    pub(crate) async fn quiet(&self, actor: &Actor, zone: &str, start: &str, end: &str) {
        let body = json!({"time_zone": zone, "quiet_hours": {"start": start, "end": end}});
        self.service
            .account_settings
            .set_preferences(actor, &body)
            .await
            .unwrap();
    }

    /// Waits until all pending messages of a channel are due at an instant or later.
    pub(crate) async fn held_back_until(&self, channel: MessageChannel, at: Timestamp) {
        let store = self.store().await;
        eventually(&format!("a message that waits until {at}"), || async {
            let lanes = store.pending_endpoints(channel, i64::MIN, 100).await.unwrap();
            let earliest = lanes.iter().map(|lane| lane.first_due).min();
            (earliest == Some(at)).then_some(())
        })
        .await;
    }
}

impl TestApp {
    /// Waits until no message is pending.
    pub(crate) async fn nothing_waits(&self) {
        let store = self.store().await;
        eventually("an end of what waits", || async {
            for channel in [MessageChannel::Email, MessageChannel::Sms] {
                if !store
                    .pending_endpoints(channel, i64::MIN, 100)
                    .await
                    .unwrap()
                    .is_empty()
                {
                    return None;
                }
            }
            Some(())
        })
        .await;
    }
}
