//! The HTTP headers of a signed delivery.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use uuid::Uuid;

use super::{SignatureFormat, SigningSecrets, service, standard};
use crate::message;

/// The format of the `X-Service-Timestamp` header.
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

/// The prefix of the header names, and the names with that prefix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderPrefix {
    event: HeaderName,
    timestamp: HeaderName,
    signature: HeaderName,
    delivery: HeaderName,
}

/// The text is not a valid header name prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be the beginning of a header name, like X-Service")]
pub struct HeaderPrefixError;

impl HeaderPrefix {
    /// Returns the names with this prefix: `X-Service` gives `X-Service-Event` and so on.
    ///
    /// # Errors
    /// [`HeaderPrefixError`] if the header names would be invalid.
    pub fn new(prefix: &str) -> Result<Self, HeaderPrefixError> {
        let name = |part: &str| {
            let name = format!("{prefix}-{part}");
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderPrefixError)
        };
        if prefix.is_empty() || prefix.len() > 64 || prefix.ends_with('-') {
            return Err(HeaderPrefixError);
        }
        Ok(Self {
            event: name("Event")?,
            timestamp: name("Timestamp")?,
            signature: name("Signature")?,
            delivery: name("Delivery")?,
        })
    }
}

/// The style of the signature headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderStyle {
    /// The prefixes of the header names. The headers are sent once for each prefix.
    pub prefixes: Vec<HeaderPrefix>,
    /// The format of the timestamp.
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

/// The data of a delivery that is signed.
#[derive(Clone, Copy, Debug)]
pub struct SigningInput<'a> {
    /// The delivery id, the same on each attempt.
    pub id: Uuid,
    /// The event type, `alert.triggered`.
    pub event: &'a str,
    /// When the event occurred: the `timestamp` of the body.
    pub generated_at: Timestamp,
    /// When this attempt starts.
    pub attempted_at: Timestamp,
    /// The body, byte for byte.
    pub body: &'a [u8],
    /// The signing secrets.
    pub secrets: &'a SigningSecrets,
    /// The format of the service signature.
    pub format: SignatureFormat,
}

impl HeaderStyle {
    /// Returns the headers of a signed delivery: content type, service headers, and Standard Webhooks headers.
    #[must_use]
    pub fn headers(&self, delivery: &SigningInput<'_>) -> HeaderMap {
        let id = delivery.id.to_string();
        let timestamp = self.timestamp.text(delivery.generated_at);
        let signature = service::sign(delivery.format, &delivery.secrets.current, &timestamp, delivery.body);
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

/// Inserts a header. The values are digits, event names and base64, which are always valid; an invalid value would be left out.
fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
