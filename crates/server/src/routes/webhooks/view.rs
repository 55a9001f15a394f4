//! A webhook, and a delivery, as they are shown.

use serde::Serialize;
use service::webhooks as hooks;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::document::names::{DeliveryStatusName, DisabledReasonName, EventName, OutcomeName, SignatureName};
use crate::values::timestamp;

/// A webhook. Its secret is shown when it is made, and never again.
#[derive(Debug, Serialize, ToSchema)]
pub struct Webhook {
    /// Which one.
    pub id: Uuid,
    /// Whose.
    pub user_id: Uuid,
    /// Where events are sent.
    #[schema(format = "uri", example = "https://example.com/hooks/bellwether")]
    pub url: String,
    /// Which events.
    #[schema(value_type = Vec<EventName>, example = json!(["alert.triggered"]))]
    pub events: Vec<String>,
    /// Whether anything is sent.
    pub is_active: bool,
    /// What the service's own signature is over.
    #[schema(value_type = SignatureName)]
    pub signature: &'static str,
    /// When it was made.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// When it last took a delivery.
    #[schema(required, format = DateTime)]
    pub last_success_at: Option<String>,
    /// Its first failure since then. After five days of nothing but failures it is switched off.
    #[schema(required, format = DateTime)]
    pub failing_since: Option<String>,
    /// When it was switched off.
    #[schema(required, format = DateTime)]
    pub disabled_at: Option<String>,
    /// Why it was switched off.
    #[schema(required, value_type = Option<DisabledReasonName>)]
    pub disabled_reason: Option<&'static str>,
}

impl Webhook {
    pub(super) fn of(webhook: hooks::Webhook) -> Self {
        Self {
            id: webhook.id.0,
            user_id: webhook.account.0,
            url: webhook.url,
            events: webhook.events,
            is_active: webhook.is_active,
            signature: webhook.signature.name(),
            created_at: timestamp(webhook.created_at),
            last_success_at: webhook.last_success_at.map(timestamp),
            failing_since: webhook.failing_since.map(timestamp),
            disabled_at: webhook.disabled.map(|(at, _)| timestamp(at)),
            disabled_reason: webhook.disabled.map(|(_, reason)| reason.name()),
        }
    }
}

/// An event on its way to a webhook.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookDelivery {
    /// Which one: what `X-Service-Delivery` and `webhook-id` say, the same on each attempt.
    pub id: Uuid,
    /// What happened.
    #[schema(value_type = EventName, example = "alert.triggered")]
    pub event: &'static str,
    /// The alert that fired.
    pub alert_id: Uuid,
    /// How far it has come.
    #[schema(value_type = DeliveryStatusName)]
    pub status: &'static str,
    /// What was tried, oldest first: the latest 20.
    pub attempts: Vec<DeliveryAttempt>,
    /// When the event happened.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// When it is tried next; while it is being tried, when it is tried again at the latest. Null once that is over.
    #[schema(required, format = DateTime)]
    pub next_attempt_at: Option<String>,
}

/// One try to deliver.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryAttempt {
    /// When it began.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.012Z")]
    pub at: String,
    /// What came of it.
    #[schema(value_type = OutcomeName, example = "delivered")]
    pub outcome: String,
    /// What the receiver answered, if it did.
    #[schema(required, minimum = 100, maximum = 999, example = 204)]
    pub http_status: Option<u16>,
    /// How long it took, in milliseconds.
    #[schema(minimum = 0, example = 38)]
    pub duration_ms: u64,
    /// The beginning of the answer's body, at most 1 KiB.
    #[schema(required)]
    pub response: Option<String>,
}

impl WebhookDelivery {
    pub(super) fn of(delivery: hooks::Delivery) -> Self {
        Self {
            id: delivery.id.0,
            event: hooks::EVENT,
            alert_id: delivery.alert.0,
            status: delivery.status.name(),
            attempts: delivery.attempts.into_iter().map(DeliveryAttempt::of).collect(),
            created_at: timestamp(delivery.created_at),
            next_attempt_at: delivery.next_attempt_at.map(timestamp),
        }
    }
}

impl DeliveryAttempt {
    fn of(attempt: hooks::Attempt) -> Self {
        Self {
            at: timestamp(attempt.at),
            outcome: attempt.outcome,
            http_status: attempt.http_status,
            duration_ms: attempt.duration_ms,
            response: attempt.response,
        }
    }
}
