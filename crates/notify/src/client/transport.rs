//! Webhooks as a channel of the dispatcher.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use jiff::Timestamp;
use uuid::Uuid;

use super::{Attempt, WebhookClient};
use crate::address::LookupOwner;
use crate::dispatcher::Transport;
use crate::signature::{Delivery, Form, HeaderStyle, Secrets};

/// How a delivery is signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Signing {
    /// Not at all: Slack's own format.
    Unsigned,
    /// By the webhook's secrets.
    Signed {
        /// What with.
        secrets: Secrets,
        /// What the service's own signature is over.
        form: Form,
    },
}

/// A delivery to a webhook, with all that it takes to try it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookJob {
    /// The account that it is for. Look-ups of the URL's name count for it.
    pub account: Uuid,
    /// Where to.
    pub url: String,
    /// The kind of event, `alert.triggered`.
    pub event: &'static str,
    /// When the event happened: the timestamp of the body.
    pub generated_at: Timestamp,
    /// The body, byte for byte.
    pub body: Bytes,
    /// How it is signed.
    pub signing: Signing,
}

/// Signs and posts.
#[derive(Clone, Debug)]
pub struct WebhookTransport {
    client: Arc<WebhookClient>,
    style: Arc<HeaderStyle>,
}

impl WebhookTransport {
    /// Deliveries by a client, headed in a style.
    #[must_use]
    pub fn new(client: Arc<WebhookClient>, style: HeaderStyle) -> Self {
        Self {
            client,
            style: Arc::new(style),
        }
    }

    /// One attempt, for the dispatcher and for a user's test alike.
    pub async fn deliver(&self, id: Uuid, job: &WebhookJob) -> Attempt {
        let headers = match &job.signing {
            Signing::Unsigned => {
                let json = HeaderValue::from_static("application/json");
                HeaderMap::from_iter([(CONTENT_TYPE, json)])
            }
            Signing::Signed { secrets, form } => self.style.headers(&Delivery {
                id,
                event: job.event,
                generated_at: job.generated_at,
                attempted_at: self.client.time().now(),
                body: &job.body,
                secrets,
                form: *form,
            }),
        };
        let owner = LookupOwner::Account(job.account);
        self.client.post(&job.url, headers, job.body.clone(), owner).await
    }
}

impl Transport for WebhookTransport {
    type Job = WebhookJob;
    type Report = Attempt;

    async fn attempt(&self, id: Uuid, job: &WebhookJob) -> Attempt {
        self.deliver(id, job).await
    }
}
