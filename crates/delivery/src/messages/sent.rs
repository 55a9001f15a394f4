//! The messages about alerts that an account was sent.

use alerts::AlertId;
use foundation::account::lock_active_account;
use foundation::{Actor, Ports, ServiceError};
use jiff::Timestamp;
use store::Abort;
use store::model::is_alert_news;

use super::outbox::{MessageChannel, MessageId};

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
        for &channel in MessageChannel::ALL {
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
        let receipts = store.receipts_of_events(&events).await?;
        let mut found: Vec<SentMessage> = receipts.into_iter().map(|receipt| receipt.sent).collect();
        // A message that was sent again has a copy with another id.
        let latest = self.latest_alert_messages(actor, usize::MAX).await?;
        let copies = latest
            .into_iter()
            .filter(|sent| sent.alert == Some(alert) && found.iter().all(|known| known.id != sent.id));
        found.extend(copies.collect::<Vec<_>>());
        found.sort_by_key(|sent| std::cmp::Reverse(sent.created_at));
        Ok(found)
    }

    /// Sends a message about a firing again, to the channel, within the limits and with the attempts of a new one. Repeated requests
    /// within a minute send it once.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]: also for messages whose content is not kept, such as codes; [`ServiceError::Forbidden`] if the account
    /// is deactivated.
    pub async fn resend(&self, actor: &Actor, id: MessageId) -> Result<(), ServiceError> {
        let now = self.ports.clock.now();
        let minute = now.as_second().div_euclid(60);
        let period = Timestamp::from_second(minute * 60).unwrap_or(now);
        let inputs = (actor.account, id, id.for_resend(period), now);
        let transaction = self.ports.transaction(inputs, |&(account, id, copy, now), unit| {
            Box::pin(async move {
                lock_active_account(unit, account).await?;
                match unit.resend_message(account, id, copy, now).await? {
                    true => Ok(()),
                    false => Err(Abort::Refused(ServiceError::NotFound("message"))),
                }
            })
        });
        transaction.await
    }
}
