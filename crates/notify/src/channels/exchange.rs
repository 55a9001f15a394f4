//! One request to a service and its response, under one timeout.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use jiff::Timestamp;
use serde::Serialize;
use url::Url;

use super::outcome::{SendFailure, ServiceResponse};
use crate::address::LookupOwner;
use crate::client::{WebhookClient, WebhookOutcome};
use crate::message_attempt::MessageOutcome;
use crate::provider::{call_error, read_body};
use clock::Clock;

/// Maximum size of the response to a message in bytes. The body of a longer one is ignored.
pub(super) const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// The HTTP clients of all adapters.
pub(super) struct Exchange {
    /// For URLs that users choose.
    pub(super) webhooks: Arc<WebhookClient>,
    /// For base URLs that the operator chooses.
    pub(super) operator: reqwest::Client,
    /// Timeout of a request to a URL of the operator.
    pub(super) timeout: Duration,
    pub(super) time: Arc<dyn Clock>,
}

impl Exchange {
    pub(super) fn now(&self) -> Timestamp {
        self.time.now()
    }

    /// Posts a body to a URL that a user chose. DNS lookups count for `owner`.
    pub(super) async fn post_to_user_url(
        &self,
        owner: LookupOwner,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<ServiceResponse, SendFailure> {
        let response = self.webhooks.call(url, headers, body, owner, MAX_RESPONSE_BYTES).await;
        response.map_err(|outcome| match outcome {
            // Retried, as for webhooks: a name may resolve to another address for a while.
            WebhookOutcome::AddressRefused => SendFailure {
                detail: Some(
                    "The address of the channel is not public, or its URL is invalid; set another URL.".to_owned(),
                ),
                ..failure(MessageOutcome::ConnectionFailed)
            },
            other => failure(message_outcome(other)),
        })
    }

    /// Posts a body to a URL that the operator chose. The body of a response over `max_bytes` is ignored.
    pub(super) async fn post_to_operator_url(
        &self,
        url: Url,
        content_type: &'static str,
        body: Bytes,
        timeout: Duration,
        max_bytes: usize,
    ) -> Result<ServiceResponse, SendFailure> {
        let request = self.operator.post(url).header(CONTENT_TYPE, content_type).body(body);
        let deadline = self.time.sleep(timeout);
        tokio::pin!(deadline);
        let response = tokio::select! {
            biased;
            response = request.send() => response,
            () = &mut deadline => return Err(failure(MessageOutcome::TimedOut)),
        };
        // The error of the library contains the URL, and that of Telegram contains its token. So only its class is kept.
        let response = response.map_err(|error| failure(call_error(&error).message_outcome()))?;
        let mut result = ServiceResponse::default();
        *result.status_mut() = response.status();
        *result.headers_mut() = response.headers().clone();
        // The status decides, also if the body does not arrive in time.
        let body = tokio::select! {
            biased;
            body = read_body(response, max_bytes) => body.ok(),
            () = deadline => None,
        };
        *result.body_mut() = body.unwrap_or_default().into();
        Ok(result)
    }
}

/// Returns a failure without a response as the outcome of a message.
const fn message_outcome(outcome: WebhookOutcome) -> MessageOutcome {
    match outcome {
        WebhookOutcome::TimedOut => MessageOutcome::TimedOut,
        WebhookOutcome::NameNotFound => MessageOutcome::NameNotFound,
        WebhookOutcome::ConnectionFailed | WebhookOutcome::AddressRefused => MessageOutcome::ConnectionFailed,
        WebhookOutcome::ConnectionLost => MessageOutcome::ConnectionLost,
        WebhookOutcome::TlsFailed(failure) => MessageOutcome::TlsFailed(failure),
        WebhookOutcome::InternalError => MessageOutcome::InternalError,
        WebhookOutcome::Delivered { .. }
        | WebhookOutcome::HttpError { .. }
        | WebhookOutcome::Redirected { .. }
        | WebhookOutcome::Gone
        | WebhookOutcome::InvalidResponse => MessageOutcome::InvalidResponse,
    }
}

fn failure(outcome: MessageOutcome) -> SendFailure {
    SendFailure {
        outcome,
        detail: None,
        http_status: None,
    }
}

/// Returns the header of a JSON body.
pub(super) fn json_headers() -> HeaderMap {
    HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))])
}

/// Returns a request body as JSON.
pub(super) fn json(body: &impl Serialize) -> Bytes {
    // Request bodies have text keys only, so this does not fail.
    serde_json::to_vec(body).unwrap_or_default().into()
}
