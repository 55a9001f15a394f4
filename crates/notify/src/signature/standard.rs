//! Standard Webhooks signatures (`webhook-signature`), so that any of its libraries verifies a delivery.
//!
//! Signed is `<id>.<timestamp>.<body>`, where the timestamp is that of the attempt in seconds: the libraries refuse what is
//! older than five minutes, and a retry is not.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

use super::{MAX_SIGNING_SECRETS, Secret, Secrets};

/// How far off a timestamp may be, as the libraries have it.
pub const TOLERANCE: Duration = Duration::from_secs(300);

/// Signs a body: `v1,<base64>` with the current secret, then one with each former secret, at most [`MAX_SIGNING_SECRETS`] in all.
#[must_use]
pub fn sign(secrets: &Secrets, id: &str, at: Timestamp, body: &[u8]) -> String {
    let timestamp = at.as_second().to_string();
    let signed = std::iter::once(&secrets.current).chain(&secrets.former);
    let signatures = signed
        .take(MAX_SIGNING_SECRETS)
        .filter_map(|secret| mac(secret, id, &timestamp, body));
    let signatures: Vec<String> = signatures
        .map(|mac| format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
        .collect();
    signatures.join(" ")
}

/// Why a delivery is not to be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Distrust {
    /// The timestamp is no number of seconds.
    #[error("webhook-timestamp must be seconds since 1970")]
    NoTimestamp,
    /// The timestamp is not of now.
    #[error("webhook-timestamp is more than five minutes off")]
    NotNow,
    /// No signature is right.
    #[error("no signature in webhook-signature is right: check the secret, and that the body is the one that was sent")]
    WrongSignature,
}

/// Verifies a delivery with what its headers say.
///
/// # Errors
/// [`Distrust`], if it is not to be trusted.
pub fn verify(
    secret: &Secret,
    id: &str,
    timestamp: &str,
    signatures: &str,
    body: &[u8],
    now: Timestamp,
) -> Result<(), Distrust> {
    let second: i64 = timestamp.parse().map_err(|_| Distrust::NoTimestamp)?;
    if now.as_second().abs_diff(second) > TOLERANCE.as_secs() {
        return Err(Distrust::NotNow);
    }
    let right = signatures.split(' ').any(|signature| {
        let claimed = signature
            .strip_prefix("v1,")
            .and_then(|text| STANDARD.decode(text).ok());
        let mac = mac(secret, id, timestamp, body);
        claimed
            .zip(mac)
            .is_some_and(|(claimed, mac)| mac.verify_slice(&claimed).is_ok())
    });
    if right { Ok(()) } else { Err(Distrust::WrongSignature) }
}

/// HMAC takes keys of any length, so there is always one.
fn mac(secret: &Secret, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret.decoded()).ok()?;
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    Some(mac)
}
