//! The headers of a delivery.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use uuid::Uuid;

use super::{Form, Secrets, service, standard};
use crate::message;

/// How `X-Service-Timestamp` is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimestampFormat {
    /// `2024-03-08T14:30:00.000Z`, as in the body.
    #[default]
    Iso,
    /// Milliseconds since 1970.
    EpochMs,
}

impl TimestampFormat {
    fn text(self, at: Timestamp) -> String {
        match self {
            Self::Iso => message::instant(at),
            Self::EpochMs => at.as_millisecond().to_string(),
        }
    }
}

/// What the names of the service's headers begin with, and the names that follow from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderPrefix {
    event: HeaderName,
    timestamp: HeaderName,
    signature: HeaderName,
    delivery: HeaderName,
}

/// What a text is that headers cannot begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be the beginning of a header's name, like X-Service")]
pub struct BadPrefix;

impl HeaderPrefix {
    /// The names that begin so: `X-Service` stands for `X-Service-Event` and so on.
    ///
    /// # Errors
    /// [`BadPrefix`], if no header may be called so.
    pub fn new(prefix: &str) -> Result<Self, BadPrefix> {
        let name = |part: &str| {
            let name = format!("{prefix}-{part}");
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| BadPrefix)
        };
        if prefix.is_empty() || prefix.len() > 64 || prefix.ends_with('-') {
            return Err(BadPrefix);
        }
        Ok(Self {
            event: name("Event")?,
            timestamp: name("Timestamp")?,
            signature: name("Signature")?,
            delivery: name("Delivery")?,
        })
    }
}

/// How deliveries are headed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderStyle {
    /// The beginnings of the headers' names; all of them are sent.
    pub prefixes: Vec<HeaderPrefix>,
    /// How the timestamp is written.
    pub timestamp: TimestampFormat,
}

impl Default for HeaderStyle {
    /// `X-Service` and `X-StockAlert`, with ISO timestamps.
    fn default() -> Self {
        let prefixes = ["X-Service", "X-StockAlert"].map(HeaderPrefix::new);
        Self {
            prefixes: prefixes.into_iter().flatten().collect(),
            timestamp: TimestampFormat::Iso,
        }
    }
}

/// What is to be signed, and how.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// Its id, the same on each attempt.
    pub id: Uuid,
    /// The kind of event, `alert.triggered`.
    pub event: &'a str,
    /// When the event happened: the body's timestamp.
    pub generated_at: Timestamp,
    /// When this attempt begins.
    pub attempted_at: Timestamp,
    /// The body, byte for byte.
    pub body: &'a [u8],
    /// What is signed with.
    pub secrets: &'a Secrets,
    /// What the service's own signature is over.
    pub form: Form,
}

impl HeaderStyle {
    /// The headers of a signed delivery: content type, the service's own, those of Standard Webhooks.
    #[must_use]
    pub fn headers(&self, delivery: &Delivery<'_>) -> HeaderMap {
        let id = delivery.id.to_string();
        let timestamp = self.timestamp.text(delivery.generated_at);
        let signature = service::sign(delivery.form, &delivery.secrets.current, &timestamp, delivery.body);
        let standard = standard::sign(delivery.secrets, &id, delivery.attempted_at, delivery.body);
        let seconds = delivery.attempted_at.as_second().to_string();
        let mut headers = HeaderMap::with_capacity(4 + 4 * self.prefixes.len());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for prefix in &self.prefixes {
            let values = [
                (&prefix.event, delivery.event),
                (&prefix.timestamp, &timestamp),
                (&prefix.signature, &signature),
                (&prefix.delivery, &id),
            ];
            for (name, value) in values {
                insert(&mut headers, name.clone(), value);
            }
        }
        insert(&mut headers, HeaderName::from_static("webhook-id"), &id);
        insert(&mut headers, HeaderName::from_static("webhook-timestamp"), &seconds);
        insert(&mut headers, HeaderName::from_static("webhook-signature"), &standard);
        headers
    }
}

/// The values are digits, names of events and base64, which are always fit for a header; what were not would be left out.
fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
