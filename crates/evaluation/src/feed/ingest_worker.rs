//! Ingests the updates of a source, one after the other.
//!
//! An update that fails because of the database is retried until it succeeds. Skipping it would lose market data.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use foundation::ServiceError;
use market::Calendar;
use market::records::QuoteRow;
use metrics::counter;
use sources::MarketUpdate;
use tokio::sync::{mpsc, watch};

use super::Feed;
use crate::market::RowRejection;

/// The delay before a failed update is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// The maximum number of rejected rows that are logged for one update.
const MAX_REJECTED_ROWS_LOGGED: usize = 5;

/// The task that ingests updates.
pub(super) struct IngestWorker {
    pub(super) feed: Feed,
    /// The market calendar if quotes are live, so that their times can be trusted.
    pub(super) live_calendar: Option<Calendar>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stop_requested: watch::Receiver<bool>,
    pub(super) up_to_date_sender: watch::Sender<bool>,
}

impl IngestWorker {
    /// Ingests updates until the source ends or a stop is requested.
    pub(super) async fn run(mut self, mut receiver: mpsc::Receiver<MarketUpdate>) {
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
                self.feed.prices.first_load_ended();
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
            // Processing it again after a failure is safe.
            let outcome = self.feed.market_intake.evaluate_missed(update.missed.clone()).await?;
            tracing::info!(?outcome, "missed market data has been evaluated");
        }
        if update.batch.is_empty() {
            return Ok(Vec::new());
        }
        self.feed.market_intake.ingest(update.batch.clone()).await
    }

    /// Ingests one update and retries until it succeeds or the service stops.
    async fn ingest_with_retries(&mut self, mut update: MarketUpdate) {
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
            tokio::select! {
                () = self.clock.sleep(RETRY_DELAY) => {}
                _ = self.stop_requested.wait_for(|stop| *stop) => return,
            }
        }
    }
}
