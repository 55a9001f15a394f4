//! Creates deliveries and messages together with their firings.

use std::collections::{HashMap, HashSet};

use alerts::Channel;
use uuid::Uuid;

use crate::bulk::{Statement, fetch_many, write_many};
use crate::model::message::{FIRING_KIND, endpoint};
use crate::model::{DeliveryId, EventId, MessageChannel, MessageId, Queue, WebhookId};
use crate::{StoreError, UnitOfWork};

const ACTIVE_WEBHOOKS: Statement = Statement {
    before: "SELECT account_id, seq, id FROM webhooks WHERE is_active AND deleted_at IS NULL AND account_id IN (VALUES ",
    columns: 1,
    after: ")",
};

const INSERT_DELIVERIES: Statement = Statement {
    before: "INSERT INTO deliveries (id, webhook_seq, event_seq, status, tries, due_at, created_at)
             SELECT column1, column2, column3, 'pending', 0, column4, column4 FROM (VALUES ",
    columns: 4,
    after: ") AS made WHERE true",
};

const INSERT_MESSAGES: Statement = Statement {
    before: "INSERT INTO messages
             (id, channel, kind, lane, recipient, account_id, alert_seq, event_seq, status, tries, due_at, created_at)
             SELECT column1, column2, 'fired', column3, column4, column5, column6, column7, 'pending', 0, column8, column8
             FROM (VALUES ",
    columns: 8,
    after: ") AS made WHERE true",
};

/// A firing that needs a message, and deliveries if it has an account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FiredEvent<'a> {
    pub(crate) notification: Channel,
    pub(crate) account: Option<Uuid>,
    /// A guest's email address.
    pub(crate) guest: Option<&'a str>,
    pub(crate) alert_seq: i64,
    pub(crate) event: Uuid,
    pub(crate) event_seq: i64,
    pub(crate) at: i64,
}

impl FiredEvent<'_> {
    const fn channel(&self) -> MessageChannel {
        match self.notification {
            Channel::Email => MessageChannel::Email,
            Channel::Sms => MessageChannel::Sms,
        }
    }

    /// All messages to one account or guest share one endpoint.
    fn endpoint(&self) -> i64 {
        let account = self.account.as_ref().map(Uuid::as_bytes);
        endpoint(account.map_or_else(|| self.guest.unwrap_or_default().as_bytes(), |id| id.as_slice()))
    }
}

impl UnitOfWork {
    /// Creates one message for each event.
    pub(crate) async fn create_messages(&mut self, events: &[FiredEvent<'_>]) -> Result<(), StoreError> {
        debug_assert_eq!(FIRING_KIND, "fired");
        write_many!(self, INSERT_MESSAGES, events, |query, event| {
            query
                .bind(MessageId::for_event(EventId(event.event)).0)
                .bind(event.channel().name())
                .bind(event.endpoint())
                .bind(event.guest)
                .bind(event.account)
                .bind(event.alert_seq)
                .bind(event.event_seq)
                .bind(event.at)
        });
        for event in events {
            self.wake(event.channel().into());
        }
        Ok(())
    }

    /// Creates the deliveries of events: one for each active webhook of the account.
    pub(crate) async fn create_deliveries(&mut self, events: &[FiredEvent<'_>]) -> Result<(), StoreError> {
        let accounts: HashSet<Uuid> = events.iter().filter_map(|event| event.account).collect();
        let accounts: Vec<Uuid> = accounts.into_iter().collect();
        let found = fetch_many!(self, (Uuid, i64, Uuid), ACTIVE_WEBHOOKS, &accounts, |query, account| {
            query.bind(*account)
        });
        let mut webhooks: HashMap<Uuid, Vec<(i64, Uuid)>> = HashMap::new();
        for (account, seq, id) in found {
            webhooks.entry(account).or_default().push((seq, id));
        }
        let mut rows = Vec::new();
        for event in events {
            let of_account = event.account.and_then(|account| webhooks.get(&account));
            for &(webhook_seq, webhook) in of_account.into_iter().flatten() {
                let id = DeliveryId::for_event(EventId(event.event), WebhookId(webhook));
                rows.push((id.0, webhook_seq, event.event_seq, event.at));
            }
        }
        let made = write_many!(self, INSERT_DELIVERIES, &rows, |query, row| {
            query.bind(row.0).bind(row.1).bind(row.2).bind(row.3)
        });
        if made > 0 {
            self.wake(Queue::Webhooks);
        }
        Ok(())
    }
}
