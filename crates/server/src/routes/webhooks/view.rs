//! Webhooks and deliveries in responses.

use delivery::webhooks as hooks;

use crate::document::names::{DeliveryStatusName, DisabledReasonName, EventName, OutcomeName, SignatureName};
use crate::routes::prelude::*;

/// A webhook. Its secret is shown only at creation and rotation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Webhook)]
pub struct WebhookView {
    /// Unique id.
    pub id: Uuid,
    /// Account id.
    pub user_id: Uuid,
    /// URL that receives events.
    #[schema(format = "uri", example = "https://example.com/hooks/bellwether")]
    pub url: String,
    /// Subscribed events.
    #[schema(value_type = Vec<EventName>, example = json!(["alert.triggered"]))]
    pub events: Vec<String>,
    /// Whether the webhook is active.
    pub is_active: bool,
    /// Signed content of the `X-Service-Signature` header.
    #[schema(value_type = SignatureName)]
    pub signature: &'static str,
    /// Time of creation.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// Time of the last successful delivery.
    #[schema(required, format = DateTime)]
    pub last_success_at: Option<String>,
    /// Time of the first failure since the last success. After five days of failures only, the webhook is disabled.
    #[schema(required, format = DateTime)]
    pub failing_since: Option<String>,
    /// Time when the webhook was disabled.
    #[schema(required, format = DateTime)]
    pub disabled_at: Option<String>,
    /// Reason why the webhook was disabled.
    #[schema(required, value_type = Option<DisabledReasonName>)]
    pub disabled_reason: Option<&'static str>,
}

impl WebhookView {
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

/// A delivery of an event to a webhook.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookDelivery {
    /// Delivery id, as in `X-Service-Delivery` and `webhook-id`; the same for each attempt.
    pub id: Uuid,
    /// Event type.
    #[schema(value_type = EventName, example = "alert.triggered")]
    pub event: &'static str,
    /// Id of the alert that fired.
    pub alert_id: Uuid,
    /// Delivery status.
    #[schema(value_type = DeliveryStatusName)]
    pub status: &'static str,
    /// The latest 20 attempts, oldest first.
    pub attempts: Vec<DeliveryAttempt>,
    /// Time of the event.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// Time of the next attempt; during an attempt, the latest time of the next one. Null once the delivery is finished.
    #[schema(required, format = DateTime)]
    pub next_attempt_at: Option<String>,
}

/// A delivery attempt.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryAttempt {
    /// Start time.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.012Z")]
    pub at: String,
    /// Outcome.
    #[schema(value_type = OutcomeName, example = "delivered")]
    pub outcome: String,
    /// HTTP status of the receiver's response, if any.
    #[schema(required, minimum = 100, maximum = 999, example = 204)]
    pub http_status: Option<u16>,
    /// Duration in milliseconds.
    #[schema(minimum = 0, example = 38)]
    pub duration_ms: u64,
    /// Start of the response body, at most 1 KiB.
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
