//! Jobs that are done from time to time. The service does them by itself; who drives schedules from outside can ask for each of
//! them ([`Service::run_job`]).
//!
//! What is of no use any more is deleted here, too: once an hour, by [`Housekeeping`].

mod secret;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use sources::live::RefreshKind;
use store::StoreError;
use store::model::MessageChannel;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::alerts::guests;
use crate::evaluator::Evaluator;
use crate::watchlist::Watchlists;
use crate::{Ports, ServiceError, oauth};

pub use secret::Secret;

/// How often what is of no use any more is deleted.
const CLEANED_EVERY: SignedDuration = SignedDuration::from_hours(1);
/// Sessions and codes are kept for so long after their end: whoever shows one then is told that it is over.
const KEPT_AFTER_THE_END: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Messages that are done with are kept for so long, with what the outbox has of them: a month of them is counted.
const MESSAGES_KEPT: SignedDuration = SignedDuration::from_hours(40 * 24);
/// Deliveries that are done with are kept for so long after their events, to be looked at and sent again.
const DELIVERIES_KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Answers are repeated for so long.
const REPEATED_FOR: SignedDuration = SignedDuration::from_hours(24);
/// So many things of a kind are deleted at once, so that nobody waits long behind it.
const AT_ONCE: u32 = 1000;

/// A job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Job {
    /// Judging alerts that are due.
    Evaluate,
    /// Judging alerts that go by the clock: the same, as both are judged together.
    DailyReminders,
    /// Fetching the exchange's calendar.
    Calendar,
    /// Fetching the catalog of stocks.
    Catalog,
    /// Fetching daily bars.
    Bars,
    /// Fetching fundamentals.
    Fundamentals,
    /// Fetching earnings, dividends and splits.
    Events,
    /// Having the analyst look at watchlists.
    Analyst,
    /// Sending what waits to be sent.
    Deliveries,
    /// Settling paper trades.
    PaperTrades,
    /// Deleting what is of no use any more.
    Cleanup,
}

impl Job {
    /// Every job there is.
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

    /// Its name in routes and answers.
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

    /// The job of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|job| job.name() == name)
    }
}

/// What a job came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobReport {
    /// Which job.
    pub job: Job,
    /// Whether there was anything to do.
    pub has_run: bool,
    /// What was done, or why there was nothing to do.
    pub detail: String,
}

/// Periodic jobs, which an external scheduler may trigger.
#[derive(Clone)]
pub struct Jobs {
    pub(crate) ports: Ports,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) watchlists: Watchlists,
    pub(crate) wanted: broadcast::Sender<RefreshKind>,
}

impl Jobs {
    /// Does a job now.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn run_job(&self, job: Job) -> Result<JobReport, ServiceError> {
        let done = |detail: &str| (true, detail.to_owned());
        let nothing = |why: &str| (false, format!("nothing to do: {why}"));
        let (has_run, detail) = match job {
            Job::Evaluate | Job::DailyReminders => {
                self.evaluator.evaluate(false).await?;
                done("all alerts that were due were judged, those that go by the clock among them")
            }
            Job::Deliveries => {
                let store = &self.ports.store;
                store.delivery_wake_handle().notify_one();
                for channel in [MessageChannel::Email, MessageChannel::Sms] {
                    store.message_wake_handle(channel).notify_one();
                }
                done("the dispatchers of webhooks, mail and text messages look for what is due")
            }
            Job::Cleanup => {
                let housekeeping = Housekeeping::new(&self.ports, &self.watchlists);
                let Swept {
                    ended,
                    grants,
                    requests,
                    unverified,
                    messages,
                    deliveries,
                } = housekeeping.sweep().await?;
                let detail = format!(
                    "{ended} sessions and codes, {grants} grants, tokens and clients of apps, {requests} kept answers, {messages} messages and {deliveries} \
                     deliveries that are done with and {unverified} alerts of guests that were never verified were deleted"
                );
                (true, detail)
            }
            Job::Calendar => nothing("the exchange's calendar is part of the program"),
            Job::Catalog => self.want(RefreshKind::Catalog),
            Job::Bars => self.want(RefreshKind::Bars),
            Job::Fundamentals => self.want(RefreshKind::Fundamentals),
            Job::Events => self.want(RefreshKind::Events),
            Job::Analyst => {
                let asked = self.watchlists.run_analyst().await?;
                let detail = format!(
                    "the analyst has looked at all it was asked about, {asked} items with stale alerts among them"
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
        tracing::info!(job = job.name(), has_run, "a job was asked for");
        Ok(JobReport { job, has_run, detail })
    }

    /// Tells the source of market data, if it asks anybody.
    fn want(&self, matter: RefreshKind) -> (bool, String) {
        match self.wanted.send(matter) {
            Ok(_) => (
                true,
                "the providers of market data are asked; what they answer is taken in as it comes".to_owned(),
            ),
            Err(_) => (
                false,
                "nothing to do: the source of market data delivers this by itself, or it is pushed; nothing is fetched"
                    .to_owned(),
            ),
        }
    }
}

/// Deletes expired data and follows paper trades, every hour.
pub(crate) struct Housekeeping {
    ports: Ports,
    watchlists: Watchlists,
}

/// What was deleted.
struct Swept {
    ended: u64,
    grants: u64,
    requests: u64,
    unverified: u64,
    messages: u64,
    deliveries: u64,
}

impl Housekeeping {
    pub(crate) fn new(ports: &Ports, watchlists: &Watchlists) -> Self {
        Self {
            ports: ports.clone(),
            watchlists: watchlists.clone(),
        }
    }

    /// Does it once an hour until it is told to stop.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let clock = &self.ports.clock;
        loop {
            let next = clock.now().saturating_add(CLEANED_EVERY).unwrap_or(Timestamp::MAX);
            tokio::select! {
                () = stop.cancelled() => return,
                () = clock.sleep_until(next) => {}
            }
            if let Err(error) = self.sweep().await {
                tracing::warn!(%error, "what is of no use any more could not be deleted; it is tried again in an hour");
            }
            if let Err(error) = self.watchlists.follow_all_paper_trades().await {
                tracing::warn!(%error, "paper trades could not be followed; it is tried again in an hour");
            }
        }
    }

    async fn sweep(&self) -> Result<Swept, StoreError> {
        let Ports { store, clock, .. } = &self.ports;
        let before = |time| clock.now().saturating_sub(time).unwrap_or(Timestamp::MIN);
        let over = before(KEPT_AFTER_THE_END);
        let made_before = before(guests::NEVER_VERIFIED_AFTER);
        let (sent_before, delivered_before) = (before(MESSAGES_KEPT), before(DELIVERIES_KEPT));
        let ended = until_none(|| store.purge_sessions_and_codes(over, AT_ONCE)).await?;
        let unused = before(oauth::UNUSED_GRANTS_KEPT);
        let grants = until_none(|| store.purge_grants(over, unused, AT_ONCE)).await?;
        let (unused, idle) = (before(oauth::UNUSED_CLIENTS_KEPT), before(oauth::IDLE_CLIENTS_KEPT));
        // What nobody was let in by any more, too.
        until_none(|| store.purge_oauth_clients(unused, idle, AT_ONCE)).await?;
        until_none(|| store.purge_approvals(over, AT_ONCE)).await?;
        let requests = store.purge_idempotency_keys(before(REPEATED_FOR)).await?;
        let unverified = until_none(|| store.purge_unverified_alerts(made_before, AT_ONCE)).await?;
        let messages = until_none(|| store.purge_messages(sent_before, AT_ONCE)).await?;
        let deliveries = until_none(|| store.purge_deliveries(delivered_before, AT_ONCE)).await?;
        Ok(Swept {
            ended,
            grants,
            requests,
            unverified,
            messages,
            deliveries,
        })
    }
}

/// Deletes piece by piece until nothing is left. Says how much that was.
async fn until_none<F>(delete: impl Fn() -> F) -> Result<u64, StoreError>
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
    fn every_job_is_found_by_its_name() {
        for job in Job::ALL {
            assert_eq!(Job::from_name(job.name()), Some(*job));
        }
        assert_eq!(Job::ALL.len(), 11);
        assert_eq!(Job::from_name("Evaluate"), None);
    }
}
