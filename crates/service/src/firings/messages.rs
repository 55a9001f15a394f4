//! The messages about firings: emails, text messages and deliveries to webhooks.

use alerts::named_enum;
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use store::model::{
    Delivery, DeliveryId, DeliveryStatus, EventId, FiringRecord, MessageHold, MessageId, MessageReceipt,
    NotificationChannelId, WebhookId,
};
use uuid::Uuid;

use super::{FiringWithMessages, Firings};

named_enum! {
    /// The state of a message.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum FiringMessageState {
        /// It waits for an attempt.
        Queued = "queued",
        /// It waits for the end of quiet hours, for a digest, or because its channel got many messages.
        Held = "held",
        /// The receiver or the provider has accepted it.
        Accepted = "accepted",
        /// It was given up, or is not sent at all.
        Failed = "failed",
    }
}

/// A message about a firing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiringMessage {
    /// Id of the message or of the delivery. Firings that went out in one message have its id.
    pub id: Uuid,
    /// The notification channel; `None` for the account's own address or number, and for a delivery to a webhook.
    pub channel: Option<NotificationChannelId>,
    /// The type of the channel: `email`, `sms`, `webhook`, `slack` and so on.
    pub kind: &'static str,
    /// State.
    pub state: FiringMessageState,
    /// When it was queued, with its firing.
    pub queued_at: Timestamp,
    /// When its first attempt began.
    pub sent_at: Option<Timestamp>,
    /// When it was accepted.
    pub accepted_at: Option<Timestamp>,
    /// When it was given up.
    pub failed_at: Option<Timestamp>,
    /// Number of attempts.
    pub attempts: u32,
    /// Why the last attempt failed, or why there was none, as one word.
    pub error: Option<String>,
}

impl Firings {
    /// Adds the messages of firings.
    pub(super) async fn with_messages(
        &self,
        actor: &Actor,
        firings: Vec<FiringRecord>,
    ) -> Result<Vec<FiringWithMessages>, ServiceError> {
        let events: Vec<EventId> = firings.iter().map(|firing| firing.id).collect();
        let store = &self.ports.store;
        let receipts = store.receipts_of_events(&events).await?;
        let mut deliveries: Vec<(WebhookId, Vec<Delivery>)> = Vec::new();
        if !events.is_empty() {
            for webhook in store.webhooks(actor.account).await? {
                deliveries.push((webhook.id, store.deliveries_of_events(webhook.id, &events).await?));
            }
        }
        let messages_of = |event: EventId| {
            // A copy that was sent again has another id.
            let is_original = |receipt: &&MessageReceipt| match &receipt.sent.routed_to {
                Some(route) => receipt.sent.id == MessageId::for_channel(event, route.id),
                None => receipt.sent.id == MessageId::for_event(event),
            };
            let sent = receipts.iter().filter(is_original).map(of_receipt);
            let delivered = deliveries.iter().filter_map(|(webhook, deliveries)| {
                let id = DeliveryId::for_event(event, *webhook);
                deliveries.iter().find(|delivery| delivery.id == id).map(of_delivery)
            });
            sent.chain(delivered).collect()
        };
        let with_messages = firings.into_iter().map(|firing| FiringWithMessages {
            messages: messages_of(firing.id),
            firing,
        });
        Ok(with_messages.collect())
    }
}

fn of_receipt(receipt: &MessageReceipt) -> FiringMessage {
    let sent = &receipt.sent;
    let state = match (sent.status.as_str(), sent.outcome.as_deref()) {
        ("pending", Some(outcome)) if MessageHold::from_name(outcome).is_some() => FiringMessageState::Held,
        ("pending", _) => FiringMessageState::Queued,
        ("sent", _) => FiringMessageState::Accepted,
        _ => FiringMessageState::Failed,
    };
    FiringMessage {
        id: receipt.folded_into.unwrap_or(sent.id).0,
        channel: sent.routed_to.as_ref().map(|route| route.id),
        kind: sent.type_name(),
        state,
        queued_at: sent.created_at,
        sent_at: receipt.claimed_at,
        accepted_at: sent.finished_at.filter(|_| state == FiringMessageState::Accepted),
        failed_at: sent.finished_at.filter(|_| state == FiringMessageState::Failed),
        attempts: receipt.attempts,
        error: sent.outcome.clone().filter(|_| state != FiringMessageState::Accepted),
    }
}

fn of_delivery(delivery: &Delivery) -> FiringMessage {
    let (first, last) = (delivery.attempts.first(), delivery.attempts.last());
    let ended_at = last.map(|last| last.at + std::time::Duration::from_millis(last.duration_ms));
    let state = match delivery.status {
        DeliveryStatus::Pending => FiringMessageState::Queued,
        DeliveryStatus::Delivered => FiringMessageState::Accepted,
        DeliveryStatus::Failed => FiringMessageState::Failed,
    };
    FiringMessage {
        id: delivery.id.0,
        channel: None,
        kind: "webhook",
        state,
        queued_at: delivery.created_at,
        sent_at: first.map(|first| first.at),
        accepted_at: ended_at.filter(|_| state == FiringMessageState::Accepted),
        failed_at: ended_at.filter(|_| state == FiringMessageState::Failed),
        attempts: u32::try_from(delivery.attempts.len()).unwrap_or(u32::MAX),
        error: last
            .map(|last| last.outcome.clone())
            .filter(|_| state != FiringMessageState::Accepted),
    }
}
