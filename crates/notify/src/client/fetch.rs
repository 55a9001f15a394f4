//! Fetches a document from a URL that a user has provided, with the same URL rules as deliveries.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_ENCODING, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::{WebhookClient, WebhookOutcome, first_request, request};
use crate::address::LookupOwner;

/// An error while fetching a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FetchError {
    /// The URL or the IP addresses of its host are not permitted. Nothing was sent.
    AddressRefused,
    /// The server returned this status instead of 200. Redirects are not followed.
    Status(u16),
    /// The document exceeds the size limit.
    TooLong,
    /// There was no complete response.
    Unreachable(WebhookOutcome),
}

impl From<WebhookOutcome> for FetchError {
    fn from(outcome: WebhookOutcome) -> Self {
        match outcome {
            WebhookOutcome::AddressRefused => Self::AddressRefused,
            other => Self::Unreachable(other),
        }
    }
}

impl WebhookClient {
    /// Fetches a document of at most `max_bytes` within `timeout`, from the DNS lookup to the end of the response. The
    /// connection is not reused.
    ///
    /// # Errors
    /// [`FetchError`] if there is no complete document.
    pub async fn fetch(&self, url: &str, timeout: Duration, max_bytes: usize) -> Result<Vec<u8>, FetchError> {
        tokio::select! {
            biased;
            fetched = self.fetched(url, max_bytes) => fetched,
            () = self.connector.time.sleep(timeout) => Err(FetchError::Unreachable(WebhookOutcome::TimedOut)),
        }
    }

    async fn fetched(&self, url: &str, max_bytes: usize) -> Result<Vec<u8>, FetchError> {
        let target = self
            .connector
            .rules
            .check(url)
            .map_err(|_| FetchError::AddressRefused)?;
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let mut request = request(&target, headers, Bytes::new())?;
        *request.method_mut() = Method::GET;
        let connection = self.connector.connect_to(&target, LookupOwner::Anonymous).await?;
        let (connection, response) = first_request(connection, request).await?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        if response.headers().contains_key(CONTENT_ENCODING) {
            // No encoding was requested, and the decoded size is unknown.
            return Err(FetchError::Unreachable(WebhookOutcome::InvalidResponse));
        }
        let body = Limited::new(response.into_body(), max_bytes).collect();
        match connection.budget.bound(body).await {
            Some(Ok(body)) => Ok(body.to_bytes().into()),
            None => Err(FetchError::TooLong),
            Some(Err(error)) if error.is::<LengthLimitError>() => Err(FetchError::TooLong),
            Some(Err(_)) => Err(FetchError::Unreachable(WebhookOutcome::ConnectionLost)),
        }
    }
}
