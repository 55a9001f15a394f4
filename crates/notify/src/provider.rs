//! HTTP requests to providers that the operator configured, such as a text message provider or a language model.
//!
//! The operator chooses the URLs, so the rules for URLs of users ([`address`](crate::address)) do not apply: a model may run on this
//! machine. All other rules do. Proxy environment variables are ignored. Redirects are not followed, so that a secret is sent to the
//! configured URL only. *One* timeout covers the whole exchange. The size of a response is limited. Errors contain nothing of the
//! request.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use rustls::ClientConfig;
use url::{Host, Url};

use crate::client::{TlsFailure, TlsSetupError, tls};
use crate::message_attempt::MessageOutcome;
use crate::schedule::requested_delay;
use clock::Clock;

/// A secret as the header value `Authorization: Bearer ...`. Its `Debug` output does not contain the secret.
#[derive(Clone)]
pub struct BearerToken(HeaderValue);

impl BearerToken {
    /// Creates a token; `None` if the secret is empty or has characters that are not permitted in a header.
    #[must_use]
    pub fn new(secret: &str) -> Option<Self> {
        let is_valid = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
        let mut value = HeaderValue::try_from(format!("Bearer {secret}"))
            .ok()
            .filter(|_| is_valid)?;
        value.set_sensitive(true);
        Some(Self(value))
    }

    /// Returns the value of the `Authorization` header.
    pub(crate) fn into_header(self) -> HeaderValue {
        self.0
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken")
    }
}

/// An HTTP client for the APIs of providers.
pub struct ProviderClient {
    client: Client,
    time: Arc<dyn Clock>,
}

impl fmt::Debug for ProviderClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProviderClient")
    }
}

/// An error in the setup of a provider client.
#[derive(Debug, thiserror::Error)]
pub enum ProviderSetupError {
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsSetupError),
    /// The HTTP library cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(#[from] reqwest::Error),
}

/// A response of a provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderResponse {
    /// The HTTP status.
    pub status: u16,
    /// The minimum delay before the next request that the provider requests.
    pub retry_after: Option<Duration>,
    /// The whole body.
    pub body: Vec<u8>,
}

/// The failure of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProviderCallError {
    /// The exchange exceeded the timeout.
    TimedOut,
    /// The host name of the provider could not be resolved.
    NameNotFound,
    /// No connection to the provider could be made.
    ConnectionFailed,
    /// The connection was closed before the end of the response.
    ConnectionLost,
    /// The TLS handshake or the certificate check failed.
    TlsFailed(TlsFailure),
    /// The response is not HTTP.
    InvalidResponse,
    /// The response exceeds the size limit.
    TooLong,
}

impl ProviderCallError {
    /// Returns the name for logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            other => other.message_outcome().name(),
        }
    }

    /// Returns the same failure as the outcome of a message.
    pub(crate) const fn message_outcome(self) -> MessageOutcome {
        match self {
            Self::TimedOut => MessageOutcome::TimedOut,
            Self::NameNotFound => MessageOutcome::NameNotFound,
            Self::ConnectionFailed => MessageOutcome::ConnectionFailed,
            Self::ConnectionLost => MessageOutcome::ConnectionLost,
            Self::TlsFailed(failure) => MessageOutcome::TlsFailed(failure),
            Self::InvalidResponse | Self::TooLong => MessageOutcome::InvalidResponse,
        }
    }
}

/// Returns a client builder without redirects, retries and proxies.
pub(crate) fn builder(tls: ClientConfig) -> ClientBuilder {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
}

impl ProviderClient {
    /// Creates a client that trusts the public certificate authorities.
    ///
    /// # Errors
    /// [`ProviderSetupError`] if TLS or the HTTP library cannot be set up.
    pub fn new(time: Arc<dyn Clock>) -> Result<Self, ProviderSetupError> {
        Ok(Self {
            client: builder(tls::config(&[], &time)?).build()?,
            time,
        })
    }

    /// Posts JSON and returns the whole response, with any status.
    ///
    /// # Errors
    /// [`ProviderCallError`] if there is no response within `timeout`, or if its body exceeds `max_bytes`.
    pub async fn post_json(
        &self,
        url: &Url,
        bearer: Option<&BearerToken>,
        body: Vec<u8>,
        timeout: Duration,
        max_bytes: usize,
    ) -> Result<ProviderResponse, ProviderCallError> {
        let exchange = async {
            let json = HeaderValue::from_static("application/json");
            let mut request = self.client.post(url.clone()).header(CONTENT_TYPE, json).body(body);
            if let Some(BearerToken(value)) = bearer {
                request = request.header(AUTHORIZATION, value.clone());
            }
            let response = request.send().await.map_err(|error| call_error(&error))?;
            Ok(ProviderResponse {
                status: response.status().as_u16(),
                retry_after: requested_delay(response.headers(), self.time.now()),
                body: read_body(response, max_bytes).await?,
            })
        };
        tokio::select! {
            biased;
            done = exchange => done,
            () = self.time.sleep(timeout) => Err(ProviderCallError::TimedOut),
        }
    }
}

/// Parses the base URL of a provider. A secret is sent there, so it must be https, or http to this machine, without a query.
pub(crate) fn parse_base_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_loopback = match url.host()? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback);
    let is_bare =
        url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    (is_safe && is_bare).then_some(url)
}

/// Reads the body of a response, up to `max_bytes`.
pub(crate) async fn read_body(mut response: Response, max_bytes: usize) -> Result<Vec<u8>, ProviderCallError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| call_error(&error))? {
        if bytes.len() + chunk.len() > max_bytes {
            return Err(ProviderCallError::TooLong);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Classifies an error of the HTTP library.
pub(crate) fn call_error(error: &reqwest::Error) -> ProviderCallError {
    let mut is_invalid = false;
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(error) = inner.downcast_ref::<io::Error>()
            && error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
        {
            return ProviderCallError::TlsFailed(tls::failure(error));
        }
        if inner.to_string().starts_with("dns error") {
            return ProviderCallError::NameNotFound;
        }
        is_invalid |= inner.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
        source = inner.source();
    }
    if error.is_connect() {
        ProviderCallError::ConnectionFailed
    } else if is_invalid {
        ProviderCallError::InvalidResponse
    } else {
        ProviderCallError::ConnectionLost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_token_accepts_header_characters_and_hides_the_secret() {
        let bearer = BearerToken::new("sk-correct-horse").unwrap();
        assert_eq!(format!("{bearer:?} {:?}", bearer.0), "BearerToken Sensitive");
        for wrong in ["", "two words", "line\nbreak", "schlüssel"] {
            assert!(BearerToken::new(wrong).is_none(), "{wrong:?}");
        }
    }
}
