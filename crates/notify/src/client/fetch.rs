//! Fetching a document from where somebody has named: under the rules of deliveries, and with nothing but the one document to
//! show for it.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_ENCODING, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::{Outcome, WebhookClient, first_request, request};
use crate::address::LookupOwner;

/// Why a document was not fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FetchError {
    /// The URL is none that may be called, or its host's addresses are none that may be dialled. Nothing was sent.
    AddressRefused,
    /// It was answered with that status, which is not 200. Redirects are not followed.
    Status(u16),
    /// There is more of it than was wanted.
    TooLong,
    /// There was no whole answer.
    Unreachable(Outcome),
}

impl From<Outcome> for FetchError {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::AddressRefused => Self::AddressRefused,
            other => Self::Unreachable(other),
        }
    }
}

impl WebhookClient {
    /// Fetches a document of at most `max_bytes` within `time`, from looking the name up to the end of the answer. The connection
    /// is not kept.
    ///
    /// # Errors
    /// [`FetchError`]
    pub async fn fetch(&self, url: &str, time: Duration, max_bytes: usize) -> Result<Vec<u8>, FetchError> {
        tokio::select! {
            biased;
            fetched = self.fetched(url, max_bytes) => fetched,
            () = self.dialler.time.sleep(time) => Err(FetchError::Unreachable(Outcome::TimedOut)),
        }
    }

    async fn fetched(&self, url: &str, max_bytes: usize) -> Result<Vec<u8>, FetchError> {
        let target = self.dialler.rules.check(url).map_err(|_| FetchError::AddressRefused)?;
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let mut request = request(&target, headers, Bytes::new())?;
        *request.method_mut() = Method::GET;
        let connection = self.dialler.dial(&target, LookupOwner::Anonymous).await?;
        let (connection, response) = first_request(connection, request).await?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        if response.headers().contains_key(CONTENT_ENCODING) {
            // None was asked for, and what it unpacks to could be any size.
            return Err(FetchError::Unreachable(Outcome::BadAnswer));
        }
        let body = Limited::new(response.into_body(), max_bytes).collect();
        match connection.budget.bound(body).await {
            Some(Ok(body)) => Ok(body.to_bytes().into()),
            Some(Err(error)) if error.is::<LengthLimitError>() => Err(FetchError::TooLong),
            None => Err(FetchError::TooLong),
            Some(Err(_)) => Err(FetchError::Unreachable(Outcome::ConnectionLost)),
        }
    }
}
