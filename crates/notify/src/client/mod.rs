//! The webhook client. It makes one delivery attempt at a time and returns its outcome.
//!
//! An attempt is an exchange: DNS lookup, address check, connection, TLS handshake, request, response. *One* timeout covers all of
//! it, even if a receiver sends one byte per second. At most 64 KiB are read up to the end of the final response head, including
//! informational heads, and about as many of the body, of which 1 KiB is kept (`read_budget.rs`). Redirects are not followed.
//! Proxy environment variables are ignored. All connections are made in `connect.rs`, to addresses that [`UrlPolicy`] permits.
//!
//! Connections are reused. If the receiver has closed a reused connection before the request was sent, the request is sent on a new
//! connection. Any other failure is the outcome of the attempt.

mod call;
mod connect;
mod fetch;
mod outcome;
mod pool;
mod read_budget;
mod response;
pub(crate) mod tls;
mod transport;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use connect::Connector;
pub use fetch::FetchError;
use http::header::{HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
pub use outcome::{TlsFailure, WebhookAttempt, WebhookOutcome};
use pool::{Connection, Peer, Pool};
use read_budget::{MAX_HEAD_BYTES, MAX_RAW_BODY_BYTES};
use rustls::pki_types::CertificateDer;
pub use tls::TlsSetupError;
pub use transport::{Signing, WebhookJob, WebhookTransport};

use crate::address::{Dialer, LookupOwner, NameLookups, TargetUrl, UrlPolicy, UrlPolicyError};
use crate::schedule::requested_delay;
use clock::Clock;

/// The `User-Agent` header.
const USER_AGENT_VALUE: &str = concat!("Bellwether/", env!("CARGO_PKG_VERSION"));

/// The configuration of a [`WebhookClient`].
pub struct WebhookClientConfig {
    /// The rules for URLs and IP addresses.
    pub rules: UrlPolicy,
    /// The DNS lookups.
    pub lookups: NameLookups,
    /// Opens connections.
    pub dialer: Arc<dyn Dialer>,
    /// The clock.
    pub time: Arc<dyn Clock>,
    /// Timeout of an exchange, from the DNS lookup to the end of the response.
    pub timeout: Duration,
    /// Additional trusted certificate authorities, beside the public ones.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

/// An HTTP client for webhooks.
pub struct WebhookClient {
    connector: Connector,
    pool: Pool,
    timeout: Duration,
}

impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookClient")
            .field("rules", &self.connector.rules)
            .finish_non_exhaustive()
    }
}

impl WebhookClient {
    /// Creates a client.
    ///
    /// # Errors
    /// [`TlsSetupError`] if an additional certificate authority is invalid.
    pub fn new(parts: WebhookClientConfig) -> Result<Self, TlsSetupError> {
        let config = tls::config(&parts.extra_roots, &parts.time)?;
        Ok(Self {
            connector: Connector {
                rules: parts.rules,
                lookups: parts.lookups,
                dialer: parts.dialer,
                tls: Arc::new(config).into(),
                time: parts.time,
            },
            pool: Pool::default(),
            timeout: parts.timeout,
        })
    }

    /// Returns the rules for URLs and IP addresses.
    #[must_use]
    pub fn rules(&self) -> &UrlPolicy {
        &self.connector.rules
    }

    /// Checks a URL on save, with a DNS lookup that counts for `owner`; see [`UrlPolicy::check_resolved`].
    ///
    /// # Errors
    /// [`UrlPolicyError`] if the URL is rejected.
    pub(crate) async fn check_resolved(&self, url: &str, owner: LookupOwner) -> Result<(), UrlPolicyError> {
        let Connector {
            rules, lookups, time, ..
        } = &self.connector;
        rules.check_resolved(url, lookups, owner, &**time).await.map(drop)
    }

    /// Returns the clock.
    #[must_use]
    pub fn time(&self) -> &Arc<dyn Clock> {
        &self.connector.time
    }

    /// Posts a body once. The URL is checked as on save, and its IP addresses are checked before the connection. DNS lookups count
    /// for `owner`.
    pub async fn post(&self, url: &str, headers: HeaderMap, body: Bytes, owner: LookupOwner) -> WebhookAttempt {
        let at = self.connector.time.now();
        let exchange = self.exchange(url, headers, body, owner);
        let done = tokio::select! {
            biased;
            done = exchange => done,
            () = self.connector.time.sleep(self.timeout) => Err(WebhookOutcome::TimedOut),
        };
        let took = self.connector.time.now().duration_since(at);
        let (outcome, response) = done.unwrap_or_else(|outcome| (outcome, None));
        WebhookAttempt {
            url: Some(url.to_owned()),
            at,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or_default(),
            outcome,
            response,
        }
    }

    async fn exchange(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        owner: LookupOwner,
    ) -> Result<(WebhookOutcome, Option<String>), WebhookOutcome> {
        let target = self
            .connector
            .rules
            .target(url)
            .map_err(|_| WebhookOutcome::AddressRefused)?;
        let peer = Peer::of(&target);
        let request = request(&target, headers, body)?;
        let (connection, response) = self.send(&target, &peer, request, owner).await?;
        let now = self.connector.time.now();
        let outcome = WebhookOutcome::of_status(response.status().as_u16(), requested_delay(response.headers(), now));
        let body = response::read(response.into_body(), &connection.budget).await?;
        if body.is_complete {
            self.pool.keep(peer, connection, self.connector.time.now());
        }
        Ok((outcome, body.text))
    }

    /// Sends a request on a pooled or a new connection, and waits for the response head.
    async fn send(
        &self,
        target: &TargetUrl,
        peer: &Peer,
        mut request: Request<Full<Bytes>>,
        owner: LookupOwner,
    ) -> Result<(Connection, Response<Incoming>), WebhookOutcome> {
        while let Some(mut connection) = self.pool.take(peer, self.connector.time.now()) {
            let budget = Arc::clone(&connection.budget);
            budget.set(MAX_HEAD_BYTES);
            // It may still be finishing the last response.
            if connection.sender.ready().await.is_err() {
                continue;
            }
            match budget.bound(connection.sender.try_send_request(request)).await {
                Some(Ok(response)) => return Ok(with_body_budget(connection, response)),
                // The receiver has closed the connection. The request is returned if nothing of it was sent.
                Some(Err(mut error)) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(response::outcome_of_error(error.error())),
                },
                None => return Err(WebhookOutcome::InvalidResponse),
            }
        }
        let connection = self.connector.connect_to(target, owner).await?;
        first_request(connection, request).await
    }
}

/// Sends the first request on a new connection, and waits for the response head.
async fn first_request(
    mut connection: Connection,
    request: Request<Full<Bytes>>,
) -> Result<(Connection, Response<Incoming>), WebhookOutcome> {
    let budget = Arc::clone(&connection.budget);
    budget.set(MAX_HEAD_BYTES);
    match budget.bound(connection.sender.send_request(request)).await {
        Some(Ok(response)) => Ok(with_body_budget(connection, response)),
        Some(Err(error)) => Err(response::outcome_of_error(&error)),
        None => Err(WebhookOutcome::InvalidResponse),
    }
}

/// Sets the read budget for the body, after the response head was received.
fn with_body_budget(connection: Connection, response: Response<Incoming>) -> (Connection, Response<Incoming>) {
    connection.budget.set(MAX_RAW_BODY_BYTES);
    (connection, response)
}

fn request(target: &TargetUrl, headers: HeaderMap, body: Bytes) -> Result<Request<Full<Bytes>>, WebhookOutcome> {
    // A parsed URL is always valid in a request.
    let uri: Uri = target
        .path_and_query()
        .parse()
        .map_err(|_| WebhookOutcome::AddressRefused)?;
    let host = HeaderValue::from_str(&target.authority()).map_err(|_| WebhookOutcome::AddressRefused)?;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    request.headers_mut().insert(HOST, host);
    request
        .headers_mut()
        .insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    Ok(request)
}
