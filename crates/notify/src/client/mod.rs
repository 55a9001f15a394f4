//! The client that delivers to webhooks: one attempt at a time, and what came of it.
//!
//! An attempt is an exchange: look the name up, judge its addresses, connect, agree on TLS, send the request, read the answer.
//! *One* deadline spans all of it, also for a receiver that sends a byte a second. At most 64 KiB are read up to the end of the
//! final head, informational heads included, and about as many of the body, of which 1 KiB is kept (`read_budget.rs`). Redirects
//! are not followed, environment variables are ignored, and no connection
//! is made but in the file `dial.rs`, to an address that [`UrlRules`] let pass.
//!
//! Connections are kept for what comes next. A request that turns out never to have been sent, as the receiver had just
//! closed the connection, is sent on a new one; anything else that goes wrong is the attempt's outcome.

mod answer;
mod dial;
mod fetch;
mod outcome;
mod pool;
mod read_budget;
pub(crate) mod tls;
mod transport;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dial::Dialler;
pub use fetch::FetchError;
use http::header::{HOST, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use jiff::Timestamp;
pub use outcome::{Attempt, Outcome, TlsFault};
use pool::{Connection, Peer, Pool};
use read_budget::{MAX_HEAD_BYTES, MAX_RAW_BODY_BYTES};
use rustls::pki_types::CertificateDer;
pub use tls::TlsError;
pub use transport::{Signing, WebhookJob, WebhookTransport};

use crate::address::{LookupOwner, NameLookups, Target, UrlRules};
use crate::schedule;
use crate::time::Time;

/// What the client calls itself.
const AGENT: &str = concat!("Bellwether/", env!("CARGO_PKG_VERSION"));

/// What a client is made of.
pub struct ClientParts {
    /// Which addresses may be dialled.
    pub rules: UrlRules,
    /// Look-ups of names.
    pub lookups: NameLookups,
    /// The time.
    pub time: Arc<dyn Time>,
    /// How long an exchange may take, from looking the name up to the end of the answer.
    pub timeout: Duration,
    /// Authorities that are trusted beside those of the web.
    pub own_roots: Vec<CertificateDer<'static>>,
}

/// Posts to webhooks.
pub struct WebhookClient {
    dialler: Dialler,
    pool: Pool,
    timeout: Duration,
}

impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookClient")
            .field("rules", &self.dialler.rules)
            .finish_non_exhaustive()
    }
}

impl WebhookClient {
    /// A client.
    ///
    /// # Errors
    /// [`TlsError`], if one of the operator's own authorities is none.
    pub fn new(parts: ClientParts) -> Result<Self, TlsError> {
        let config = tls::config(&parts.own_roots, &parts.time)?;
        Ok(Self {
            dialler: Dialler {
                rules: parts.rules,
                lookups: parts.lookups,
                tls: Arc::new(config).into(),
                time: parts.time,
            },
            pool: Pool::default(),
            timeout: parts.timeout,
        })
    }

    /// Which addresses the client dials.
    #[must_use]
    pub fn rules(&self) -> &UrlRules {
        &self.dialler.rules
    }

    /// The time that it goes by.
    #[must_use]
    pub fn time(&self) -> &Arc<dyn Time> {
        &self.dialler.time
    }

    /// Posts a body once. The URL is judged as it would be on save, and its addresses are when they are dialled. Look-ups of
    /// its name count for `owner`.
    pub async fn post(&self, url: &str, headers: HeaderMap, body: Bytes, owner: LookupOwner) -> Attempt {
        let at = self.dialler.time.now();
        let exchange = self.exchange(url, headers, body, owner);
        let done = tokio::select! {
            biased;
            done = exchange => done,
            () = self.dialler.time.sleep(self.timeout) => Err(Outcome::TimedOut),
        };
        let took = self.dialler.time.now().duration_since(at);
        let (outcome, response) = done.unwrap_or_else(|outcome| (outcome, None));
        Attempt {
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
    ) -> Result<(Outcome, Option<String>), Outcome> {
        let target = self.dialler.rules.target(url).map_err(|_| Outcome::AddressRefused)?;
        let peer = Peer::of(&target);
        let request = request(&target, headers, body)?;
        let (connection, response) = self.send(&target, &peer, request, owner).await?;
        let now = self.dialler.time.now();
        let outcome = Outcome::of_status(response.status().as_u16(), wait(response.headers(), now));
        let answered = answer::read(response.into_body(), &connection.budget).await?;
        if answered.is_complete {
            self.pool.keep(peer, connection, self.dialler.time.now());
        }
        Ok((outcome, answered.text))
    }

    /// Sends a request and waits for the head of the answer.
    async fn send(
        &self,
        target: &Target,
        peer: &Peer,
        mut request: Request<Full<Bytes>>,
        owner: LookupOwner,
    ) -> Result<(Connection, Response<Incoming>), Outcome> {
        while let Some(mut connection) = self.pool.take(peer, self.dialler.time.now()) {
            let budget = Arc::clone(&connection.budget);
            budget.set(MAX_HEAD_BYTES);
            // It may still be putting the last answer away.
            if connection.sender.ready().await.is_err() {
                continue;
            }
            match budget.bound(connection.sender.try_send_request(request)).await {
                Some(Ok(response)) => return Ok(answered(connection, response)),
                // The receiver had closed it meanwhile; the request comes back, as nothing of it was sent.
                Some(Err(mut error)) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(answer::lost(error.error())),
                },
                None => return Err(Outcome::BadAnswer),
            }
        }
        let connection = self.dialler.dial(target, owner).await?;
        first_request(connection, request).await
    }
}

/// Sends the first request on a new connection, and waits for the head of the answer.
async fn first_request(
    mut connection: Connection,
    request: Request<Full<Bytes>>,
) -> Result<(Connection, Response<Incoming>), Outcome> {
    let budget = Arc::clone(&connection.budget);
    budget.set(MAX_HEAD_BYTES);
    match budget.bound(connection.sender.send_request(request)).await {
        Some(Ok(response)) => Ok(answered(connection, response)),
        Some(Err(error)) => Err(answer::lost(&error)),
        None => Err(Outcome::BadAnswer),
    }
}

/// The head of the answer is there: its body may come.
fn answered(connection: Connection, response: Response<Incoming>) -> (Connection, Response<Incoming>) {
    connection.budget.set(MAX_RAW_BODY_BYTES);
    (connection, response)
}

fn request(target: &Target, headers: HeaderMap, body: Bytes) -> Result<Request<Full<Bytes>>, Outcome> {
    // A URL that was parsed is fit for a request.
    let uri: Uri = target.path_and_query().parse().map_err(|_| Outcome::AddressRefused)?;
    let host = HeaderValue::from_str(&target.authority()).map_err(|_| Outcome::AddressRefused)?;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    request.headers_mut().insert(HOST, host);
    request
        .headers_mut()
        .insert(USER_AGENT, HeaderValue::from_static(AGENT));
    Ok(request)
}

/// How long the receiver asks to be left alone.
fn wait(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    schedule::retry_after(headers.get(RETRY_AFTER)?.to_str().ok()?, now)
}
