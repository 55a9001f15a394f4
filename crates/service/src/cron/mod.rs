//! Periodic jobs. The service runs them on its own schedule; external schedulers can trigger each of them
//! ([`Jobs::run_job`]).
//!
//! The [`CleanupWorker`] deletes expired data every hour, in one of the processes on a database.
//!
//! Three further jobs run in one process: the check of watchlists for stale alerts (`watchlist::analysis`), the confirmation of prices
//! for new alerts (`evaluation::prices::initial`) and the reading of Telegram bots (`delivery::notification_channels`). All others
//! run in each process, because they claim the rows they work on (dispatchers, analyses), check and write in one
//! transaction with the rows locked (escalations, notices about blind alerts, the opening of paper trades, initial prices), or need what
//! this process has in memory (the engine, the source of market data).

mod secret;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use market::intraday_kept_from;
use sources::live::RefreshKind;
use store::StoreError;
use store::model::Queue;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::alerts::UNDO_LIFETIME;
use crate::alerts::guests;
use accounts::oauth;
use evaluation::evaluator::Evaluator;
use foundation::{JobLease, Ports, ServiceError};
use watchlist::Watchlists;

pub use secret::CronSecret;

/// Interval of the cleanup.
const CLEANUP_INTERVAL: Duration = Duration::from_hours(1);
/// Lease of the cleanup.
const CLEANUP_LEASE: SignedDuration = SignedDuration::from_mins(90);
/// Retention of ended sessions and codes, so that their use gets a specific error.
const EXPIRED_RETENTION: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Retention of finished messages and their outbox content. The monthly quota needs a month of them.
const MESSAGE_RETENTION: SignedDuration = SignedDuration::from_hours(40 * 24);
/// Retention of finished deliveries after their events, for inspection and resending.
const DELIVERY_RETENTION: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Retention of idempotent responses.
const RESPONSE_RETENTION: SignedDuration = SignedDuration::from_hours(24);
/// Maximum number of rows per delete, so that other writes do not wait long.
const DELETE_BATCH_SIZE: u32 = 1000;

/// A periodic job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Job {
    /// Evaluates due alerts.
    Evaluate,
    /// Evaluates time-based alerts. The same as `Evaluate`, which evaluates both.
    DailyReminders,
    /// Refreshes the exchange calendar.
    Calendar,
    /// Refreshes the stock catalog.
    Catalog,
    /// Refreshes daily bars.
    Bars,
    /// Refreshes fundamentals.
    Fundamentals,
    /// Refreshes earnings, dividends and splits.
    Events,
    /// Runs the watchlist analyst.
    Analyst,
    /// Sends due webhooks and messages.
    Deliveries,
    /// Updates paper trades.
    PaperTrades,
    /// Deletes expired data.
    Cleanup,
}

impl Job {
    /// All jobs.
    pub const ALL: &'static [Self] = &[
        Self::Evaluate,
        Self::DailyReminders,
        Self::Calendar,
        Self::Catalog,
        Self::Bars,
        Self::Fundamentals,
        Self::Events,
        Self::Analyst,
        Self::Deliveries,
        Self::PaperTrades,
        Self::Cleanup,
    ];

    /// Returns the name in routes and responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Evaluate => "evaluate",
            Self::DailyReminders => "daily-reminders",
            Self::Calendar => "calendar",
            Self::Catalog => "catalog",
            Self::Bars => "bars",
            Self::Fundamentals => "fundamentals",
            Self::Events => "events",
            Self::Analyst => "analyst",
            Self::Deliveries => "deliveries",
            Self::PaperTrades => "paper-trades",
            Self::Cleanup => "cleanup",
        }
    }

    /// Returns the job with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|job| job.name() == name)
    }
}

/// Result of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobReport {
    /// The job.
    pub job: Job,
    /// Whether there was anything to do.
    pub has_run: bool,
    /// Summary of the work, or the reason why there was nothing to do.
    pub detail: String,
}

/// Use cases for periodic jobs, which an external scheduler may trigger.
#[derive(Clone)]
pub struct Jobs {
    pub(crate) ports: Ports,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) watchlists: Watchlists,
    pub(crate) wanted: broadcast::Sender<RefreshKind>,
}

impl Jobs {
    /// Runs a job now.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails.
    pub async fn run_job(&self, job: Job) -> Result<JobReport, ServiceError> {
        let done = |detail: &str| (true, detail.to_owned());
        let nothing = |why: &str| (false, format!("nothing to do: {why}"));
        let (has_run, detail) = match job {
            Job::Evaluate | Job::DailyReminders => {
                self.evaluator.evaluate_due(false).await?;
                done("all alerts that were due were judged, those that go by the clock among them")
            }
            Job::Deliveries => {
                let store = &self.ports.store;
                for queue in Queue::ALL {
                    store.wake_handle(queue).notify_one();
                }
                done("the dispatchers of webhooks, email and text messages check for due deliveries")
            }
            Job::Cleanup => {
                let worker = CleanupWorker::new(&self.ports, &self.watchlists);
                let CleanupCounts {
                    ended,
                    grants,
                    requests,
                    unverified,
                    messages,
                    deliveries,
                } = worker.clean_up().await?;
                let detail = format!(
                    "{ended} sessions and codes, {grants} grants, tokens and clients of apps, {requests} stored responses, \
                     {messages} messages and {deliveries} \
                     deliveries that are done with and {unverified} alerts of guests that were never verified were deleted"
                );
                (true, detail)
            }
            Job::Calendar => nothing("the exchange's calendar is part of the program"),
            Job::Catalog => self.request_refresh(RefreshKind::Catalog),
            Job::Bars => self.request_refresh(RefreshKind::Bars),
            Job::Fundamentals => self.request_refresh(RefreshKind::Fundamentals),
            Job::Events => self.request_refresh(RefreshKind::Events),
            Job::Analyst => {
                let requested = self.watchlists.run_analyst().await?;
                let detail = format!(
                    "the analyst has looked at all it was asked about, {requested} items with stale alerts among them"
                );
                (true, detail)
            }
            Job::PaperTrades => {
                let opened = self.watchlists.open_awaited_trades().await?;
                let followed = self.watchlists.follow_all_paper_trades().await?;
                let detail = format!(
                    "{opened} paper trades that awaited a price were opened; those of {followed} accounts were followed \
                     through the sessions that are over"
                );
                (true, detail)
            }
        };
        tracing::info!(job = job.name(), has_run, "job triggered");
        Ok(JobReport { job, has_run, detail })
    }

    /// Requests a refresh from the source of market data, if it fetches data.
    fn request_refresh(&self, matter: RefreshKind) -> (bool, String) {
        match self.wanted.send(matter) {
            Ok(_) => (
                true,
                "a refresh from the market data providers was requested; results are stored as they arrive".to_owned(),
            ),
            Err(_) => (
                false,
                "nothing to do: this data is not fetched; the source of market data delivers it by itself, or it is pushed"
                    .to_owned(),
            ),
        }
    }
}

/// Deletes expired data and follows paper trades, every hour.
pub(crate) struct CleanupWorker {
    ports: Ports,
    watchlists: Watchlists,
}

/// Number of deleted rows by kind.
struct CleanupCounts {
    ended: u64,
    grants: u64,
    requests: u64,
    unverified: u64,
    messages: u64,
    deliveries: u64,
}

impl CleanupWorker {
    pub(crate) fn new(ports: &Ports, watchlists: &Watchlists) -> Self {
        Self {
            ports: ports.clone(),
            watchlists: watchlists.clone(),
        }
    }

    /// Runs every hour until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let clock = &self.ports.clock;
        let lease = JobLease::new(&self.ports, "cleanup", CLEANUP_LEASE);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = clock.sleep(CLEANUP_INTERVAL) => {}
            }
            if let Err(error) = lease.run(self.run_once()).await {
                tracing::warn!(%error, "the cleanup could not begin; it is retried in an hour");
            }
        }
        lease.release().await;
    }

    async fn run_once(&self) -> Result<(), StoreError> {
        if let Err(error) = self.clean_up().await {
            tracing::warn!(%error, "the cleanup failed; it is retried in an hour");
        }
        if let Err(error) = self.watchlists.follow_all_paper_trades().await {
            tracing::warn!(%error, "paper trades could not be updated; it is retried in an hour");
        }
        Ok(())
    }

    async fn clean_up(&self) -> Result<CleanupCounts, StoreError> {
        let Ports { store, clock, .. } = &self.ports;
        let before = |time| clock.now().saturating_sub(time).unwrap_or(Timestamp::MIN);
        let over = before(EXPIRED_RETENTION);
        let made_before = before(guests::UNVERIFIED_RETENTION);
        let (sent_before, delivered_before) = (before(MESSAGE_RETENTION), before(DELIVERY_RETENTION));
        // First, because anyone can cause these rows: a failure of another step must not keep them.
        if let Some(limits) = store.shared_limits() {
            delete_in_batches(|| limits.purge(DELETE_BATCH_SIZE)).await?;
        }
        let ended = delete_in_batches(|| store.purge_sessions_and_codes(over, DELETE_BATCH_SIZE)).await?;
        let unused = before(oauth::UNUSED_GRANT_RETENTION);
        let grants = delete_in_batches(|| store.purge_grants(over, unused, DELETE_BATCH_SIZE)).await?;
        let (unused, idle) = (
            before(oauth::UNUSED_CLIENT_RETENTION),
            before(oauth::IDLE_CLIENT_RETENTION),
        );
        // Includes clients without grants.
        delete_in_batches(|| store.purge_oauth_clients(unused, idle, DELETE_BATCH_SIZE)).await?;
        delete_in_batches(|| store.purge_approvals(over, DELETE_BATCH_SIZE)).await?;
        delete_in_batches(|| store.purge_undo_states(before(UNDO_LIFETIME), DELETE_BATCH_SIZE)).await?;
        let kept_from = intraday_kept_from(clock.now());
        delete_in_batches(|| store.purge_intraday_bars(kept_from, DELETE_BATCH_SIZE)).await?;
        let requests = store.purge_idempotency_keys(before(RESPONSE_RETENTION)).await?;
        let unverified = delete_in_batches(|| store.purge_unverified_alerts(made_before, DELETE_BATCH_SIZE)).await?;
        let messages = delete_in_batches(|| store.purge_messages(sent_before, DELETE_BATCH_SIZE)).await?;
        let deliveries = delete_in_batches(|| store.purge_deliveries(delivered_before, DELETE_BATCH_SIZE)).await?;
        // Last: it reads all alerts, and its failure must not stop the deletions.
        let wrong_totals = store.correct_alert_totals().await?;
        if wrong_totals > 0 {
            tracing::error!(
                accounts = wrong_totals,
                "the numbers of alerts were wrong and have been corrected; please report this"
            );
        }
        Ok(CleanupCounts {
            ended,
            grants,
            requests,
            unverified,
            messages,
            deliveries,
        })
    }
}

/// Deletes in batches until nothing is left. Returns the number of deleted rows.
async fn delete_in_batches<F>(delete: impl Fn() -> F) -> Result<u64, StoreError>
where
    F: Future<Output = Result<u64, StoreError>>,
{
    let mut all = 0;
    loop {
        match delete().await? {
            0 => return Ok(all),
            deleted => all += deleted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_found_by_name() {
        for job in Job::ALL {
            assert_eq!(Job::from_name(job.name()), Some(*job));
        }
        assert_eq!(Job::ALL.len(), 11);
        assert_eq!(Job::from_name("Evaluate"), None);
    }
}
