//! Creates deliveries and messages together with their firings.

use std::collections::{HashMap, HashSet};

use alerts::Channel;
use alerts::routing::RouteDelivery;
use uuid::Uuid;

use crate::bulk::{Statement, fetch_many, write_many};
use crate::model::message::{FIRING_KIND, endpoint};
use crate::model::{DeliveryId, EventId, MessageChannel, MessageId, Queue, WebhookId};
use crate::routes::{RoutePlan, RoutedChannel, RoutedTarget};
use crate::{StoreError, UnitOfWork};

const ACTIVE_WEBHOOKS: Statement = Statement {
    before: "SELECT account_id, seq, id FROM webhooks WHERE is_active AND deleted_at IS NULL AND account_id IN (VALUES ",
    columns: 1,
    after: ")",
};

// SQLite copies every page that a statement changes if the statement selects what it inserts, because it could then fail after some of
// its rows. So these statements insert plain values, constants included.

const INSERT_DELIVERIES: Statement = Statement {
    before: "INSERT INTO deliveries (id, webhook_seq, event_seq, is_routed, status, tries, due_at, created_at) VALUES ",
    columns: 8,
    after: "",
};

const INSERT_MESSAGES: Statement = Statement {
    before: "INSERT INTO messages
             (id, channel, kind, lane, recipient, account_id, alert_seq, event_seq, status, tries, due_at, created_at) VALUES ",
    columns: 12,
    after: "",
};

const INSERT_ROUTED: Statement = Statement {
    before: "INSERT INTO messages
             (id, channel, kind, lane, account_id, alert_seq, event_seq, notification_channel_seq, status, tries, due_at, created_at)
             VALUES ",
    columns: 12,
    after: " ON CONFLICT (id) DO NOTHING",
};

/// The status of what has not been sent.
const PENDING: &str = "pending";
/// The number of attempts of what has not been sent.
const NO_TRIES: i32 = 0;

/// A message about an event to a notification channel.
#[derive(Debug)]
pub(crate) struct RoutedMessage<'a> {
    pub(crate) channel: &'a RoutedChannel,
    pub(crate) by: MessageChannel,
    pub(crate) account: Uuid,
    pub(crate) event: EventId,
    pub(crate) event_seq: i64,
    pub(crate) alert_seq: i64,
    pub(crate) at: i64,
}

/// A firing that needs a message, and deliveries if it has an account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FiredEvent<'a> {
    pub(crate) notification: Channel,
    pub(crate) account: Option<Uuid>,
    /// A guest's email address.
    pub(crate) guest: Option<&'a str>,
    /// The channels of its messages. `None`: the account's own address or number, or that of the guest.
    pub(crate) route: Option<&'a RoutePlan>,
    pub(crate) alert_seq: i64,
    pub(crate) event: Uuid,
    pub(crate) event_seq: i64,
    pub(crate) at: i64,
}

impl FiredEvent<'_> {
    /// All messages to one account or guest share one endpoint.
    fn endpoint(&self) -> i64 {
        let account = self.account.as_ref().map(Uuid::as_bytes);
        endpoint(account.map_or_else(|| self.guest.unwrap_or_default().as_bytes(), |id| id.as_slice()))
    }

    /// Removes a route that reaches nobody: its webhooks have been disabled since it was read, and it has no other channels.
    pub(crate) fn without_lost_route(self, deliveries: &HashSet<Uuid>) -> Self {
        let is_reached = |channel: &RoutedChannel| match channel.target {
            RoutedTarget::Message(_) => true,
            RoutedTarget::Webhook(_) => deliveries.contains(&channel.current_id(EventId(self.event))),
        };
        let route = self.route.filter(|plan| plan.channels.iter().any(is_reached));
        Self { route, ..self }
    }

    /// Returns whether a webhook is a channel of the route.
    fn is_routed_to(&self, webhook: Uuid) -> bool {
        let target = RoutedTarget::Webhook(WebhookId(webhook));
        self.route
            .is_some_and(|plan| plan.channels.iter().any(|channel| channel.target == target))
    }

    /// Returns the channels that get a message at once.
    fn first_channels(&self) -> &[RoutedChannel] {
        match self.route {
            None => &[],
            Some(RoutePlan { channels, delivery }) => match delivery {
                RouteDelivery::All => channels,
                RouteDelivery::Failover { .. } => channels.get(..1).unwrap_or_default(),
            },
        }
    }
}

impl UnitOfWork {
    /// Creates the messages of events: one to the account's own address or number, or one to each channel of a route that gets it at
    /// once.
    pub(crate) async fn create_messages(&mut self, events: &[FiredEvent<'_>]) -> Result<(), StoreError> {
        let own: Vec<&FiredEvent<'_>> = events.iter().filter(|event| event.route.is_none()).collect();
        write_many!(self, INSERT_MESSAGES, &own, |query, event| {
            query
                .bind(MessageId::for_event(EventId(event.event)).0)
                .bind(MessageChannel::from(event.notification).name())
                .bind(FIRING_KIND)
                .bind(event.endpoint())
                .bind(event.guest)
                .bind(event.account)
                .bind(event.alert_seq)
                .bind(event.event_seq)
                .bind(PENDING)
                .bind(NO_TRIES)
                .bind(event.at)
                .bind(event.at)
        });
        for event in own {
            self.wake(MessageChannel::from(event.notification).into());
        }
        self.create_routed_messages(events).await
    }

    async fn create_routed_messages(&mut self, events: &[FiredEvent<'_>]) -> Result<(), StoreError> {
        let mut messages = Vec::new();
        for event in events {
            for channel in event.first_channels() {
                if let (RoutedTarget::Message(by), Some(account)) = (channel.target, event.account) {
                    messages.push(RoutedMessage {
                        channel,
                        by,
                        account,
                        event: EventId(event.event),
                        event_seq: event.event_seq,
                        alert_seq: event.alert_seq,
                        at: event.at,
                    });
                }
            }
        }
        self.insert_routed_messages(&messages).await
    }

    /// Inserts messages about events to notification channels, unless they exist.
    pub(crate) async fn insert_routed_messages(&mut self, messages: &[RoutedMessage<'_>]) -> Result<(), StoreError> {
        write_many!(self, INSERT_ROUTED, messages, |query, message| {
            query
                .bind(message.channel.current_id(message.event))
                .bind(message.by.name())
                .bind(FIRING_KIND)
                .bind(message.channel.endpoint(message.by, message.account))
                .bind(message.account)
                .bind(message.alert_seq)
                .bind(message.event_seq)
                .bind(message.channel.seq)
                .bind(PENDING)
                .bind(NO_TRIES)
                .bind(message.at)
                .bind(message.at)
        });
        for message in messages {
            self.wake(message.by.into());
        }
        Ok(())
    }

    /// Creates the deliveries of events: one for each active webhook of the account. Returns their ids.
    pub(crate) async fn create_deliveries(&mut self, events: &[FiredEvent<'_>]) -> Result<HashSet<Uuid>, StoreError> {
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
                rows.push((
                    id.0,
                    webhook_seq,
                    event.event_seq,
                    event.is_routed_to(webhook),
                    event.at,
                ));
            }
        }
        let made = write_many!(self, INSERT_DELIVERIES, &rows, |query, row| {
            query
                .bind(row.0)
                .bind(row.1)
                .bind(row.2)
                .bind(row.3)
                .bind(PENDING)
                .bind(NO_TRIES)
                .bind(row.4)
                .bind(row.4)
        });
        if made > 0 {
            self.wake(Queue::Webhooks);
        }
        Ok(rows.into_iter().map(|(id, ..)| id).collect())
    }
}
