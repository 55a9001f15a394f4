//! The messages about alerts that an account was sent.

use alerts::AlertId;
use foundation::{Actor, Ports, ServiceError};
use store::model::is_alert_news;

use super::outbox::MessageChannel;

pub use store::model::SentMessage;

/// The number of messages that are read on each channel. Not all of them are about alerts.
const MAX_READ: u32 = 200;

/// Messages about alerts that the owner of an account was sent.
#[derive(Clone)]
pub struct SentMessages {
    pub(crate) ports: Ports,
}

impl SentMessages {
    /// Returns the latest messages about alerts that were sent or tried, newest first, at most `limit`.
    pub async fn latest_alert_messages(&self, actor: &Actor, limit: usize) -> Result<Vec<SentMessage>, ServiceError> {
        let mut latest = Vec::new();
        for channel in [MessageChannel::Email, MessageChannel::Sms] {
            let store = &self.ports.store;
            let sent = store.latest_messages(actor.account, channel, MAX_READ).await?;
            latest.extend(sent.into_iter().filter(|sent| is_alert_news(&sent.kind)));
        }
        latest.sort_by_key(|sent| std::cmp::Reverse(sent.created_at));
        latest.truncate(limit);
        Ok(latest)
    }

    /// Returns the messages about the latest firings of an alert, at most `limit` firings, newest first.
    pub async fn messages_of_alert(
        &self,
        actor: &Actor,
        alert: AlertId,
        limit: u32,
    ) -> Result<Vec<SentMessage>, ServiceError> {
        let store = &self.ports.store;
        let events = store.events_of_alert(actor.account, alert, limit).await?;
        let mut found = store.messages_of_events(&events).await?;
        found.sort_by_key(|sent| std::cmp::Reverse(sent.created_at));
        Ok(found)
    }
}
