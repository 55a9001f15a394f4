//! The webhook channel of the dispatcher.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use jiff::Timestamp;
use uuid::Uuid;

use super::{WebhookAttempt, WebhookClient};
use crate::address::LookupOwner;
use crate::dispatcher::Transport;
use crate::signature::{HeaderStyle, SignatureFormat, SigningInput, SigningSecrets};

/// How a delivery is signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Signing {
    /// Not signed: Slack format.
    Unsigned,
    /// Signed with the secrets of the webhook.
    Signed {
        /// The signing secrets.
        secrets: SigningSecrets,
        /// The format of the `X-Service-Signature` header.
        format: SignatureFormat,
    },
}

/// A delivery to a webhook, with all data for an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookJob {
    /// The account of the webhook. DNS lookups count for it.
    pub account: Uuid,
    /// The URL of the webhook.
    pub url: String,
    /// The event type, `alert.triggered`.
    pub event: &'static str,
    /// When the event occurred: the `timestamp` of the body.
    pub generated_at: Timestamp,
    /// The body, byte for byte.
    pub body: Bytes,
    /// How it is signed.
    pub signing: Signing,
}

/// Signs and posts webhook deliveries.
#[derive(Clone, Debug)]
pub struct WebhookTransport {
    client: Arc<WebhookClient>,
    style: Arc<HeaderStyle>,
}

impl WebhookTransport {
    /// Creates a transport with this client and these headers.
    #[must_use]
    pub fn new(client: Arc<WebhookClient>, style: HeaderStyle) -> Self {
        Self {
            client,
            style: Arc::new(style),
        }
    }

    /// Makes one attempt, for the dispatcher or for a test delivery.
    pub async fn deliver(&self, id: Uuid, job: &WebhookJob) -> WebhookAttempt {
        let headers = match &job.signing {
            Signing::Unsigned => {
                let json = HeaderValue::from_static("application/json");
                HeaderMap::from_iter([(CONTENT_TYPE, json)])
            }
            Signing::Signed { secrets, format } => self.style.headers(&SigningInput {
                id,
                event: job.event,
                generated_at: job.generated_at,
                attempted_at: self.client.time().now(),
                body: &job.body,
                secrets,
                format: *format,
            }),
        };
        let owner = LookupOwner::Account(job.account);
        self.client.post(&job.url, headers, job.body.clone(), owner).await
    }
}

impl Transport for WebhookTransport {
    type Job = WebhookJob;
    type Report = WebhookAttempt;

    async fn attempt(&self, id: Uuid, job: &WebhookJob) -> WebhookAttempt {
        self.deliver(id, job).await
    }
}
