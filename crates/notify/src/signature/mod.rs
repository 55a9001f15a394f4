//! Signatures: how a receiver knows that a delivery is ours.
//!
//! Each delivery carries two kinds. [`service`] is the service's own (`X-Service-Signature`); its key is the webhook's secret
//! as one sees it, and it is over the body and its timestamp, or over the body alone. [`standard`] is that of Standard
//! Webhooks; its key is what a `whsec_` secret encodes, and it is over the delivery's id and the attempt's time, too. After a
//! rotation the former is made with the new secret and the latter with each secret that is still good.
//! [`HeaderStyle`] puts them into headers.

mod headers;
mod hex;
mod secret;
pub mod service;
pub mod standard;

pub use headers::{BadPrefix, Delivery, HeaderPrefix, HeaderStyle, TimestampFormat};
pub use secret::{BadSecret, MAX_SIGNING_SECRETS, Secret, Secrets};
pub use service::Form;
