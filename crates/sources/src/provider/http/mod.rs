//! # HTTP client of the providers
//!
//! All providers share one client. Each request takes these steps:
//!
//! 1. Wait for a permit of the provider's [`RequestRateLimiter`].
//! 2. Send the request with one timeout for connection, headers and body, and read the body up to a size limit.
//! 3. Map the result to a [`ProviderError`].
//! 4. After a transient error, wait and retry ([`RetryPolicy`]). A `Retry-After` header, in seconds or as a date, sets the wait.
//!
//! Redirects are not followed. Proxies from the environment are used only if the settings allow it. Keys are sent in headers that
//! are never printed, and errors contain neither URLs nor response bodies.
//!
//! Time comes from the [`Clock`](clock::Clock) and randomness from a seed. Only the timeout uses real time, because it guards
//! against a silent peer.

mod clock_skew;
mod provider_url;
mod rate_limiter;
mod retry;
mod retry_after;
mod setup;
pub(super) mod tls;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use jiff::{SignedDuration, Timestamp};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use url::Url;

use super::{ProviderError, Tier};
use clock::ClockReading;

pub use clock_skew::ClockSkew;
pub(super) use provider_url::ProviderUrl;
pub use provider_url::ProviderUrlError;
pub use rate_limiter::{RequestLimit, RequestRateLimiter};
pub use retry::RetryPolicy;
pub use setup::{AdapterSetup, AdapterSetupError};

/// Maximum number of bytes that are read of an error response.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

/// Maps a status and a body to an error where the provider deviates from HTTP semantics. `None` means the standard mapping.
pub(super) type ErrorClassifier = fn(status: u16, body: &[u8]) -> Option<ProviderError>;

/// The HTTP client of one provider.
pub(super) struct HttpClient {
    tier: Tier,
    client: Client,
    setup: AdapterSetup,
    headers: HeaderMap,
    classify_error: ErrorClassifier,
    rate_limiter: RequestRateLimiter,
    skew: ClockSkew,
    random: Mutex<ChaCha8Rng>,
}

impl std::fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpClient")
            .field("provider", &self.tier.provider)
            .finish_non_exhaustive()
    }
}

/// A failed attempt.
struct Failure {
    error: ProviderError,
    /// The wait that the provider asks for.
    wait: Option<Duration>,
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Self {
        Self { error, wait: None }
    }
}

impl HttpClient {
    /// Creates a client within the request limits of `tier` that sends `headers` with every request.
    pub(super) fn new(
        tier: Tier,
        setup: &AdapterSetup,
        headers: HeaderMap,
        classify_error: ErrorClassifier,
    ) -> Result<Self, AdapterSetupError> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config(&setup.clock)?)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(setup.user_agent.clone())
            .timeout(setup.timeout);
        if !setup.proxies_from_environment {
            builder = builder.no_proxy();
        }
        let rate_limiter = RequestRateLimiter::new(&tier.request_limits);
        if let Some(used_until) = setup.used_until {
            rate_limiter.use_up(used_until);
        }
        Ok(Self {
            client: builder.build().map_err(|_| AdapterSetupError::Client)?,
            headers,
            classify_error,
            rate_limiter,
            tier,
            skew: ClockSkew::default(),
            random: Mutex::new(ChaCha8Rng::seed_from_u64(setup.seed)),
            setup: setup.clone(),
        })
    }

    /// Returns the operator's plan.
    pub(super) const fn tier(&self) -> &Tier {
        &self.tier
    }

    /// Returns the current time.
    pub(super) fn now(&self) -> Timestamp {
        self.setup.clock.now()
    }

    /// Returns the body at `url`, up to the default size limit.
    pub(super) async fn get(&self, url: Url) -> Result<Bytes, ProviderError> {
        self.get_with_limit(url, self.setup.max_response_bytes).await
    }

    /// Returns the body at `url`, which covers the whole market, up to the size limit of catalogs.
    pub(super) async fn get_catalog(&self, url: Url) -> Result<Bytes, ProviderError> {
        self.get_with_limit(url, self.setup.max_catalog_bytes).await
    }

    async fn get_with_limit(&self, url: Url, max_response_bytes: usize) -> Result<Bytes, ProviderError> {
        let mut failures = 0;
        loop {
            self.wait_for_permit().await?;
            let Failure { error, wait } = match self.send_once(url.clone(), max_response_bytes).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            failures += 1;
            let is_last = failures >= self.setup.retry.max_attempts;
            if !error.is_transient() || is_last || wait.is_some_and(|wait| wait > self.setup.max_wait) {
                return Err(error);
            }
            let delay = wait.unwrap_or_else(|| {
                let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
                self.setup.retry.delay(failures, &mut *random)
            });
            tracing::debug!(provider = self.tier.provider, %error, ?delay, "retrying request");
            self.sleep(delay).await;
        }
    }

    /// Returns how far the provider's clock is ahead, if measured since the last step of the local clock.
    pub(super) fn clock_skew(&self) -> Option<SignedDuration> {
        self.skew.get(ClockReading::of(&*self.setup.clock))
    }

    /// Waits until the rate limiter permits a request. Fails at once if the wait exceeds `max_wait`.
    async fn wait_for_permit(&self) -> Result<(), ProviderError> {
        match self.rate_limiter.reserve(self.now(), self.setup.max_wait) {
            Ok(at) => {
                self.setup.clock.sleep_until(at).await;
                Ok(())
            }
            Err(wait) => Err(ProviderError::RateLimited {
                provider: self.tier.provider,
                retry_after: Some(wait),
            }),
        }
    }

    async fn sleep(&self, delay: Duration) {
        let delay = SignedDuration::try_from(delay).unwrap_or(SignedDuration::MAX);
        if let Ok(at) = self.now().saturating_add(delay) {
            self.setup.clock.sleep_until(at).await;
        }
    }

    /// Sends the request once.
    async fn send_once(&self, url: Url, max_response_bytes: usize) -> Result<Bytes, Failure> {
        let request = self.client.get(url).headers(self.headers.clone());
        let sent = ClockReading::of(&*self.setup.clock);
        let mut response = request.send().await.map_err(|error| self.transport_error(&error))?;
        let received = ClockReading::of(&*self.setup.clock);
        let now = received.time();
        self.skew.measure(header_text(&response, &header::DATE), sent, received);
        let status = response.status().as_u16();
        if status == 200 {
            let body = self.read_body(&mut response, max_response_bytes).await?;
            return match (self.classify_error)(status, &body) {
                Some(error) => Err(error.into()),
                None => Ok(body),
            };
        }
        let wait = header_text(&response, &header::RETRY_AFTER).and_then(|value| retry_after::read(value, now));
        // The body tells which error it is. A failure to read it is ignored.
        let body = self
            .read_body(&mut response, MAX_ERROR_BODY_BYTES)
            .await
            .unwrap_or_default();
        let error = (self.classify_error)(status, &body).unwrap_or_else(|| self.status_error(status, wait));
        if let (ProviderError::RateLimited { .. }, Some(wait)) = (&error, wait) {
            // The other requests to this provider wait as well.
            self.rate_limiter.pause(now, wait);
        }
        Err(Failure { error, wait })
    }

    async fn read_body(&self, response: &mut Response, max_response_bytes: usize) -> Result<Bytes, ProviderError> {
        let provider = self.tier.provider;
        let too_large = ProviderError::TooLarge {
            provider,
            limit_bytes: max_response_bytes,
        };
        let announced = response
            .content_length()
            .map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        if announced > max_response_bytes {
            return Err(too_large);
        }
        let mut body = BytesMut::with_capacity(announced);
        while let Some(chunk) = response.chunk().await.map_err(|error| self.transport_error(&error))? {
            if body.len() + chunk.len() > max_response_bytes {
                return Err(too_large);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    fn status_error(&self, status: u16, retry_after: Option<Duration>) -> ProviderError {
        let provider = self.tier.provider;
        match status {
            401 => ProviderError::Unauthorized { provider },
            402 | 403 => ProviderError::Forbidden { provider },
            404 => ProviderError::NotFound { provider },
            429 => ProviderError::RateLimited { provider, retry_after },
            500.. => ProviderError::Unavailable { provider, status },
            _ => ProviderError::Rejected {
                provider,
                status,
                symbol: None,
            },
        }
    }

    fn transport_error(&self, error: &reqwest::Error) -> ProviderError {
        let provider = self.tier.provider;
        if error.is_timeout() {
            let timeout = self.setup.timeout;
            ProviderError::TimedOut { provider, timeout }
        } else if error.is_connect() {
            ProviderError::Unreachable { provider }
        } else {
            ProviderError::Truncated { provider }
        }
    }
}

/// Returns a header's value, if it is text.
fn header_text<'a>(response: &'a Response, name: &header::HeaderName) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}
