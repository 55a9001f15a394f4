//! Push messages to browsers: HTTP push (RFC 8030), encrypted for the browser (RFC 8291) and signed by this service (RFC 8292).
//!
//! A browser subscribes at the push service of its vendor, which creates the address `endpoint`. The service sees neither title nor
//! text: they are encrypted with the keys of the subscription, `p256dh` and `auth`.

mod client;
mod content_encoding;
mod encrypt;
mod error;
mod models;
mod render;
mod subscription_keys;
mod vapid;
mod vapid_key;

pub(super) use client::{WebPushSender, send};
pub(super) use render::TEXT_LIMIT;
pub use vapid_key::{VapidKey, VapidKeyError};

use super::config::{ChannelConfigError, checked_url};
use super::secret::ChannelSecret;
use crate::address::UrlPolicy;
use subscription_keys::SubscriptionKeys;

/// The field of the address of a subscription.
pub(super) const ENDPOINT_FIELD: &str = "config.endpoint";

/// The configuration of a `web_push` channel: the subscription of a browser, as `PushSubscription.toJSON()` returns it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebPushConfig {
    /// The address at the push service. Its path is a secret.
    pub endpoint: ChannelSecret,
    /// The public key of the browser: an uncompressed point of P-256 in base64url.
    pub p256dh: ChannelSecret,
    /// The authentication secret of the browser: 16 bytes in base64url.
    pub auth: ChannelSecret,
}

impl WebPushConfig {
    /// Checks the configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.endpoint`, `config.p256dh` or `config.auth`.
    pub fn checked(self, rules: &UrlPolicy) -> Result<Self, ChannelConfigError> {
        let endpoint = checked_url(self.endpoint.expose(), rules, ENDPOINT_FIELD)?;
        SubscriptionKeys::parse(self.p256dh.expose(), self.auth.expose())?;
        Ok(Self {
            endpoint: ChannelSecret::new(endpoint),
            ..self
        })
    }
}
