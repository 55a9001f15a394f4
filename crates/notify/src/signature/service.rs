//! Service signatures (`X-Service-Signature`): HMAC-SHA-256 with the whole secret as the key.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{SigningSecret, hex};

alerts::named_enum! {
    /// The format of a service signature.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum SignatureFormat {
        /// `sha256=<hex>` over `<timestamp>.<body>`, with the timestamp as in the `X-Service-Timestamp` header.
        #[default]
        Timestamped = "timestamped",
        /// `<hex>` over the body.
        Body = "body",
    }
}

/// The prefix of signatures in the timestamped format.
const PREFIX: &str = "sha256=";

/// Signs a body. `timestamp` is the value of the timestamp header.
#[must_use]
pub fn sign(format: SignatureFormat, secret: &SigningSecret, timestamp: &str, body: &[u8]) -> String {
    let digest = mac(format, secret, timestamp, body).map(|mac| mac.finalize().into_bytes());
    let digest = digest.map(|bytes| hex::encode(&bytes)).unwrap_or_default();
    match format {
        SignatureFormat::Timestamped => format!("{PREFIX}{digest}"),
        SignatureFormat::Body => digest,
    }
}

/// Verifies a signature in constant time. The prefix `sha256=` may be missing.
#[must_use]
pub fn verify(format: SignatureFormat, secret: &SigningSecret, timestamp: &str, body: &[u8], signature: &str) -> bool {
    let Some(claimed) = hex::decode(signature.strip_prefix(PREFIX).unwrap_or(signature)) else {
        return false;
    };
    mac(format, secret, timestamp, body).is_some_and(|mac| mac.verify_slice(&claimed).is_ok())
}

/// Computes the HMAC. HMAC accepts keys of any length, so the result is never `None`.
fn mac(format: SignatureFormat, secret: &SigningSecret, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.whole()).ok()?;
    if format == SignatureFormat::Timestamped {
        mac.update(timestamp.as_bytes());
        mac.update(b".");
    }
    mac.update(body);
    Some(mac)
}
