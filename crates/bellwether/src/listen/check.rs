//! Verifies the signatures of a webhook delivery, as any receiver should.

use std::fmt;

use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use notify::signature::{SignatureFormat, SigningSecret, service, standard};
use serde_json::Value;

/// The result of checking a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SignatureCheck {
    /// The signature is valid. The value says which content is signed.
    Valid(&'static str),
    /// The signature is invalid, with the reason.
    Invalid(String),
    /// There is no signature.
    NotSigned,
    /// There is no secret to verify the signature with.
    NotVerified,
}

impl SignatureCheck {
    /// Returns whether the signature is invalid.
    #[must_use]
    pub const fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid(_))
    }

    /// Returns whether the signature is valid.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        matches!(self, Self::Valid(_))
    }
}

impl fmt::Display for SignatureCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid(over) => write!(f, "right, over {over}"),
            Self::Invalid(why) => write!(f, "WRONG: {why}"),
            Self::NotSigned => f.write_str("none"),
            Self::NotVerified => f.write_str("not verified (give --secret)"),
        }
    }
}

/// A received and verified delivery.
#[derive(Clone, PartialEq, Debug)]
pub struct ReceivedDelivery {
    /// The time of receipt.
    pub at: Timestamp,
    /// The id from the `webhook-id` header.
    pub id: Option<String>,
    /// The result for the service's own signature.
    pub service: SignatureCheck,
    /// The result for the Standard Webhooks signature.
    pub standard: SignatureCheck,
    /// The body, or null if it is not valid JSON.
    pub body: Value,
    /// The body as text without control characters, safe for a terminal.
    pub text: String,
}

impl ReceivedDelivery {
    /// Verifies a delivery.
    #[must_use]
    pub fn verify(headers: &HeaderMap, body: &[u8], secret: Option<&SigningSecret>, at: Timestamp) -> Self {
        Self {
            at,
            id: text(headers, "webhook-id").map(str::to_owned),
            service: check_service_signature(headers, body, secret),
            standard: check_standard_webhooks(headers, body, secret, at),
            body: serde_json::from_slice(body).unwrap_or_default(),
            text: without_control_characters(&String::from_utf8_lossy(body)),
        }
    }

    /// Returns whether both signatures are present and valid.
    #[must_use]
    pub const fn is_trusted(&self) -> bool {
        self.service.is_valid() && self.standard.is_valid()
    }

    /// Returns a readable summary: the symbol, the condition and the reason.
    #[must_use]
    pub fn summary(&self) -> String {
        let part = |pointer: &str| self.body.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
        without_control_characters(&format!(
            "{:<5} {:<22} {}",
            part("/data/alert/symbol"),
            part("/data/alert/condition"),
            part("/data/reason")
        ))
    }

    /// Returns the time between the event and the receipt.
    #[must_use]
    pub fn delay(&self) -> Option<SignedDuration> {
        let event: Timestamp = self.body.get("timestamp")?.as_str()?.parse().ok()?;
        Some(self.at.duration_since(event))
    }
}

/// Replaces control characters, which a terminal would interpret. The sender is not trusted.
fn without_control_characters(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The prefix of the headers is a setting, so any prefix is accepted. If there are several, all signatures must be
/// valid.
fn check_service_signature(headers: &HeaderMap, body: &[u8], secret: Option<&SigningSecret>) -> SignatureCheck {
    let names = headers.keys().map(http::HeaderName::as_str);
    let prefixes = names
        .filter(|name| *name != "webhook-signature")
        .filter_map(|name| name.strip_suffix("-signature"));
    let checks = prefixes.map(|prefix| {
        let signature = text(headers, &format!("{prefix}-signature")).unwrap_or_default();
        let timestamp = text(headers, &format!("{prefix}-timestamp")).unwrap_or_default();
        let Some(secret) = secret else {
            return SignatureCheck::NotVerified;
        };
        if service::verify(SignatureFormat::Timestamped, secret, timestamp, body, signature) {
            SignatureCheck::Valid("timestamp.body")
        } else if service::verify(SignatureFormat::Body, secret, timestamp, body, signature) {
            SignatureCheck::Valid("the body")
        } else {
            SignatureCheck::Invalid(format!("{prefix}-signature is not by this secret, or not of this body"))
        }
    });
    let checks: Vec<SignatureCheck> = checks.collect();
    let wrong = checks.iter().find(|check| check.is_invalid());
    wrong
        .or_else(|| checks.first())
        .cloned()
        .unwrap_or(SignatureCheck::NotSigned)
}

fn check_standard_webhooks(
    headers: &HeaderMap,
    body: &[u8],
    secret: Option<&SigningSecret>,
    at: Timestamp,
) -> SignatureCheck {
    let Some(signatures) = text(headers, "webhook-signature") else {
        return SignatureCheck::NotSigned;
    };
    let Some(secret) = secret else {
        return SignatureCheck::NotVerified;
    };
    let id = text(headers, "webhook-id").unwrap_or_default();
    let timestamp = text(headers, "webhook-timestamp").unwrap_or_default();
    match standard::verify(secret, id, timestamp, signatures, body, at) {
        Ok(()) => SignatureCheck::Valid("id.timestamp.body"),
        Err(error) => SignatureCheck::Invalid(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use notify::signature::{HeaderStyle, SigningInput, SigningSecrets};
    use uuid::Uuid;

    use super::*;

    const BODY: &[u8] = br#"{"event":"alert.triggered","data":{"alert":{"symbol":"AAPL"}}}"#;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn headers(format: SignatureFormat, secret: &SigningSecret) -> HeaderMap {
        HeaderStyle::default().headers(&SigningInput {
            id: Uuid::from_u128(1),
            event: "alert.triggered",
            generated_at: at("2026-03-02T15:00:00Z"),
            attempted_at: at("2026-03-02T15:04:00Z"),
            body: BODY,
            secrets: &SigningSecrets::from(secret.clone()),
            format,
        })
    }

    #[test]
    fn both_formats_verify_with_the_right_secret_only() {
        let (secret, other) = (SigningSecret::from_random([1; 32]), SigningSecret::from_random([2; 32]));
        let now = at("2026-03-02T15:04:05Z");
        for (format, over) in [
            (SignatureFormat::Timestamped, "timestamp.body"),
            (SignatureFormat::Body, "the body"),
        ] {
            let headers = headers(format, &secret);
            let right = ReceivedDelivery::verify(&headers, BODY, Some(&secret), now);
            assert_eq!(right.service, SignatureCheck::Valid(over));
            assert!(right.is_trusted());
            for (secret, body) in [(&other, BODY), (&secret, &BODY[1..])] {
                let wrong = ReceivedDelivery::verify(&headers, body, Some(secret), now);
                assert!(wrong.service.is_invalid() && wrong.standard.is_invalid(), "{wrong:?}");
            }
        }
    }

    #[test]
    fn invalid_signature_among_several_prefixes_is_reported() {
        let secret = SigningSecret::from_random([1; 32]);
        let mut headers = headers(SignatureFormat::Timestamped, &secret);
        headers.insert("x-stockalert-signature", "sha256=00".parse().unwrap());
        let delivery = ReceivedDelivery::verify(&headers, BODY, Some(&secret), at("2026-03-02T15:04:05Z"));
        assert!(
            delivery.service.to_string().contains("x-stockalert-signature"),
            "{delivery:?}"
        );
    }

    #[test]
    fn old_delivery_is_not_trusted() {
        let secret = SigningSecret::from_random([1; 32]);
        let delivery = ReceivedDelivery::verify(
            &headers(SignatureFormat::Body, &secret),
            BODY,
            Some(&secret),
            at("2026-03-02T15:10:00Z"),
        );
        assert!(delivery.service.is_valid() && delivery.standard.is_invalid());
    }

    #[test]
    fn missing_secret_or_signature_is_reported() {
        let secret = SigningSecret::from_random([1; 32]);
        let now = at("2026-03-02T15:04:05Z");
        let delivery = ReceivedDelivery::verify(&headers(SignatureFormat::Body, &secret), BODY, None, now);
        assert_eq!(
            (delivery.service, delivery.standard),
            (SignatureCheck::NotVerified, SignatureCheck::NotVerified)
        );
        let delivery = ReceivedDelivery::verify(&HeaderMap::new(), b"hello", Some(&secret), now);
        assert_eq!(
            (delivery.service, delivery.standard),
            (SignatureCheck::NotSigned, SignatureCheck::NotSigned)
        );
        assert!(delivery.body.is_null());
    }

    #[test]
    fn control_characters_are_removed() {
        for body in [r#"{"data":{"reason":"\u001b[31m"}}"#, "\u{1b}[2J\u{9b}2J\n"] {
            let delivery =
                ReceivedDelivery::verify(&HeaderMap::new(), body.as_bytes(), None, at("2026-03-02T15:04:05Z"));
            let shown = delivery.summary() + &delivery.text;
            assert!(!shown.contains(char::is_control), "{shown:?}");
        }
    }

    #[test]
    fn delay_counts_from_the_event() {
        let body = br#"{"timestamp":"2026-03-02T15:04:00.250Z"}"#;
        let delivery = ReceivedDelivery::verify(&HeaderMap::new(), body, None, at("2026-03-02T15:04:01Z"));
        assert_eq!(delivery.delay(), Some(SignedDuration::from_millis(750)));
        let none = ReceivedDelivery::verify(&HeaderMap::new(), BODY, None, at("2026-03-02T15:04:01Z"));
        assert_eq!(none.delay(), None);
    }
}
