//! The stream's task: connects, and reconnects after errors.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tokio::sync::watch;

use super::connector::WebSocketConnector;
use super::price_stream::{PriceStream, Shared, StreamState, WantedSymbols};
use super::session::{SessionEnd, StreamSession};
use super::{StreamError, StreamProtocol};
use crate::provider::http::{AdapterSetup, AdapterSetupError, RetryPolicy};
use crate::provider::{ProviderError, TimeRange};

/// Configuration of a stream.
#[derive(Debug, Clone)]
pub struct StreamConfig {
    /// A connection without messages for this long is dropped. After half of it, a ping is sent.
    pub idle_timeout: Duration,
    /// The delays between connections. `max_attempts` is ignored: the stream reconnects without limit.
    pub retry: RetryPolicy,
    /// The minimum delay after a "too many connections" error. Providers take a while to notice a closed connection.
    pub too_many_connections_delay: Duration,
    /// The size limit of a message, in bytes. A larger message ends the connection.
    pub max_message_bytes: usize,
}

impl Default for StreamConfig {
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(30),
            retry: RetryPolicy {
                max_attempts: u32::MAX,
                first_delay: Duration::from_secs(1),
                max_delay: Duration::from_secs(60),
            },
            too_many_connections_delay: Duration::from_secs(30),
            max_message_bytes: 4 << 20,
        }
    }
}

/// The future that runs a stream. It returns `Ok` when the consumer drops the [`PriceStream`].
pub type StreamTask = std::pin::Pin<Box<dyn Future<Output = Result<(), ProviderError>> + Send>>;

/// Creates a stream: the consumer's end, and the task that the caller must run.
///
/// # Errors
/// [`AdapterSetupError`] if TLS cannot be set up.
pub fn start(
    protocol: Box<dyn StreamProtocol>,
    setup: &AdapterSetup,
    settings: StreamConfig,
    wanted: WantedSymbols,
) -> Result<(PriceStream, StreamTask), AdapterSetupError> {
    let shared = Arc::new(Shared::default());
    let (liveness, receiver) = watch::channel(());
    let stream = StreamWorker {
        connector: WebSocketConnector::new(setup, settings.max_message_bytes)?,
        protocol,
        setup: setup.clone(),
        settings,
        wanted,
        shared: Arc::clone(&shared),
        liveness,
        silent_since: None,
    };
    let prices = PriceStream {
        shared,
        liveness: receiver,
    };
    Ok((prices, Box::pin(stream.run())))
}

struct StreamWorker {
    protocol: Box<dyn StreamProtocol>,
    setup: AdapterSetup,
    settings: StreamConfig,
    connector: WebSocketConnector,
    wanted: WantedSymbols,
    shared: Arc<Shared>,
    liveness: watch::Sender<()>,
    /// The time of the last message of the last live connection.
    silent_since: Option<Timestamp>,
}

impl StreamWorker {
    async fn run(mut self) -> Result<(), ProviderError> {
        let ended = self.reconnect_loop().await;
        self.shared.lock().report.state = StreamState::Ended;
        ended
    }

    async fn reconnect_loop(&mut self) -> Result<(), ProviderError> {
        let mut random = ChaCha8Rng::seed_from_u64(self.setup.seed);
        let mut failures = 0_u32;
        loop {
            self.shared.lock().report.state = StreamState::Connecting;
            let (ended, was_live) = self.run_connection().await;
            // A successful login resets the backoff.
            failures = if was_live { 1 } else { failures.saturating_add(1) };
            let provider = self.protocol.provider();
            let error = match ended {
                SessionEnd::ConsumerGone => return Ok(()),
                SessionEnd::Error(StreamError::Unauthorized) => return Err(ProviderError::Unauthorized { provider }),
                SessionEnd::Error(StreamError::Forbidden) => return Err(ProviderError::Forbidden { provider }),
                SessionEnd::Error(error) => Some(error),
                SessionEnd::ConnectionLost => None,
            };
            let mut delay = self.settings.retry.delay(failures, &mut random);
            if error == Some(StreamError::TooManyConnections) {
                delay = delay.max(self.settings.too_many_connections_delay);
            }
            if !self.wait_before_reconnect(delay, error).await {
                return Ok(());
            }
        }
    }

    /// Waits before the next connection. Returns false if the consumer is gone.
    async fn wait_before_reconnect(&mut self, delay: Duration, error: Option<StreamError>) -> bool {
        let delay = SignedDuration::try_from(delay).unwrap_or(SignedDuration::MAX);
        let at = self.setup.clock.now().saturating_add(delay).unwrap_or(Timestamp::MAX);
        {
            let report = &mut self.shared.lock().report;
            report.state = StreamState::Waiting(at);
            report.disconnections += 1;
            report.last_error = error.or(report.last_error);
            self.shared.changed.notify_one();
        }
        tracing::info!(provider = self.protocol.provider(), ?error, %at, "stream connection lost; reconnecting");
        tokio::select! {
            () = self.setup.clock.sleep_until(at) => true,
            () = self.liveness.closed() => false,
        }
    }

    /// Runs one connection to its end. Returns the reason, and whether the login succeeded.
    async fn run_connection(&mut self) -> (SessionEnd, bool) {
        let url = self.protocol.url();
        let connected = tokio::select! {
            connected = self.connector.connect(&url) => connected,
            () = self.liveness.closed() => return (SessionEnd::ConsumerGone, false),
        };
        let socket = match connected {
            Ok(socket) => socket,
            Err(Some(error)) => return (SessionEnd::Error(error), false),
            Err(None) => return (SessionEnd::ConnectionLost, false),
        };
        self.shared.lock().report.connections += 1;
        let mut session = StreamSession::new(
            socket,
            &mut *self.protocol,
            &self.setup,
            self.settings.idle_timeout,
            &self.shared,
        );
        session.resumes_from = self.silent_since;
        let ended = session.run(&mut self.wanted, &self.liveness).await;
        let last_message_at = session.last_live_at();
        self.silent_since = last_message_at.or(self.silent_since);
        (ended, last_message_at.is_some())
    }
}

/// Returns the time range without messages; `None` if it is empty.
pub(super) fn gap_between(from: Timestamp, to: Timestamp) -> Option<TimeRange> {
    (from < to).then_some(TimeRange { from, to })
}
