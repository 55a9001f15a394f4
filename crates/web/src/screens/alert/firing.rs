//! The receipt of a firing: the messages about it with their times, and its acknowledgement.

use jiff::Timestamp;
use market::Decimal;
use serde_json::Value;
use service::firings::{FiringMessage, FiringMessageState, FiringWithMessages};

use super::route::ChannelNames;
use crate::figures;
use crate::screens::settings::type_name_text;
use crate::texts::text;

/// A firing with the messages about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiringReceipt {
    /// The id.
    pub id: String,
    /// When it fired.
    pub at: Timestamp,
    /// The stock of an alert over many stocks.
    pub symbol: Option<String>,
    /// The price.
    pub price: Option<String>,
    /// Why it fired.
    pub reason: String,
    /// The messages.
    pub messages: Vec<FiringMessageLine>,
    /// The acknowledgement.
    pub acknowledged: Option<AcknowledgementLine>,
}

/// An acknowledgement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcknowledgementLine {
    /// When.
    pub at: Timestamp,
    /// Email address of the account.
    pub by: String,
    /// The channel or page by which it came.
    pub via: String,
}

/// A message about a firing. Times are in milliseconds after the firing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiringMessageLine {
    /// The id.
    pub id: String,
    /// The name or the type of its channel.
    pub channel: String,
    /// The state.
    pub state: FiringMessageState,
    /// When it was queued.
    pub queued_ms: i64,
    /// When its first attempt began.
    pub sent_ms: Option<i64>,
    /// When it was accepted or given up.
    pub ended_ms: Option<i64>,
    /// Number of attempts.
    pub attempts: u32,
    /// Why the last attempt failed, or why there was none.
    pub error: Option<String>,
}

impl FiringReceipt {
    /// Formats a firing. `is_scoped` tells whether the alert is over many stocks.
    #[must_use]
    pub fn of(found: &FiringWithMessages, names: &ChannelNames, is_scoped: bool) -> Self {
        let firing = &found.firing;
        let at = firing.timeline.received_at;
        let member = |object: &str, name: &str| firing.data.get(object).and_then(|object| object.get(name)).cloned();
        let symbol = member("alert", "symbol").and_then(|symbol| symbol.as_str().map(str::to_owned));
        let price = member("stock", "price").and_then(|price| Decimal::from_f64(price.as_f64()?).ok());
        let acknowledged = firing.acknowledged.as_ref();
        Self {
            id: firing.id.0.to_string(),
            at,
            symbol: symbol.filter(|_| is_scoped),
            price: price.map(figures::usd),
            reason: firing
                .data
                .get("reason")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            messages: found
                .messages
                .iter()
                .map(|message| FiringMessageLine::of(message, at, names))
                .collect(),
            acknowledged: acknowledged.map(|acknowledgement| AcknowledgementLine {
                at: acknowledgement.at,
                by: acknowledgement.by.clone(),
                via: match acknowledgement.via.as_str() {
                    "api" => text("acknowledged-via-api"),
                    via => type_name_text(via),
                },
            }),
        }
    }

    /// Returns whether an attempt is still due, so that the page follows it.
    pub(super) fn is_moving(&self) -> bool {
        self.messages
            .iter()
            .any(|message| message.state == FiringMessageState::Queued)
    }
}

impl FiringMessageLine {
    fn of(message: &FiringMessage, fired_at: Timestamp, names: &ChannelNames) -> Self {
        let after = |at: Timestamp| i64::try_from(at.duration_since(fired_at).as_millis()).unwrap_or(i64::MAX);
        let channel = message.channel.map(|channel| names.name(&channel.0.to_string()));
        Self {
            id: message.id.to_string(),
            channel: channel.unwrap_or_else(|| type_name_text(message.kind)),
            state: message.state,
            queued_ms: after(message.queued_at),
            sent_ms: message.sent_at.map(after),
            ended_ms: message.accepted_at.or(message.failed_at).map(after),
            attempts: message.attempts,
            error: message.error.as_ref().map(|error| error.replace('_', " ")),
        }
    }

    pub(super) const fn state_text(&self) -> &'static str {
        match self.state {
            FiringMessageState::Queued => "delivery-pending",
            FiringMessageState::Held => "message-held",
            FiringMessageState::Accepted => "accepted",
            FiringMessageState::Failed => "delivery-failed",
        }
    }

    /// Returns a symbol, so that color alone never tells states apart.
    pub(super) const fn mark(&self) -> &'static str {
        match self.state {
            FiringMessageState::Queued | FiringMessageState::Held => "◌",
            FiringMessageState::Accepted => "✓",
            FiringMessageState::Failed => "✕",
        }
    }

    /// Returns the name of the style that the state shares with one of alerts.
    pub(super) const fn style(&self) -> &'static str {
        match self.state {
            FiringMessageState::Queued | FiringMessageState::Held => "waiting",
            FiringMessageState::Accepted => "active",
            FiringMessageState::Failed => "blind",
        }
    }
}
