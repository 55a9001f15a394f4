//! One attempt to send a message to a push service.

use aws_lc_rs::error::Unspecified;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::encrypt::{MessageSecrets, encrypt};
use super::subscription_keys::SubscriptionKeys;
use super::vapid::authorization;
use super::vapid_key::VapidKey;
use super::{WebPushConfig, error, render};
use crate::address::LookupOwner;
use crate::channels::RandomBytes;
use crate::channels::exchange::Exchange;
use crate::channels::message::ChannelMessage;
use crate::channels::outcome::{SendFailure, SendResult};
use crate::message_attempt::MessageOutcome;

/// Time for which a push service keeps a message for a browser that is offline, in seconds: seven days.
const TIME_TO_LIVE: HeaderValue = HeaderValue::from_static("604800");
const TTL: HeaderName = HeaderName::from_static("ttl");
const URGENCY: HeaderName = HeaderName::from_static("urgency");
const TOPIC: HeaderName = HeaderName::from_static("topic");

/// The key and the contact that push messages are signed with, and random numbers.
pub(in crate::channels) struct WebPushSender {
    /// The key of this service.
    pub(in crate::channels) key: VapidKey,
    /// The contact of the operator, a URL.
    pub(in crate::channels) subject: String,
    /// Salts and keys of messages.
    pub(in crate::channels) random: RandomBytes,
}

/// `sender` is missing in commands that send no messages.
pub(in crate::channels) async fn send(
    exchange: &Exchange,
    owner: LookupOwner,
    sender: Option<&WebPushSender>,
    config: &WebPushConfig,
    message: &ChannelMessage,
) -> SendResult {
    let sender = sender.ok_or_else(|| SendFailure::unsendable("this program has no key for push messages"))?;
    let keys = SubscriptionKeys::parse(config.p256dh.expose(), config.auth.expose());
    let keys = keys
        .map_err(|error| SendFailure::unsendable(format!("`{}` {error}; subscribe the browser again", error.field)))?;
    let content = render::content(message);
    let secrets = MessageSecrets::generate(&sender.random).map_err(failed)?;
    let body = encrypt(&keys, &secrets, &content).map_err(failed)?;
    let headers = headers(sender, config, message, exchange)?;
    let response = exchange.post_to_user_url(owner, config.endpoint.expose(), headers, body.into());
    error::result(&response.await?, exchange.now())
}

fn headers(
    sender: &WebPushSender,
    config: &WebPushConfig,
    message: &ChannelMessage,
    exchange: &Exchange,
) -> Result<HeaderMap, SendFailure> {
    let endpoint = Url::parse(config.endpoint.expose());
    let endpoint =
        endpoint.map_err(|_| SendFailure::unsendable("`config.endpoint` is no URL; subscribe the browser again"))?;
    let authorization = authorization(&sender.key, &endpoint, &sender.subject, exchange.now());
    let urgency = HeaderValue::from_static(if message.urgent { "high" } else { "normal" });
    // A message that is sent again replaces the former one at the push service. A topic has at most 32 characters of base64url.
    let topic = HeaderValue::from_str(&message.id.simple().to_string());
    Ok(HeaderMap::from_iter([
        (AUTHORIZATION, authorization.ok_or_else(|| failed(Unspecified))?),
        (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
        (TTL, TIME_TO_LIVE),
        (URGENCY, urgency),
        (TOPIC, topic.map_err(|_| failed(Unspecified))?),
    ]))
}

/// Returns the failure of the cryptographic library, which is retried.
fn failed(_: Unspecified) -> SendFailure {
    SendFailure {
        outcome: MessageOutcome::InternalError,
        detail: None,
        http_status: None,
    }
}
