//! # Asking over HTTP
//!
//! One client for all providers. An exchange goes like this: wait until the provider's budget has room ([`Budget`]); ask under one
//! deadline that spans everything; read the answer up to a size; name what came of it ([`ProviderError`]); and where that is
//! something that passes, wait and ask again ([`Retry`]), as long as the provider asks for if it does (`Retry-After`, in
//! seconds or as a date).
//!
//! It goes where it is told and nowhere else: redirects are not followed, and proxies from the environment are used only if
//! that is asked for. Keys travel in headers that do not print, and an error repeats neither an address nor an answer.
//!
//! Time comes from the [`Clock`](crate::Clock) and chance from a seed. The deadline alone is the machine's: it guards against a peer that is
//! silent, and such a peer takes real time.

mod address;
mod budget;
mod retry;
mod retry_after;
mod setup;
mod skew;
pub(super) mod tls;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use jiff::SignedDuration;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use url::Url;

use super::ProviderError;
use crate::ClockReading;

pub(super) use address::Address;
pub use address::AddressError;
pub use budget::{Budget, Quota};
pub use retry::Retry;
pub use setup::{Setup, SetupError};
pub use skew::Skew;

/// Of an answer that is an error, so much is read to find out which.
const MOST_ERROR_BYTES: usize = 64 * 1024;

/// What a provider means by a status and a body, where that is not what HTTP says.
pub(super) type Judge = fn(status: u16, body: &[u8]) -> Option<ProviderError>;

/// Asks one provider.
pub(super) struct Http {
    provider: &'static str,
    client: Client,
    setup: Setup,
    headers: HeaderMap,
    judge: Judge,
    budget: Budget,
    skew: Skew,
    chance: Mutex<ChaCha8Rng>,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http")
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

/// One exchange that came to nothing.
struct Failure {
    error: ProviderError,
    /// For how long the provider asks to be left alone.
    wait: Option<Duration>,
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Self {
        Self { error, wait: None }
    }
}

impl Http {
    /// Asks `provider`, with these headers on every request.
    pub(super) fn new(
        provider: &'static str,
        setup: &Setup,
        quotas: &[Quota],
        headers: HeaderMap,
        judge: Judge,
    ) -> Result<Self, SetupError> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config(&setup.clock)?)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(setup.user_agent.clone())
            .timeout(setup.deadline);
        if !setup.proxies_from_environment {
            builder = builder.no_proxy();
        }
        Ok(Self {
            provider,
            client: builder.build().map_err(|_| SetupError::Client)?,
            headers,
            judge,
            budget: Budget::new(quotas),
            skew: Skew::default(),
            chance: Mutex::new(ChaCha8Rng::seed_from_u64(setup.seed)),
            setup: setup.clone(),
        })
    }

    /// What is at `url`.
    pub(super) async fn get(&self, url: Url) -> Result<Bytes, ProviderError> {
        self.get_up_to(url, self.setup.most_bytes).await
    }

    /// What is at `url`, if it is not larger than `most_bytes`.
    pub(super) async fn get_up_to(&self, url: Url, most_bytes: usize) -> Result<Bytes, ProviderError> {
        let mut failures = 0;
        loop {
            self.await_turn().await?;
            let Failure { error, wait } = match self.exchange(url.clone(), most_bytes).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            failures += 1;
            let is_last = failures >= self.setup.retry.attempts;
            if !error.is_passing() || is_last || wait.is_some_and(|wait| wait > self.setup.patience) {
                return Err(error);
            }
            let pause = wait.unwrap_or_else(|| {
                let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
                self.setup.retry.pause(failures, &mut *chance)
            });
            tracing::debug!(provider = self.provider, %error, ?pause, "asking again");
            self.sleep(pause).await;
        }
    }

    /// By how much the provider's clock is ahead of ours, if it has answered since ours was last stepped.
    pub(super) fn clock_skew(&self) -> Option<SignedDuration> {
        self.skew.get(ClockReading::of(&*self.setup.clock))
    }

    /// Waits until the budget has room.
    async fn await_turn(&self) -> Result<(), ProviderError> {
        let now = self.setup.clock.now();
        match self.budget.reserve(now, self.setup.patience) {
            Ok(at) => {
                self.setup.clock.sleep_until(at).await;
                Ok(())
            }
            Err(wait) => Err(ProviderError::RateLimited {
                provider: self.provider,
                retry_after: Some(wait),
            }),
        }
    }

    async fn sleep(&self, pause: Duration) {
        let clock = &self.setup.clock;
        let at = clock
            .now()
            .saturating_add(SignedDuration::try_from(pause).unwrap_or(SignedDuration::MAX));
        if let Ok(at) = at {
            clock.sleep_until(at).await;
        }
    }

    /// Asks once.
    async fn exchange(&self, url: Url, most_bytes: usize) -> Result<Bytes, Failure> {
        let request = self.client.get(url).headers(self.headers.clone());
        let asked = ClockReading::of(&*self.setup.clock);
        let mut response = request.send().await.map_err(|error| self.lost(&error))?;
        let answered = ClockReading::of(&*self.setup.clock);
        let now = answered.time();
        self.skew.measure(text(&response, &header::DATE), asked, answered);
        let status = response.status().as_u16();
        if status == 200 {
            let body = self.read(&mut response, most_bytes).await?;
            return match (self.judge)(status, &body) {
                Some(error) => Err(error.into()),
                None => Ok(body),
            };
        }
        let wait = text(&response, &header::RETRY_AFTER).and_then(|value| retry_after::read(value, now));
        // What an error says is worth a look, but not worth another error.
        let body = self.read(&mut response, MOST_ERROR_BYTES).await.unwrap_or_default();
        let error = (self.judge)(status, &body).unwrap_or_else(|| self.by_status(status, wait));
        if let (ProviderError::RateLimited { .. }, Some(wait)) = (&error, wait) {
            // Whoever else has something to ask waits as well.
            self.budget.pause(now, wait);
        }
        Err(Failure { error, wait })
    }

    async fn read(&self, response: &mut Response, most_bytes: usize) -> Result<Bytes, ProviderError> {
        let provider = self.provider;
        let too_large = ProviderError::TooLarge {
            provider,
            limit_bytes: most_bytes,
        };
        let announced = response
            .content_length()
            .map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        if announced > most_bytes {
            return Err(too_large);
        }
        let mut body = BytesMut::with_capacity(announced);
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(&error))? {
            if body.len() + chunk.len() > most_bytes {
                return Err(too_large);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    fn by_status(&self, status: u16, retry_after: Option<Duration>) -> ProviderError {
        let provider = self.provider;
        match status {
            401 => ProviderError::Unauthorized { provider },
            402 | 403 => ProviderError::Forbidden { provider },
            404 => ProviderError::NotFound { provider },
            429 => ProviderError::RateLimited { provider, retry_after },
            500.. => ProviderError::Unavailable { provider, status },
            _ => ProviderError::Refused {
                provider,
                status,
                symbol: None,
            },
        }
    }

    fn lost(&self, error: &reqwest::Error) -> ProviderError {
        let provider = self.provider;
        if error.is_timeout() {
            let within = self.setup.deadline;
            ProviderError::TimedOut { provider, within }
        } else if error.is_connect() {
            ProviderError::Unreachable { provider }
        } else {
            ProviderError::Cut { provider }
        }
    }
}

/// A header's text.
fn text<'a>(response: &'a Response, name: &header::HeaderName) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}
