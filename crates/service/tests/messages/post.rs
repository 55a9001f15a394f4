//! What these tests ask of the world besides.

use std::future::Future;
use std::time::Duration;

use alerts::{AlertId, HistoryAction};
use service::Actor;
use service::messages::{OutboxFilter, OutboxMessage};
use store::model::HistoryRow;

use crate::support::{ALL, World};

/// Asks until there is an answer. What is waited for happens in the background.
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
    let answer = tokio::time::timeout(Duration::from_secs(20), asking).await;
    answer.unwrap_or_else(|_| panic!("{what} did not come about"))
}

impl World {
    /// All that was kept for an address or number, oldest first.
    pub(crate) async fn outbox(&self, to: &str) -> Vec<OutboxMessage> {
        let filter = OutboxFilter {
            to: Some(to.to_owned()),
            ..OutboxFilter::default()
        };
        let page = self.service.outbox(self.operator(), filter, ALL).await.unwrap();
        let mut messages = page.items;
        messages.reverse();
        messages
    }

    /// The same, once there are so many.
    pub(crate) async fn mailed(&self, to: &str, count: usize) -> Vec<OutboxMessage> {
        eventually(&format!("{count} messages to {to}"), || async {
            let found = self.outbox(to).await;
            (found.len() >= count).then_some(found)
        })
        .await
    }

    /// What an alert's history says of notifications, oldest first.
    pub(crate) async fn notifications(&self, actor: &Actor, id: AlertId) -> Vec<HistoryRow> {
        let mut rows = self.service.alert_history(actor, id, ALL).await.unwrap().items;
        rows.reverse();
        rows.retain(|row| {
            matches!(
                row.entry.action,
                HistoryAction::NotificationSent | HistoryAction::NotificationFailed
            )
        });
        rows
    }

    /// The same, once there are so many.
    pub(crate) async fn notified(&self, actor: &Actor, id: AlertId, count: usize) -> Vec<HistoryRow> {
        eventually(&format!("{count} notifications"), || async {
            let found = self.notifications(actor, id).await;
            (found.len() >= count).then_some(found)
        })
        .await
    }
}
