//! Webhook signatures, which prove to a receiver that a delivery is from this service.
//!
//! Each delivery has two signatures:
//!
//! * [`service`]: the `X-Service-Signature` header. The key is the text of the secret. The signature covers the timestamp and the body,
//!   or the body alone. After a rotation, it uses the new secret.
//! * [`standard`]: the Standard Webhooks headers. The key is the decoded `whsec_` secret. The signature covers the delivery id, the
//!   time of the attempt and the body. After a rotation, there is one signature for each secret that is still valid.
//!
//! [`HeaderStyle`] builds the headers.

mod headers;
mod hex;
mod secret;
pub mod service;
pub mod standard;

pub use headers::{HeaderPrefix, HeaderPrefixError, HeaderStyle, SigningInput, TimestampFormat};
pub use secret::{MAX_SIGNING_SECRETS, SigningSecret, SigningSecretError, SigningSecrets};
pub use service::SignatureFormat;
