//! The live source of market data, asked for the price of one stock.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use sources::live::{PriceReply, PriceRequest};
use tokio::sync::{mpsc, oneshot, watch};

use crate::prices::Prices;

/// The maximum wait for the source.
const MAX_SOURCE_WAIT: Duration = Duration::from_secs(3);
/// The maximum number of requests that wait for the source.
const MAX_PENDING_REQUESTS: usize = 256;

/// The properties of a live source that can be asked for prices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PriceSourceConfig {
    /// The maximum age of a price that is current without asking.
    pub current_for: SignedDuration,
    /// Whether the source delivers daily bars of a newly wanted stock.
    pub has_daily_bars: bool,
}

#[derive(Debug)]
struct Connection {
    requests: mpsc::Sender<PriceRequest>,
    config: PriceSourceConfig,
}

/// The live source, if there is one. Pushed data, a data folder and the simulated market cannot be asked.
#[derive(Debug, Default)]
pub(crate) struct PriceSource(RwLock<Option<Connection>>);

impl PriceSource {
    fn read<T>(&self, read: impl FnOnce(&Connection) -> T) -> Option<T> {
        let connection = self.0.read().unwrap_or_else(PoisonError::into_inner);
        connection
            .as_ref()
            .filter(|connection| !connection.requests.is_closed())
            .map(read)
    }

    pub(super) fn is_connected(&self) -> bool {
        self.read(|_| ()).is_some()
    }

    pub(super) fn current_for(&self) -> Option<SignedDuration> {
        self.read(|connection| connection.config.current_for)
    }

    pub(super) fn has_daily_bars(&self) -> bool {
        self.read(|connection| connection.config.has_daily_bars)
            .unwrap_or(false)
    }
}

/// The result of asking the source for a price.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PriceRequestOutcome {
    /// No source can be asked.
    NoSource,
    /// No reply came in time.
    NoAnswer,
    /// The source does not know the stock.
    Unknown,
    /// The source knows the stock. Its newest price has been ingested if it passed the checks.
    Answered,
}

impl Prices {
    /// Connects the live source. It receives price requests as long as it keeps the receiver.
    #[must_use]
    pub fn connect_price_source(&self, config: PriceSourceConfig) -> mpsc::Receiver<PriceRequest> {
        let (requests, receiver) = mpsc::channel(MAX_PENDING_REQUESTS);
        let mut connection = self.price_source.0.write().unwrap_or_else(PoisonError::into_inner);
        *connection = Some(Connection { requests, config });
        receiver
    }

    /// Subscribes to newly wanted stocks ([`stocks_of_interest`](Self::stocks_of_interest)).
    #[must_use]
    pub fn interest_changes(&self) -> watch::Receiver<()> {
        self.interest.changes()
    }

    /// Asks the source for the newest price of a stock, and waits at most three seconds until it is ingested.
    pub(crate) async fn ask_source(&self, symbol: Symbol) -> PriceRequestOutcome {
        let Some(requests) = self.price_source.read(|connection| connection.requests.clone()) else {
            return PriceRequestOutcome::NoSource;
        };
        if self.interest.is_unknown(symbol, self.ports.clock.now()) {
            return PriceRequestOutcome::Unknown;
        }
        let (reply, answer) = oneshot::channel();
        let arrivals = self.price_arrivals.subscribe();
        let mut too_late = self.ports.network.time.sleep(MAX_SOURCE_WAIT);
        if requests.try_send(PriceRequest { symbol, reply }).is_err() {
            return PriceRequestOutcome::NoAnswer;
        }
        let reply = tokio::select! {
            reply = answer => reply.unwrap_or(PriceReply::NoAnswer),
            () = &mut too_late => PriceReply::NoAnswer,
        };
        let now = self.ports.clock.now();
        match reply {
            PriceReply::NoAnswer => PriceRequestOutcome::NoAnswer,
            PriceReply::Unknown => {
                self.interest.note_unknown(symbol, now);
                PriceRequestOutcome::Unknown
            }
            PriceReply::Known { newest, is_delivered } => {
                if let Some(newest) = newest.filter(|_| is_delivered) {
                    tokio::select! {
                        () = self.wait_for_observation(symbol, newest, arrivals) => {}
                        () = too_late => {}
                    }
                }
                let is_newest = self.evaluator.last_observed(symbol).map(|known| known.at.as_second());
                if newest.is_some_and(|newest| is_newest >= Some(newest.as_second())) {
                    self.interest.confirm(symbol, now);
                }
                PriceRequestOutcome::Answered
            }
        }
    }

    /// Waits for a price of a stock that was made at `newest` or later.
    async fn wait_for_observation(&self, symbol: Symbol, newest: Timestamp, mut arrivals: watch::Receiver<u64>) {
        let is_there = || {
            let known = self.evaluator.last_observed(symbol);
            // The engine keeps whole seconds.
            known.is_some_and(|known| known.at.as_second() >= newest.as_second())
        };
        while !is_there() {
            if arrivals.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits for daily bars of a stock, at most three seconds.
    pub(super) async fn wait_for_bars(&self, symbol: Symbol) {
        let mut arrivals = self.price_arrivals.subscribe();
        let wait = async { while !self.has_stored_bars(symbol).await && arrivals.changed().await.is_ok() {} };
        tokio::select! {
            () = wait => {}
            () = self.ports.network.time.sleep(MAX_SOURCE_WAIT) => {}
        }
    }
}
