//! Standard Webhooks signatures (`webhook-signature`). Any Standard Webhooks library can verify them.
//!
//! The signed text is `<id>.<timestamp>.<body>`. The timestamp is the time of the attempt in seconds, because the libraries reject
//! timestamps older than five minutes, and a retry can come later than that.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

use super::{MAX_SIGNING_SECRETS, SigningSecret, SigningSecrets};

/// Maximum difference between a timestamp and the current time, the same as in the Standard Webhooks libraries.
pub const TIMESTAMP_TOLERANCE: Duration = Duration::from_secs(300);

/// Signs a body: `v1,<base64>` with the current secret, then one with each former secret, at most [`MAX_SIGNING_SECRETS`] in all.
#[must_use]
pub fn sign(secrets: &SigningSecrets, id: &str, at: Timestamp, body: &[u8]) -> String {
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

/// An error of [`verify`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VerifyError {
    /// The timestamp is not a number of seconds.
    #[error("webhook-timestamp must be seconds since 1970")]
    InvalidTimestamp,
    /// The timestamp differs from the current time by more than [`TIMESTAMP_TOLERANCE`].
    #[error("webhook-timestamp is more than five minutes off")]
    TimestampOutOfTolerance,
    /// No signature matches.
    #[error("no signature in webhook-signature matches: check the secret, and that the body is unchanged")]
    NoMatchingSignature,
}

/// Verifies a delivery by its Standard Webhooks headers.
///
/// # Errors
/// [`VerifyError`] if the timestamp or the signatures are not valid.
pub fn verify(
    secret: &SigningSecret,
    id: &str,
    timestamp: &str,
    signatures: &str,
    body: &[u8],
    now: Timestamp,
) -> Result<(), VerifyError> {
    let second: i64 = timestamp.parse().map_err(|_| VerifyError::InvalidTimestamp)?;
    if now.as_second().abs_diff(second) > TIMESTAMP_TOLERANCE.as_secs() {
        return Err(VerifyError::TimestampOutOfTolerance);
    }
    let is_valid = signatures.split(' ').any(|signature| {
        let claimed = signature
            .strip_prefix("v1,")
            .and_then(|text| STANDARD.decode(text).ok());
        let mac = mac(secret, id, timestamp, body);
        claimed
            .zip(mac)
            .is_some_and(|(claimed, mac)| mac.verify_slice(&claimed).is_ok())
    });
    if is_valid {
        Ok(())
    } else {
        Err(VerifyError::NoMatchingSignature)
    }
}

/// Computes the HMAC. HMAC accepts keys of any length, so the result is never `None`.
fn mac(secret: &SigningSecret, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret.decoded()).ok()?;
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    Some(mac)
}
