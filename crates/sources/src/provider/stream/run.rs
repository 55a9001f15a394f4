//! The task behind a stream: connection after connection.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tokio::sync::watch;

use super::dial::Dial;
use super::prices::{Prices, Shared, State, Wanted};
use super::session::{Ended, Session};
use super::{Protocol, StreamFault};
use crate::provider::http::{Retry, Setup, SetupError};
use crate::provider::{ProviderError, Times};

/// How a stream is held.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A connection on which nothing was heard for so long is dropped; after half of it, it is pinged.
    pub silence: Duration,
    /// When to connect anew. The number of attempts means nothing here: there is no last one.
    pub retry: Retry,
    /// How long to wait when the provider says that there are too many connections: it takes a while to see that one is gone.
    pub crowded: Duration,
    /// A message that is larger ends the connection.
    pub most_message_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            silence: Duration::from_secs(30),
            retry: Retry {
                attempts: u32::MAX,
                first: Duration::from_secs(1),
                longest: Duration::from_secs(60),
            },
            crowded: Duration::from_secs(30),
            most_message_bytes: 4 << 20,
        }
    }
}

/// A stream's task. It ends well when nobody listens any more.
pub type Task = std::pin::Pin<Box<dyn Future<Output = Result<(), ProviderError>> + Send>>;

/// A stream: what comes in, and the task that brings it, which somebody has to run.
///
/// # Errors
/// [`SetupError`] when TLS cannot be set up.
pub fn start(
    protocol: Box<dyn Protocol>,
    setup: &Setup,
    settings: Settings,
    wanted: Wanted,
) -> Result<(Prices, Task), SetupError> {
    let shared = Arc::new(Shared::default());
    let (line, other_end) = watch::channel(());
    let stream = Stream {
        dial: Dial::new(setup, settings.most_message_bytes)?,
        protocol,
        setup: setup.clone(),
        settings,
        wanted,
        shared: Arc::clone(&shared),
        line,
        silent_since: None,
    };
    let prices = Prices {
        shared,
        line: other_end,
    };
    Ok((prices, Box::pin(stream.run())))
}

struct Stream {
    protocol: Box<dyn Protocol>,
    setup: Setup,
    settings: Settings,
    dial: Dial,
    wanted: Wanted,
    shared: Arc<Shared>,
    line: watch::Sender<()>,
    /// Since when nothing is heard, if there was anything to hear before.
    silent_since: Option<Timestamp>,
}

impl Stream {
    async fn run(mut self) -> Result<(), ProviderError> {
        let ended = self.connect_again_and_again().await;
        self.shared.lock().report.state = State::Ended;
        ended
    }

    async fn connect_again_and_again(&mut self) -> Result<(), ProviderError> {
        let mut chance = ChaCha8Rng::seed_from_u64(self.setup.seed);
        let mut failures = 0_u32;
        loop {
            self.shared.lock().report.state = State::Connecting;
            let (ended, was_live) = self.one_connection().await;
            // A connection that brought something was a good one: begin counting anew.
            failures = if was_live { 1 } else { failures.saturating_add(1) };
            let provider = self.protocol.provider();
            let fault = match ended {
                Ended::NobodyListens => return Ok(()),
                Ended::Fault(StreamFault::Unauthorized) => return Err(ProviderError::Unauthorized { provider }),
                Ended::Fault(StreamFault::Forbidden) => return Err(ProviderError::Forbidden { provider }),
                Ended::Fault(fault) => Some(fault),
                Ended::Lost => None,
            };
            let mut pause = self.settings.retry.pause(failures, &mut chance);
            if fault == Some(StreamFault::Crowded) {
                pause = pause.max(self.settings.crowded);
            }
            if !self.wait(pause, fault).await {
                return Ok(());
            }
        }
    }

    /// Waits before the next connection; false if nobody listens any more.
    async fn wait(&mut self, pause: Duration, fault: Option<StreamFault>) -> bool {
        let pause = SignedDuration::try_from(pause).unwrap_or(SignedDuration::MAX);
        let at = self.setup.clock.now().saturating_add(pause).unwrap_or(Timestamp::MAX);
        {
            let report = &mut self.shared.lock().report;
            report.state = State::Waiting(at);
            report.lost += 1;
            report.last_fault = fault.or(report.last_fault);
            self.shared.bell.notify_one();
        }
        tracing::info!(provider = self.protocol.provider(), ?fault, %at, "the stream is lost; connecting again");
        tokio::select! {
            () = self.setup.clock.sleep_until(at) => true,
            () = self.line.closed() => false,
        }
    }

    /// Connects and stays until the end; tells whether anything was heard that is worth something.
    async fn one_connection(&mut self) -> (Ended, bool) {
        let url = self.protocol.url();
        let connected = tokio::select! {
            connected = self.dial.connect(&url) => connected,
            () = self.line.closed() => return (Ended::NobodyListens, false),
        };
        let socket = match connected {
            Ok(socket) => socket,
            Err(Some(fault)) => return (Ended::Fault(fault), false),
            Err(None) => return (Ended::Lost, false),
        };
        self.shared.lock().report.connected += 1;
        let mut session = Session::new(
            socket,
            &mut *self.protocol,
            &self.setup,
            self.settings.silence,
            &self.shared,
        );
        session.resumes_from = self.silent_since;
        let ended = session.run(&mut self.wanted, &self.line).await;
        let heard_at = session.live_at();
        self.silent_since = heard_at.or(self.silent_since);
        (ended, heard_at.is_some())
    }
}

/// The stretch of which nothing was heard.
pub(super) fn gap(from: Timestamp, to: Timestamp) -> Option<Times> {
    (from < to).then_some(Times { from, to })
}
