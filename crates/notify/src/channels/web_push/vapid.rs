//! The `Authorization` header that identifies this service at a push service (RFC 8292).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use url::Url;

use super::vapid_key::VapidKey;

/// Lifetime of a token. Push services accept at most 24 hours; half of it tolerates clocks that differ.
const TOKEN_LIFETIME: SignedDuration = SignedDuration::from_hours(12);

/// Returns the header of a message at `now`. `subject` is the contact of the operator. It is left out unless it is a URL with `https:` or
/// `mailto:`, the only ones that RFC 8292 permits. `None` if the library fails.
pub(super) fn authorization(key: &VapidKey, endpoint: &Url, subject: &str, now: Timestamp) -> Option<HeaderValue> {
    let encode = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let mut claims = json!({
        "aud": endpoint.origin().ascii_serialization(),
        "exp": now.as_second().saturating_add(TOKEN_LIFETIME.as_secs()),
    });
    if subject.starts_with("https:") || subject.starts_with("mailto:") {
        claims["sub"] = json!(subject);
    }
    let signed = format!("{}.{}", encode(json!({"typ": "JWT", "alg": "ES256"})), encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(key.sign(&signed).ok()?);
    let header = format!("vapid t={signed}.{signature}, k={}", key.public_key());
    let mut header = HeaderValue::from_str(&header).ok()?;
    header.set_sensitive(true);
    Some(header)
}
