//! Responses, with the fields that this program reads. The tests compare them with the schemas of the OpenAPI document.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use uuid::Uuid;

/// An alert.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemoteAlert {
    /// Unique id.
    pub id: Uuid,
    /// Stock symbol; `None` for an alert over many stocks.
    pub symbol: Option<String>,
    /// The stocks of an alert over many stocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Value>,
    /// Condition.
    pub condition: String,
    /// Threshold of the condition.
    pub threshold: Option<Number>,
    /// The condition's parameters in normalized form.
    pub parameters: Option<Map<String, Value>>,
    /// Notification channel: `email` or `sms`.
    pub notification: String,
    /// Status.
    pub status: String,
    /// Time of creation.
    pub created_at: String,
    /// Time of the last firing.
    pub triggered_at: Option<String>,
    /// Price when the alert was created or last activated.
    pub initial_price: Option<f64>,
    /// The owner's note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The owner's tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The options that differ from their defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Map<String, Value>>,
    /// The notification channels of its route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<Uuid>>,
    /// How the channels are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The time for an acknowledgement before the next channel is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_timeout: Option<String>,
    /// Whether messages do not wait for the end of quiet hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urgent: Option<bool>,
    /// The source that manages it, and its name there; `None` if people manage it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<RemoteManagedBy>,
}

/// The source that manages an alert, and the alert's name there.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RemoteManagedBy {
    /// The source.
    pub source: String,
    /// The name.
    pub name: String,
}

/// The alerts after a batch.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RemoteChangedAlerts {
    /// The created alerts.
    pub create: Vec<RemoteBatchedAlert>,
    /// The updated alerts.
    pub update: Vec<RemoteBatchedAlert>,
    /// The deleted alerts.
    pub delete: Vec<RemoteDeletedAlert>,
    /// The revision of the source.
    pub source_revision: Option<i64>,
}

/// An alert after a batch.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RemoteBatchedAlert {
    /// `created`, `existing`, `updated` or `unchanged`.
    pub result: String,
    /// The alert.
    pub alert: RemoteAlert,
}

/// A deleted alert.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RemoteDeletedAlert {
    /// Unique id.
    pub alert_id: Uuid,
}

/// An alert with a new status.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemoteAlertStatus {
    /// Unique id.
    pub alert_id: Uuid,
    /// Status.
    pub status: String,
}

/// An alert that was read from a text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemoteParsedAlert {
    /// The body that creates it.
    pub alert: Map<String, Value>,
    /// The alert as a plain sentence.
    pub sentence: String,
}

/// The firings that an alert would have had.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemotePreview {
    /// The firings, oldest first; of more than 500 the newest.
    pub firings: Vec<RemotePreviewedFiring>,
    /// The number of all firings.
    pub count: u64,
    /// The number of firings per year.
    pub per_year: Option<f64>,
    /// The resolution of the bars.
    pub resolution: String,
    /// The played days.
    pub coverage: RemotePreviewCoverage,
    /// A warning if the alert fires too often.
    pub noise: Option<RemotePreviewNoise>,
}

/// A firing that an alert would have had.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemotePreviewedFiring {
    /// Time of the firing.
    pub time: String,
    /// Stock symbol.
    pub symbol: String,
    /// Price of the stock.
    pub price: Option<f64>,
    /// Reason of the firing.
    pub reason: String,
}

/// The played days of a preview.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemotePreviewCoverage {
    /// First day.
    pub from: Option<String>,
    /// Last day.
    pub to: Option<String>,
}

/// A warning of a preview.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemotePreviewNoise {
    /// How often the alert fires.
    pub message: String,
    /// A change that helps.
    pub suggestion: String,
}

/// Why an alert fires, or does not.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemoteExplanation {
    /// The alert as a sentence.
    pub sentence: String,
    /// Whether the condition holds; `None` if it is unknown.
    pub holds: Option<bool>,
    /// Its comparisons.
    pub terms: Vec<RemoteTerm>,
    /// The reasons why the alert does not fire.
    pub gates: Vec<RemoteGate>,
}

/// A comparison of a condition.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemoteTerm {
    /// The text.
    pub text: String,
    /// The value on the left.
    pub left: Option<f64>,
    /// The value on the right.
    pub right: Option<f64>,
    /// Whether it holds.
    pub holds: Option<bool>,
    /// The distance, in percent of the left value.
    pub distance_pct: Option<f64>,
}

/// A reason why an alert does not fire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemoteGate {
    /// The kind.
    pub gate: String,
    /// The message.
    pub message: String,
}

/// A firing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemoteFiring {
    /// Firing id.
    pub id: Uuid,
    /// Alert id.
    pub alert_id: Uuid,
    /// Stock symbol.
    pub symbol: String,
    /// The condition.
    pub condition: String,
    /// The threshold at the firing.
    pub threshold: Option<f64>,
    /// Price at which the alert fired.
    pub trigger_price: Option<f64>,
    /// Why it fired.
    pub reason: String,
    /// When each step was.
    pub timeline: RemoteFiringTimeline,
}

/// The times of the steps of a firing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RemoteFiringTimeline {
    /// When the service received the quote that made it fire.
    pub received_at: String,
    /// When it was written.
    pub committed_at: Option<String>,
}

/// A notification channel.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RemoteNotificationChannel {
    /// Unique id.
    pub id: Uuid,
    /// Name.
    pub name: String,
}
