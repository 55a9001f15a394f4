//! Leases of background jobs: of several processes on one database, one runs a job.
//!
//! A lease is claimed and renewed by compare-and-set. It ends by the database's clock, so the clocks of the processes do not
//! matter. SQLite has one process, so nothing is leased there.

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::unit_of_work::write_rows;
use crate::{Store, StoreError};

/// The present time of a PostgreSQL server in microseconds.
macro_rules! server_time {
    () => {
        "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
    };
}

pub(crate) use server_time;

const CLAIM: &str = concat!(
    "INSERT INTO job_leases (name, holder_id, until) VALUES ($1, $2, ",
    server_time!(),
    " + $3) ON CONFLICT (name) DO UPDATE SET holder_id = excluded.holder_id, until = excluded.until
     WHERE job_leases.holder_id = excluded.holder_id OR job_leases.until <= ",
    server_time!()
);

/// The row stays, because the end of the last lease may matter to the next holder.
const RELEASE: &str = concat!(
    "UPDATE job_leases SET until = LEAST(until, ",
    server_time!(),
    ") WHERE name = $1 AND holder_id = $2"
);

const LEASES: Table = Table("job_leases");

impl Store {
    /// Claims the lease of a job for a duration from now, or renews it. Returns `false` if another process has it. Always `true` if
    /// this is the only process on the database.
    pub async fn claim_job_lease(
        &self,
        job: &'static str,
        holder: Uuid,
        duration: SignedDuration,
    ) -> Result<bool, StoreError> {
        if !self.is_shared() {
            return Ok(true);
        }
        let duration = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 2);
        let transaction = self.commit((job, holder, duration), |&(job, holder, duration), unit| {
            Box::pin(async move { Ok(write_rows!(unit, CLAIM, job, holder, duration) == 1) })
        });
        transaction.await
    }

    /// Returns when the last lease of a job has ended or will end. `None` if no process ever had one.
    pub async fn job_lease_end(&self, job: &str) -> Result<Option<Timestamp>, StoreError> {
        let until = query!(
            fetch_optional(i64,),
            &self.pools,
            "SELECT until FROM job_leases WHERE name = $1",
            job
        )?;
        until.map(|(until,)| LEASES.instant(until)).transpose()
    }

    /// Releases the lease of a job, unless another process has it by now.
    pub async fn release_job_lease(&self, job: &'static str, holder: Uuid) -> Result<(), StoreError> {
        if !self.is_shared() {
            return Ok(());
        }
        let transaction = self.commit((job, holder), |&(job, holder), unit| {
            Box::pin(async move {
                write_rows!(unit, RELEASE, job, holder);
                Ok(())
            })
        });
        transaction.await
    }
}
