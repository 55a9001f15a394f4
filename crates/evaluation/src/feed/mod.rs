//! The source task: runs a source of market data and ingests its updates, one after the other.
//!
//! The source runs as a separate task and sends through a short channel, so a slow evaluation slows the source down.
//! [`SourceConfig`] names the source; `ingest_worker.rs` ingests its updates; `live.rs` tells a provider source which
//! stocks are watched; `leased.rs` runs it on one node of a cluster.

mod config;
mod coverage;
mod ingest_worker;
mod leased;
mod live;
mod saved_market;

use std::pin::Pin;
use std::sync::Arc;

use clock::Clock;
use jiff::SignedDuration;
use market::Calendar;
use sources::MarketUpdate;
use sources::file::{self, FileSourceHealth};
use sources::folder::FolderError;
use sources::live::LiveSourceHealth;
use sources::provider::Capability;
use sources::simulated;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::EvaluationUseCases;
use crate::market::{MarketIntake, MarketOverview};
use crate::prices::{PriceSourceConfig, Prices};
use ingest_worker::IngestWorker;
use live::LiveSourceTask;

pub use config::{ProviderSetup, SourceConfig};
pub use leased::LeasedSource;
pub use saved_market::saved_market;
pub use sources::freshness::FilterReason;
pub use sources::live::{GapCause, GapReport, GapState, LiveSourceSnapshot};
pub use sources::provider::TimeRange;
pub use sources::provider::stream::StreamState;
pub use sources::routing::ProviderReport;

/// The maximum number of updates in the channel.
const MAX_QUEUED_UPDATES: usize = 4;
/// The interval of checking the data folder of the file source for changes.
const FOLDER_POLL_INTERVAL: SignedDuration = SignedDuration::from_secs(1);

/// The use cases that a source needs.
#[derive(Clone)]
struct Feed {
    market_intake: MarketIntake,
    market: MarketOverview,
    prices: Prices,
    live_source: LiveSourceHealth,
}

impl Feed {
    fn of(evaluation: &EvaluationUseCases) -> Self {
        Self {
            market_intake: evaluation.market_intake.clone(),
            market: evaluation.market.clone(),
            prices: evaluation.prices.clone(),
            live_source: evaluation.live_source.clone(),
        }
    }
}

/// The source of market data has ended by itself.
#[derive(Debug, thiserror::Error)]
#[error("the source of market data has ended: {0}")]
pub struct SourceEnded(String);

/// A running source, and the task that ingests its updates.
#[derive(Debug)]
pub struct SourceTask {
    source: JoinHandle<()>,
    ingest: JoinHandle<()>,
    stop: watch::Sender<bool>,
    up_to_date: watch::Receiver<bool>,
    /// The reason why the source has ended.
    ended: watch::Receiver<Option<String>>,
}

impl SourceTask {
    /// Starts the configured source; `None` if market data is only pushed.
    #[must_use]
    pub fn start(
        source: SourceConfig,
        calendar: &Calendar,
        evaluation: &EvaluationUseCases,
        clock: &Arc<dyn Clock>,
    ) -> Option<Self> {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_UPDATES);
        let feed = Feed::of(evaluation);
        let is_live = matches!(source, SourceConfig::Live(_));
        let source = source_future(source, calendar, &feed, Arc::clone(clock), sender)?;
        let (stop, stop_requested) = watch::channel(false);
        let (up_to_date_sender, up_to_date) = watch::channel(false);
        let ingest = IngestWorker {
            feed,
            live_calendar: is_live.then(|| calendar.clone()),
            clock: Arc::clone(clock),
            stop_requested,
            up_to_date_sender,
        };
        let (ended_sender, ended) = watch::channel(None);
        let source = async move {
            let reason = match tokio::spawn(source).await {
                Ok(Ok(())) => "it has no more data".to_owned(),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            ended_sender.send_replace(Some(reason));
        };
        Some(Self {
            source: tokio::spawn(source),
            ingest: tokio::spawn(ingest.run(receiver)),
            stop,
            up_to_date,
            ended,
        })
    }

    /// Waits until the first current update has been ingested. Backfill comes before it.
    pub async fn up_to_date(&self) {
        if self
            .up_to_date
            .clone()
            .wait_for(|up_to_date| *up_to_date)
            .await
            .is_err()
        {
            // The ingest task has ended, so no update will come.
            std::future::pending().await
        }
    }

    /// Waits until the source ends by itself.
    pub async fn failed(&self) -> SourceEnded {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(reason) => SourceEnded(reason.clone().unwrap_or_default()),
            Err(_) => SourceEnded("its task has ended".to_owned()),
        }
    }

    /// Stops the source. An update that is being ingested is completed.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for (task, name) in [(self.ingest, "ingest"), (self.source, "source")] {
            if let Err(error) = task.await {
                tracing::error!(%error, task = name, "a task failed");
            }
        }
    }
}

/// A running source. It ends when the receiver is closed.
type SourceFuture = Pin<Box<dyn Future<Output = Result<(), FolderError>> + Send>>;

fn source_future(
    source: SourceConfig,
    calendar: &Calendar,
    feed: &Feed,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<MarketUpdate>,
) -> Option<SourceFuture> {
    let calendar = calendar.clone();
    match source {
        SourceConfig::Simulated { market, saved } => Some(Box::pin(async move {
            simulated::run(market, calendar, saved, clock, sender).await;
            Ok(())
        })),
        SourceConfig::Folder(dir) => {
            let options = file::FileSourceConfig {
                dir,
                every: FOLDER_POLL_INTERVAL,
            };
            feed.prices.first_load_begins();
            let health = FileSourceHealth::default();
            Some(Box::pin(file::run(options, calendar, health, clock, sender)))
        }
        SourceConfig::Live(sources) => {
            coverage::warn_about_missing(&sources.router);
            let requests = feed.prices.connect_price_source(PriceSourceConfig {
                current_for: sources.limits.late_after.saturating_add(sources.limits.delay),
                has_daily_bars: sources.router.offers(Capability::DailyBars),
            });
            let live = LiveSourceTask {
                benchmark: feed.market_intake.settings.benchmark,
                sources: *sources,
                requests,
                calendar,
                feed: feed.clone(),
                clock,
            };
            Some(Box::pin(async move {
                live.run(sender).await;
                Ok(())
            }))
        }
        SourceConfig::Push => {
            if feed.prices.is_without_stocks() {
                tracing::warn!("no stocks are known yet: push market data (POST /market/ingest)");
            }
            None
        }
    }
}
