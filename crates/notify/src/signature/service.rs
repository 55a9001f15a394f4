//! The service's own signatures (`X-Service-Signature`): HMAC-SHA-256 with the whole secret as the key.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Secret, hex};

/// What a webhook's signature is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Form {
    /// `sha256=<hex>` over `<timestamp>.<body>`, with the timestamp as its header has it.
    #[default]
    Timestamped,
    /// `<hex>` over the body.
    Body,
}

impl Form {
    /// Its name in requests and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Timestamped => "timestamped",
            Self::Body => "body",
        }
    }

    /// The form of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Timestamped, Self::Body]
            .into_iter()
            .find(|form| form.name() == name)
    }
}

/// What the timestamped form's signature begins with.
const PREFIX: &str = "sha256=";

/// Signs a body. The timestamp is the text of its header.
#[must_use]
pub fn sign(form: Form, secret: &Secret, timestamp: &str, body: &[u8]) -> String {
    let digest = mac(form, secret, timestamp, body).map(|mac| mac.finalize().into_bytes());
    let digest = digest.map(|bytes| hex::encode(&bytes)).unwrap_or_default();
    match form {
        Form::Timestamped => format!("{PREFIX}{digest}"),
        Form::Body => digest,
    }
}

/// Whether a signature is right, found out in a time that does not tell where it is wrong. `sha256=` may be missing.
#[must_use]
pub fn verify(form: Form, secret: &Secret, timestamp: &str, body: &[u8], signature: &str) -> bool {
    let Some(claimed) = hex::decode(signature.strip_prefix(PREFIX).unwrap_or(signature)) else {
        return false;
    };
    mac(form, secret, timestamp, body).is_some_and(|mac| mac.verify_slice(&claimed).is_ok())
}

/// HMAC takes keys of any length, so there is always one.
fn mac(form: Form, secret: &Secret, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.whole()).ok()?;
    if form == Form::Timestamped {
        mac.update(timestamp.as_bytes());
        mac.update(b".");
    }
    mac.update(body);
    Some(mac)
}
