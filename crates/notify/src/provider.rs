//! Providers that the operator chose: who carries text messages, who runs a language model.
//!
//! Where they are is the operator's own word, so the rules for users' addresses ([`address`](crate::address)) do not apply:
//! a model may well run on this machine. All else does: environment variables mean nothing here, redirects are answers like
//! others, so that a secret goes nowhere but where it was meant to, *one* deadline spans the whole exchange, of an answer only
//! so much is read, and what went wrong has a name that repeats nothing of what was sent.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use rustls::ClientConfig;
use url::Url;

use crate::client::{TlsError, TlsFault, tls};
use crate::message_attempt::MessageOutcome;
use crate::schedule::retry_after;
use crate::time::Time;

/// What stands in for a provider's secret, ready to be sent: `Authorization: Bearer ...`. It does not print.
#[derive(Clone)]
pub struct Bearer(HeaderValue);

impl Bearer {
    /// Of a secret; `None` if it is empty or has characters that no header takes.
    #[must_use]
    pub fn new(secret: &str) -> Option<Self> {
        let is_fit = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
        let mut value = HeaderValue::try_from(format!("Bearer {secret}"))
            .ok()
            .filter(|_| is_fit)?;
        value.set_sensitive(true);
        Some(Self(value))
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer")
    }
}

/// Asks a provider over HTTP.
pub struct Provider {
    client: Client,
    time: Arc<dyn Time>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Provider")
    }
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The library does not work.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(#[from] reqwest::Error),
}

/// What a provider answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// For how long it asks to be left alone.
    pub retry_after: Option<Duration>,
    /// The whole body.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The exchange was not over in time.
    TimedOut,
    /// The provider's name could not be looked up.
    NameNotFound,
    /// No connection to the provider came about.
    ConnectionFailed,
    /// The connection was closed before the end of the answer.
    ConnectionLost,
    /// The provider could not be trusted, or spoke no TLS.
    TlsFailed(TlsFault),
    /// What it answered is no HTTP.
    BadAnswer,
    /// It answered more than is read.
    TooLong,
}

impl Fault {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::TimedOut
            | Self::NameNotFound
            | Self::ConnectionFailed
            | Self::ConnectionLost
            | Self::TlsFailed(_)
            | Self::BadAnswer => self.as_of_messages().name(),
        }
    }

    /// The same of a message that was to be handed over.
    const fn as_of_messages(self) -> MessageOutcome {
        match self {
            Self::TimedOut => MessageOutcome::TimedOut,
            Self::NameNotFound => MessageOutcome::NameNotFound,
            Self::ConnectionFailed => MessageOutcome::ConnectionFailed,
            Self::ConnectionLost => MessageOutcome::ConnectionLost,
            Self::TlsFailed(fault) => MessageOutcome::TlsFailed(fault),
            Self::BadAnswer | Self::TooLong => MessageOutcome::BadAnswer,
        }
    }
}

impl From<Fault> for MessageOutcome {
    fn from(fault: Fault) -> Self {
        fault.as_of_messages()
    }
}

/// A client that goes where it is told to and nowhere else.
pub(crate) fn builder(tls: ClientConfig) -> ClientBuilder {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
}

impl Provider {
    /// One who can ask providers that the web trusts.
    ///
    /// # Errors
    /// [`ProviderError`]
    pub fn new(time: Arc<dyn Time>) -> Result<Self, ProviderError> {
        Ok(Self {
            client: builder(tls::config(&[], &time)?).build()?,
            time,
        })
    }

    /// Posts JSON and reads the whole answer, whatever its status, unless it has more than `most_bytes`.
    ///
    /// # Errors
    /// [`Fault`], if there is no answer within `timeout`.
    pub async fn post_json(
        &self,
        url: &Url,
        bearer: Option<&Bearer>,
        body: Vec<u8>,
        timeout: Duration,
        most_bytes: usize,
    ) -> Result<Answer, Fault> {
        let exchange = async {
            let json = HeaderValue::from_static("application/json");
            let mut request = self.client.post(url.clone()).header(CONTENT_TYPE, json).body(body);
            if let Some(Bearer(value)) = bearer {
                request = request.header(AUTHORIZATION, value.clone());
            }
            let response = request.send().await.map_err(|error| lost(&error))?;
            let wait = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
            Ok(Answer {
                status: response.status().as_u16(),
                retry_after: wait.and_then(|wait| retry_after(wait, self.time.now())),
                body: read(response, most_bytes).await?,
            })
        };
        tokio::select! {
            biased;
            done = exchange => done,
            () = self.time.sleep(timeout) => Err(Fault::TimedOut),
        }
    }
}

async fn read(mut response: Response, most_bytes: usize) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
        if bytes.len() + chunk.len() > most_bytes {
            return Err(Fault::TooLong);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Why there is no answer.
pub(crate) fn lost(error: &reqwest::Error) -> Fault {
    let mut is_bad = false;
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(error) = inner.downcast_ref::<io::Error>()
            && error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
        {
            return Fault::TlsFailed(tls::fault(error));
        }
        if inner.to_string().starts_with("dns error") {
            return Fault::NameNotFound;
        }
        is_bad |= inner.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
        source = inner.source();
    }
    if error.is_connect() {
        Fault::ConnectionFailed
    } else if is_bad {
        Fault::BadAnswer
    } else {
        Fault::ConnectionLost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_fits_into_a_header_is_taken_and_does_not_print() {
        let bearer = Bearer::new("sk-correct-horse").unwrap();
        assert_eq!(format!("{bearer:?} {:?}", bearer.0), "Bearer Sensitive");
        for wrong in ["", "two words", "line\nbreak", "schlüssel"] {
            assert!(Bearer::new(wrong).is_none(), "{wrong:?}");
        }
    }
}
