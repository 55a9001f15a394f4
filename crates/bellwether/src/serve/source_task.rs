//! The source task: ingests the source's market updates into the service, one after the other.
//!
//! The source runs as a separate task and sends through a short channel, so a slow service slows the source down. An
//! update that fails because of the database is retried until it succeeds. Skipping it would lose market data.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use evaluation::market::RowRejection;
use evaluation::prices::PriceSourceConfig;
use foundation::{Clock, ServiceError};
use jiff::SignedDuration;
use market::records::QuoteRow;
use market::{Bar, Calendar, Symbol};
use metrics::counter;
use service::Service;
use sources::MarketUpdate;
use sources::file::{self, FileSourceHealth};
use sources::folder::FolderError;
use sources::provider::Capability;
use sources::simulated::{self, SavedMarket, SavedStock};
use store::model::LatestQuote;
use store::{Store, StoreError};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::coverage;
use super::live::LiveSourceTask;
use crate::settings::{MarketConfig, SourceKind};
use crate::wiring;
use crate::wiring::providers::ProviderSetup;

/// The maximum number of updates in the channel.
const MAX_QUEUED_UPDATES: usize = 4;
/// The delay before a failed update is retried.
const RETRY_DELAY: SignedDuration = SignedDuration::from_secs(1);
/// The interval of checking the data folder of the file source for changes.
const FOLDER_POLL_INTERVAL: SignedDuration = SignedDuration::from_secs(1);
/// The maximum number of rejected rows that are logged for one update.
const MAX_REJECTED_ROWS_LOGGED: usize = 5;

/// A running source, and the task that ingests its updates.
#[derive(Debug)]
pub(super) struct SourceTask {
    source: JoinHandle<()>,
    ingest: JoinHandle<()>,
    stop: watch::Sender<bool>,
    up_to_date: watch::Receiver<bool>,
    /// The reason why the source has ended.
    ended: watch::Receiver<Option<String>>,
}

/// The initial state of a source.
#[derive(Debug)]
pub(super) struct SourceState {
    saved: Option<SavedMarket>,
    providers: Option<ProviderSetup>,
}

impl SourceState {
    /// Loads the saved market state. Must be called before anything is ingested.
    ///
    /// # Errors
    /// [`StoreError`] if the latest quotes cannot be read.
    pub(super) async fn load(
        market: &MarketConfig,
        store: &Store,
        providers: Option<ProviderSetup>,
    ) -> Result<Self, StoreError> {
        let saved = match market.source {
            SourceKind::Simulated => saved_market(&store.latest_quotes().await?),
            SourceKind::File | SourceKind::Push | SourceKind::Providers => None,
        };
        Ok(Self { saved, providers })
    }
}

/// Returns the state from which the simulated market continues.
fn saved_market(quotes: &[LatestQuote]) -> Option<SavedMarket> {
    let at = quotes.iter().map(|quote| quote.at).max()?;
    let stocks: BTreeMap<Symbol, SavedStock> = quotes
        .iter()
        .map(|quote| {
            let today = Bar {
                date: quote.session,
                open: quote.open,
                high: quote.high,
                low: quote.low,
                close: quote.last,
                volume: quote.volume.unwrap_or_default(),
            };
            let stock = SavedStock {
                price: quote.last,
                today: Some(today),
            };
            (quote.symbol, stock)
        })
        .collect();
    Some(SavedMarket { at, stocks })
}

impl SourceTask {
    /// Starts the configured source; `None` if market data is only pushed.
    #[must_use]
    pub(super) fn start(
        market: &MarketConfig,
        state: SourceState,
        service: &Service,
        clock: &Arc<dyn Clock>,
    ) -> Option<Self> {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_UPDATES);
        let source = source_future(market, state, service, Arc::clone(clock), sender)?;
        let (stop, stop_requested) = watch::channel(false);
        let (up_to_date_sender, up_to_date) = watch::channel(false);
        let ingest = IngestWorker {
            service: service.clone(),
            live_calendar: (market.source == SourceKind::Providers).then(|| wiring::calendar(market)),
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
    pub(super) async fn up_to_date(&self) {
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
    pub(super) async fn failed(&self) -> anyhow::Error {
        match self.ended.clone().wait_for(Option::is_some).await {
            Ok(reason) => anyhow::anyhow!(
                "the source of market data has ended: {}",
                reason.as_deref().unwrap_or_default()
            ),
            Err(_) => anyhow::anyhow!("the source of market data has ended"),
        }
    }

    /// Stops the source. An update that is being ingested is completed.
    pub(super) async fn stop(self) {
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
    market: &MarketConfig,
    state: SourceState,
    service: &Service,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<MarketUpdate>,
) -> Option<SourceFuture> {
    let calendar = wiring::calendar(market);
    match (market.source, &market.data_dir) {
        (SourceKind::Simulated, _) => {
            let options = simulated::SimulationConfig {
                seed: market.seed,
                companies: usize::try_from(market.companies.get()).unwrap_or(usize::MAX),
                pace: market.pace,
                lively: market.lively,
                ..simulated::SimulationConfig::default()
            };
            Some(Box::pin(async move {
                simulated::run(options, calendar, state.saved, clock, sender).await;
                Ok(())
            }))
        }
        (SourceKind::File, Some(dir)) => {
            let options = file::FileSourceConfig {
                dir: dir.clone(),
                every: FOLDER_POLL_INTERVAL,
                // All bars are read again after a restart: the folder may have received older bars, and known bars
                // change nothing.
                bars_from: None,
            };
            service.prices.first_load_begins();
            Some(Box::pin(file::run(
                options,
                calendar,
                FileSourceHealth::default(),
                clock,
                sender,
            )))
        }
        (SourceKind::Providers, _) => {
            let sources = state.providers?;
            let set = sources.router.capabilities();
            coverage::warn_about_missing(set);
            let requests = service.prices.connect_price_source(PriceSourceConfig {
                current_for: sources.limits.late_after.saturating_add(sources.limits.delay),
                has_daily_bars: set.has(Capability::DailyBars),
            });
            let live = LiveSourceTask {
                sources,
                requests,
                calendar,
                benchmark: market.benchmark,
                service: service.clone(),
                clock,
            };
            Some(Box::pin(async move {
                live.run(sender).await;
                Ok(())
            }))
        }
        // The settings require a folder for the file source.
        (SourceKind::Push, _) | (SourceKind::File, None) => {
            if service.prices.is_without_stocks() {
                tracing::warn!("no stocks are known yet: push market data (POST /market/ingest)");
            }
            None
        }
    }
}

/// The task that ingests updates.
struct IngestWorker {
    service: Service,
    /// The market calendar if quotes are live, so that their times can be trusted.
    live_calendar: Option<Calendar>,
    clock: Arc<dyn Clock>,
    stop_requested: watch::Receiver<bool>,
    up_to_date_sender: watch::Sender<bool>,
}

impl IngestWorker {
    async fn run(mut self, mut receiver: mpsc::Receiver<MarketUpdate>) {
        loop {
            let update = tokio::select! {
                biased;
                _ = self.stop_requested.wait_for(|stop| *stop) => return,
                update = receiver.recv() => match update {
                    Some(update) => update,
                    // `SourceTask::failed` reports the reason.
                    None => return,
                },
            };
            let is_current = !update.backfill;
            self.ingest_with_retries(update).await;
            if is_current {
                self.service.prices.first_load_ended();
                self.up_to_date_sender
                    .send_if_modified(|up_to_date| !std::mem::replace(up_to_date, true));
            }
        }
    }

    /// Moves quotes of a session that has closed, for example while the database was unavailable, to the missed data.
    fn move_closed_quotes_to_missed(&self, update: &mut MarketUpdate) {
        let Some(calendar) = &self.live_calendar else { return };
        if calendar.session_at(self.clock.now()).is_some() {
            return;
        }
        let is_in_session = |quote: &mut QuoteRow| quote.time.is_some_and(|time| calendar.session_at(time).is_some());
        let closed = update.batch.quotes.extract_if(.., is_in_session);
        update.missed.quotes.extend(closed);
        update.missed.quotes.sort_by_key(|quote| quote.time);
    }

    /// Missed data is older than the current batch, so it is processed first.
    async fn ingest_update(&self, update: &MarketUpdate) -> Result<Vec<RowRejection>, ServiceError> {
        if !update.missed.quotes.is_empty() {
            let missed = evaluation::market::MissedPeriod {
                quotes: update.missed.quotes.clone(),
                is_behind: update.missed.is_behind,
            };
            // Processing it again after a failure is safe.
            let outcome = self.service.market_intake.evaluate_missed(missed).await?;
            tracing::info!(?outcome, "missed market data has been evaluated");
        }
        if update.batch.is_empty() {
            return Ok(Vec::new());
        }
        self.service.market_intake.ingest(update.batch.clone()).await
    }

    /// Ingests one update and retries until it succeeds or the service stops.
    async fn ingest_with_retries(&mut self, update: MarketUpdate) {
        let mut update = update;
        loop {
            self.move_closed_quotes_to_missed(&mut update);
            match self.ingest_update(&update).await {
                Ok(rejected) => {
                    counter!("bellwether_deliveries_total").increment(1);
                    counter!("bellwether_rows_left_out_total").increment(rejected.len() as u64);
                    for row in rejected.iter().take(MAX_REJECTED_ROWS_LOGGED) {
                        tracing::warn!(
                            kind = row.kind,
                            index = row.index,
                            reason = row.reason,
                            "a row was rejected"
                        );
                    }
                    return;
                }
                Err(error) => {
                    counter!("bellwether_deliveries_failed_total").increment(1);
                    tracing::error!(%error, "a market update could not be ingested; retrying");
                }
            }
            let retry_at = self.clock.now().saturating_add(RETRY_DELAY).unwrap_or_default();
            tokio::select! {
                () = self.clock.sleep_until(retry_at) => {}
                _ = self.stop_requested.wait_for(|stop| *stop) => return,
            }
        }
    }
}
