//! Leases of background jobs: of several processes on one database, one runs a job.
//!
//! A job that repeats claims its lease for longer than its interval, so the process that ran it keeps the lease and runs it the next
//! time, too: otherwise each process would run it once in each interval. When that process stops, it releases the lease; when it
//! dies, the lease ends, and another process takes over.
//!
//! Not every job needs a lease: those that claim the rows they work on, or compare before they write, can run in several
//! processes.

use std::pin::pin;
use std::sync::Arc;

use clock::Clock;
use jiff::SignedDuration;
use store::{Store, StoreError};
use uuid::Uuid;

use crate::Ports;

/// The lease of a background job for this process.
#[derive(Clone, Debug)]
pub struct JobLease {
    store: Store,
    clock: Arc<dyn Clock>,
    job: &'static str,
    holder: Uuid,
    duration: SignedDuration,
}

impl JobLease {
    /// Creates the lease of a job. It is not claimed yet. `duration` is longer than the interval of the job.
    #[must_use]
    pub fn new(ports: &Ports, job: &'static str, duration: SignedDuration) -> Self {
        let is_shared = ports.store.is_shared();
        let holder = if is_shared { ports.random.uuid() } else { Uuid::nil() };
        Self {
            store: ports.store.clone(),
            clock: Arc::clone(&ports.clock),
            job,
            holder,
            duration,
        }
    }

    /// Claims or renews the lease. Returns `false` if another process has it. Always `true` on a database of one process.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn claim(&self) -> Result<bool, StoreError> {
        self.store.claim_job_lease(self.job, self.holder, self.duration).await
    }

    /// Runs the job if this process can claim the lease, and renews the lease while it runs. Returns `None` if another process has
    /// the lease. If it is lost, the job is stopped.
    ///
    /// # Errors
    /// The error of the job, or a [`StoreError`] if the lease cannot be claimed.
    pub async fn run<T, E: From<StoreError>>(&self, work: impl Future<Output = Result<T, E>>) -> Result<Option<T>, E> {
        let mut claimed_at = self.clock.uptime();
        if !self.claim().await? {
            return Ok(None);
        }
        let mut work = pin!(work);
        loop {
            tokio::select! {
                result = &mut work => return result.map(Some),
                () = self.clock.sleep((self.duration / 3).unsigned_abs()) => {}
            }
            let began_at = self.clock.uptime();
            match self.claim().await {
                Ok(true) => claimed_at = began_at,
                Ok(false) => {
                    tracing::warn!(
                        job = self.job,
                        "another process has taken over this job; it is stopped here"
                    );
                    return Ok(None);
                }
                Err(error) if began_at.saturating_sub(claimed_at) >= self.duration => {
                    tracing::warn!(job = self.job, %error, "the lease of a job has ended; the job is stopped here");
                    return Ok(None);
                }
                Err(error) => tracing::warn!(job = self.job, %error, "the lease of a job could not be renewed"),
            }
        }
    }

    /// Releases the lease, so that another process can take over at once.
    pub async fn release(&self) {
        if let Err(error) = self.store.release_job_lease(self.job, self.holder).await {
            tracing::warn!(job = self.job, %error, "the lease of a job could not be released; it ends by itself");
        }
    }
}

#[cfg(test)]
mod tests {
    use clock::ManualClock;
    use jiff::Timestamp;
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;
    use store::StoreOptions;
    use testkit::{Database, eventually, on_both_databases};
    use tokio::sync::Notify;

    use super::*;
    use crate::vault::Vault;
    use crate::{Network, Random};

    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    /// The lease of a job in a process.
    async fn lease(database: &Database, clock: &Arc<ManualClock>, process: u64, duration: SignedDuration) -> JobLease {
        let ports = Ports {
            store: Store::open(StoreOptions::new(database.url())).await.unwrap(),
            clock: Arc::clone(clock) as Arc<dyn Clock>,
            random: Arc::new(Random::new(Box::new(ChaCha20Rng::seed_from_u64(process)))),
            vault: Arc::new(Vault::new(b"a key for tests")),
            network: Network::new(clock.clone()),
        };
        JobLease::new(&ports, "cleanup", duration)
    }

    fn clock() -> Arc<ManualClock> {
        Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH))
    }

    async fn has_run(lease: &JobLease) -> bool {
        let ran = lease.run(async { Ok::<_, StoreError>(()) }).await;
        ran.unwrap().is_some()
    }

    on_both_databases! {
        async fn job_stays_in_its_process_until_it_is_released(database) {
            let clock = clock();
            let (first, second) = (lease(database, &clock, 1, HOUR).await, lease(database, &clock, 2, HOUR).await);
            let is_shared = database.is_postgres();
            let (began, end) = (Notify::new(), Notify::new());
            let running = first.run(async {
                began.notify_one();
                end.notified().await;
                Ok::<_, StoreError>(7)
            });
            let meanwhile = async {
                began.notified().await;
                assert_eq!(has_run(&second).await, !is_shared, "it is running elsewhere");
                end.notify_one();
            };
            let (ran, ()) = tokio::join!(running, meanwhile);
            assert_eq!(ran.unwrap(), Some(7));
            assert_eq!(has_run(&second).await, !is_shared, "the first process keeps the job");
            assert!(has_run(&first).await);
            first.release().await;
            assert!(has_run(&second).await);
        }

        async fn job_that_has_lost_its_lease_is_stopped(database) {
            if !database.is_postgres() {
                return;
            }
            let clock = clock();
            let short = SignedDuration::from_millis(30);
            let (first, second) = (lease(database, &clock, 1, short).await, lease(database, &clock, 2, HOUR).await);
            let began = Notify::new();
            let running = first.run(async {
                began.notify_one();
                std::future::pending::<Result<(), StoreError>>().await
            });
            // The clock stands still, so the first process does not renew its lease.
            let taking_over = async {
                began.notified().await;
                eventually("the second process has taken over", async || second.claim().await.unwrap()).await;
                clock.advance(short);
            };
            let (ran, ()) = tokio::join!(running, taking_over);
            assert_eq!(ran.unwrap(), None);
        }

        async fn lease_is_renewed_while_the_job_runs(database) {
            if !database.is_postgres() {
                return;
            }
            let clock = clock();
            let duration = SignedDuration::from_secs(30);
            let (first, second) = (lease(database, &clock, 1, duration).await, lease(database, &clock, 2, HOUR).await);
            let end = Notify::new();
            let running = first.run(async {
                end.notified().await;
                Ok::<_, StoreError>(())
            });
            let meanwhile = async {
                let before = first.store.write_stats().transactions;
                eventually("the lease is renewed", async || {
                    clock.advance(duration / 3);
                    tokio::task::yield_now().await;
                    first.store.write_stats().transactions > before + 1
                })
                .await;
                assert!(!has_run(&second).await);
                end.notify_one();
            };
            let (ran, ()) = tokio::join!(running, meanwhile);
            assert_eq!(ran.unwrap(), Some(()));
        }
    }
}
