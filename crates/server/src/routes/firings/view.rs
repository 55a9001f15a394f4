//! A firing in responses.

use serde_json::{Map, Value};
use service::firings::{Acknowledgement, FiringMessage, FiringMessageState, FiringTimeline, FiringWithMessages};

use crate::routes::prelude::*;

/// A firing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Firing)]
pub struct FiringView {
    /// Firing id: the id of its event.
    pub id: Uuid,
    /// Alert id.
    pub alert_id: Uuid,
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The condition.
    #[schema(example = "price_above")]
    pub condition: String,
    /// The threshold at the firing.
    #[schema(required, example = 200.0)]
    pub threshold: Option<f64>,
    /// Price at which the alert fired.
    #[schema(required, example = 200.01)]
    pub trigger_price: Option<f64>,
    /// Why it fired.
    #[schema(example = "AAPL is at 200.01, at or above your 200.00")]
    pub reason: String,
    /// When each step was.
    pub timeline: FiringTimelineView,
    /// The messages about it.
    pub messages: Vec<FiringMessageView>,
    /// Its acknowledgement.
    #[schema(required)]
    pub acknowledged: Option<AcknowledgementView>,
}

/// The receipt of a firing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FiringReceipt)]
pub struct FiringReceiptView {
    /// Firing id, by which it is acknowledged.
    pub id: Uuid,
    /// When each step was.
    pub timeline: FiringTimelineView,
    /// The messages about it.
    pub messages: Vec<FiringMessageView>,
    /// Its acknowledgement.
    #[schema(required)]
    pub acknowledged: Option<AcknowledgementView>,
}

impl FiringReceiptView {
    pub(crate) fn of(FiringWithMessages { firing, messages }: FiringWithMessages) -> Self {
        Self {
            id: firing.id.0,
            timeline: FiringTimelineView::of(firing.timeline),
            messages: messages.into_iter().map(FiringMessageView::of).collect(),
            acknowledged: firing.acknowledged.map(AcknowledgementView::of),
        }
    }
}

/// The times of the steps of a firing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FiringTimeline)]
pub struct FiringTimelineView {
    /// When the quote was made that made it fire; null without one.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub quoted_at: Option<String>,
    /// When this service received it.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.210Z")]
    pub received_at: String,
    /// When it was judged.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.211Z")]
    pub judged_at: Option<String>,
    /// When it was written.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.214Z")]
    pub committed_at: Option<String>,
}

/// A message about a firing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FiringMessage)]
pub struct FiringMessageView {
    /// Id of the message, or of the delivery to a webhook.
    pub id: Uuid,
    /// The notification channel; null for the account's own address or number, and for a delivery to a webhook.
    #[schema(required)]
    pub channel_id: Option<Uuid>,
    /// The type of its channel.
    #[serde(rename = "type")]
    #[schema(example = "email")]
    pub kind: &'static str,
    /// State. `held` waits for the end of quiet hours.
    #[schema(value_type = FiringMessageStateName)]
    pub state: &'static str,
    /// When it was queued.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.210Z")]
    pub queued_at: String,
    /// When its first attempt began.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.240Z")]
    pub sent_at: Option<String>,
    /// When it was accepted.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.390Z")]
    pub accepted_at: Option<String>,
    /// When it was given up.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.390Z")]
    pub failed_at: Option<String>,
    /// Number of attempts.
    #[schema(minimum = 0, example = 1)]
    pub attempts: u32,
    /// Why the last attempt failed, or why there was none.
    #[schema(required, example = "timed_out")]
    pub error: Option<String>,
}

/// The states of a message about a firing.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum FiringMessageStateName {
    /// It waits for an attempt.
    Queued,
    /// It waits for the end of quiet hours.
    Held,
    /// It was accepted.
    Accepted,
    /// It was given up, or is not sent at all.
    Failed,
}

/// The acknowledgement of a firing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Acknowledgement)]
pub struct AcknowledgementView {
    /// When.
    #[schema(format = DateTime, example = "2026-03-02T15:09:00.000Z")]
    pub at: String,
    /// Email address of the account.
    #[schema(example = "ann@example.com")]
    pub by: String,
    /// `api`, or the type of the channel.
    #[schema(example = "api")]
    pub via: String,
}

impl FiringView {
    pub(super) fn of(FiringWithMessages { firing, messages }: FiringWithMessages) -> Self {
        let alert = firing.data.get("alert").and_then(Value::as_object);
        let of_alert = |member: &str| alert.and_then(|alert| alert.get(member));
        Self {
            id: firing.id.0,
            alert_id: firing.alert.0,
            symbol: text(of_alert("symbol")),
            condition: text(of_alert("condition")),
            threshold: of_alert("threshold").and_then(Value::as_f64),
            trigger_price: stock_price(&firing.data),
            reason: text(firing.data.get("reason")),
            timeline: FiringTimelineView::of(firing.timeline),
            messages: messages.into_iter().map(FiringMessageView::of).collect(),
            acknowledged: firing.acknowledged.map(AcknowledgementView::of),
        }
    }
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn stock_price(data: &Map<String, Value>) -> Option<f64> {
    data.get("stock")?.get("price")?.as_f64()
}

impl FiringTimelineView {
    fn of(timeline: FiringTimeline) -> Self {
        Self {
            quoted_at: timeline.quoted_at.map(timestamp),
            received_at: timestamp(timeline.received_at),
            judged_at: timeline.judged_at.map(timestamp),
            committed_at: timeline.committed_at.map(timestamp),
        }
    }
}

impl FiringMessageView {
    fn of(message: FiringMessage) -> Self {
        Self {
            id: message.id,
            channel_id: message.channel.map(|channel| channel.0),
            kind: message.kind,
            state: FiringMessageState::name(message.state),
            queued_at: timestamp(message.queued_at),
            sent_at: message.sent_at.map(timestamp),
            accepted_at: message.accepted_at.map(timestamp),
            failed_at: message.failed_at.map(timestamp),
            attempts: message.attempts,
            error: message.error,
        }
    }
}

impl AcknowledgementView {
    fn of(acknowledgement: Acknowledgement) -> Self {
        Self {
            at: timestamp(acknowledgement.at),
            by: acknowledgement.by,
            via: acknowledgement.via,
        }
    }
}
