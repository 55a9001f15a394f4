//! Batches of works: together if that goes well, else one by one.

use std::sync::Arc;
use std::time::Duration;

use super::Counters;
use super::job::{Job, Ran};
use crate::database::Link;
use crate::messages::Bells;
use crate::open::{self, Address};
use crate::unit::Trouble;
use crate::{StoreError, Unit, availability};

/// How often a work is tried that the database asks to try again.
const MAX_ATTEMPTS: usize = 5;
/// How long another transaction is given to get out of the way.
const AFTER_YOU: Duration = Duration::from_millis(10);

/// The connection that writes, and how to get another.
pub(super) struct Batches {
    address: Address,
    unit: Unit,
    /// Whether the connection is in a state that nobody knows.
    is_broken: bool,
    counters: Arc<Counters>,
    bells: Bells,
}

/// What became of a transaction.
enum Fate {
    /// It is on disk.
    Committed,
    /// It was rolled back.
    RolledBack {
        /// Whether it might go well another time.
        again: bool,
        /// Why, where the works themselves do not know.
        because: Option<Trouble>,
    },
    /// It could not be begun.
    NotBegun(Arc<sqlx::Error>),
    /// Nobody knows whether it is on disk.
    Unconfirmed(Arc<sqlx::Error>),
}

/// The error for a unit of work that the database has failed.
fn failure(trouble: &Trouble) -> StoreError {
    let said = trouble.said.clone();
    if trouble.is_unavailable {
        StoreError::Unavailable(said)
    } else {
        StoreError::Spoiled(said)
    }
}

impl Batches {
    pub(super) const fn new(address: Address, link: Link, counters: Arc<Counters>, bells: Bells) -> Self {
        Self {
            address,
            unit: Unit::new(link),
            is_broken: false,
            counters,
            bells,
        }
    }

    pub(super) async fn close(self) {
        open::close(self.unit.into_link()).await;
    }

    /// Does works and answers them.
    pub(super) async fn run(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        match self.transact(&mut jobs).await {
            Fate::Committed => self.conclude(&mut jobs),
            Fate::NotBegun(error) => self.fail(&mut jobs, || StoreError::Unwritable(Arc::clone(&error))),
            Fate::Unconfirmed(error) => self.fail(&mut jobs, || StoreError::Unconfirmed(Arc::clone(&error))),
            Fate::RolledBack { .. } => self.run_one_by_one(&mut jobs).await,
        }
    }

    async fn run_one_by_one(&mut self, jobs: &mut [Box<dyn Job>]) {
        for place in 0..jobs.len() {
            let job = &mut jobs[place..=place];
            match self.persist(job).await {
                Fate::Committed => self.conclude(job),
                // The work itself knows why: it refused, or was told by the database.
                Fate::RolledBack { because: None, .. } => {
                    Counters::add(&self.counters.works, 1);
                    job[0].answer();
                }
                Fate::RolledBack {
                    because: Some(because), ..
                } => self.fail(job, || failure(&because)),
                Fate::Unconfirmed(error) => self.fail(job, || StoreError::Unconfirmed(Arc::clone(&error))),
                Fate::NotBegun(error) => {
                    // What keeps one from beginning keeps all from it; let nobody wait for that in turn.
                    self.fail(&mut jobs[place..], || StoreError::Unwritable(Arc::clone(&error)));
                    return;
                }
            }
        }
    }

    /// Tells works that they are on disk, all of them before the first is answered.
    fn conclude(&self, jobs: &mut [Box<dyn Job>]) {
        Counters::add(&self.counters.transactions, 1);
        Counters::add(&self.counters.works, jobs.len());
        for job in jobs.iter() {
            job.committed();
        }
        if self.unit.has_messages {
            self.bells.ring();
        }
        for job in jobs {
            job.answer();
        }
    }

    fn fail(&self, jobs: &mut [Box<dyn Job>], error: impl Fn() -> StoreError) {
        Counters::add(&self.counters.works, jobs.len());
        for job in jobs {
            job.fail(error());
        }
    }

    /// Tries a transaction until it does not ask to be tried again.
    async fn persist(&mut self, jobs: &mut [Box<dyn Job>]) -> Fate {
        for _ in 1..MAX_ATTEMPTS {
            match self.transact(jobs).await {
                Fate::RolledBack { again: true, .. } => {}
                fate => return fate,
            }
        }
        self.transact(jobs).await
    }

    /// Runs works in one transaction.
    async fn transact(&mut self, jobs: &mut [Box<dyn Job>]) -> Fate {
        if let Err(error) = self.begin().await {
            return Fate::NotBegun(Arc::new(error));
        }
        for job in jobs {
            self.unit.next_work();
            let ran = job.run(&mut self.unit).await;
            let trouble = self.unit.trouble();
            let goes_on = match ran {
                Ran::Done => trouble.is_none(),
                Ran::Refused => trouble.is_none() && !self.unit.has_written(),
                Ran::Failed => false,
            };
            if !goes_on {
                return self.roll_back(ran, trouble).await;
            }
        }
        match self.unit.commit().await {
            Ok(()) => Fate::Committed,
            Err(error) => {
                let trouble = Trouble::of(&error);
                self.is_broken = true;
                if trouble.is_in_the_way || availability::is_out_of_space(&error) {
                    let again = trouble.is_in_the_way;
                    let because = Some(trouble);
                    return Fate::RolledBack { again, because };
                }
                Fate::Unconfirmed(Arc::new(error))
            }
        }
    }

    /// Begins a transaction, on a new connection if there is something wrong with the one there is.
    async fn begin(&mut self) -> Result<(), sqlx::Error> {
        if !self.is_broken {
            match self.unit.begin().await {
                Err(error) if Trouble::of(&error).is_of_connection => {}
                other => return other,
            }
        }
        self.is_broken = true;
        self.unit = Unit::new(self.address.link().await?);
        self.unit.begin().await?;
        self.is_broken = false;
        Ok(())
    }

    async fn roll_back(&mut self, ran: Ran, trouble: Option<Trouble>) -> Fate {
        let connection_is_fine = !trouble.as_ref().is_some_and(|trouble| trouble.is_of_connection);
        if !connection_is_fine || self.unit.roll_back().await.is_err() {
            self.is_broken = true;
        }
        if trouble.as_ref().is_some_and(|trouble| trouble.is_in_the_way) {
            // The other one of a deadlock has to come first, or both are in each other's way again.
            tokio::time::sleep(AFTER_YOU).await;
        }
        // The commit has not been asked for, so a broken connection leaves no doubt either.
        let again = trouble
            .as_ref()
            .is_some_and(|trouble| trouble.is_in_the_way || trouble.is_of_connection);
        // A work that took no notice of the trouble, or refused because of it, does not know why it came to nothing.
        let because = trouble.filter(|_| ran != Ran::Failed);
        Fate::RolledBack { again, because }
    }
}
