//! Limits that several processes on one database share.
//!
//! A process takes a chunk of a window by one statement that never passes the limit, and spends it from memory. Windows begin and
//! end by the database's clock, so the clocks of the processes do not matter. SQLite has one process, which needs no table.
//!
//! The statements use the connections for reading: each commits by itself, and must not wait behind the write queue.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sqlx::PgPool;

use crate::database::Either;
use crate::timeouts::{with_statement_timeout, with_timeout};
use crate::{Store, StoreError};

/// The time at which a statement begins, in microseconds. It is the same in the whole statement.
macro_rules! statement_time {
    () => {
        "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)"
    };
}

pub(crate) use statement_time;

/// Whether the window of a row is the current one. If the database's clock is set back by more than a window, a new window begins; if it is set
/// back by less, the window lasts longer, because a new one would pass the limit.
macro_rules! is_current {
    () => {
        concat!(
            "(held.ends > ",
            statement_time!(),
            " AND held.ends <= ",
            statement_time!(),
            " + 2 * $4)"
        )
    };
}

/// The maximum time for a chunk. Requests wait for it, and a connection that is being opened would be awaited longer.
const TAKE_TIMEOUT: Duration = Duration::from_secs(2);

const TAKE: &str = concat!(
    "INSERT INTO shared_limits AS held (key_hash, ends, granted, latest) VALUES ($1, ",
    statement_time!(),
    " + $4, LEAST(CAST($3 AS BIGINT), CAST($2 AS BIGINT)), LEAST($3, $2))
     ON CONFLICT (key_hash) DO UPDATE SET
         ends = CASE WHEN ",
    is_current!(),
    " THEN held.ends ELSE excluded.ends END,
         granted = CASE WHEN ",
    is_current!(),
    " THEN held.granted + GREATEST(LEAST($3, $2 - held.granted), 0) ELSE excluded.granted END,
         latest = CASE WHEN ",
    is_current!(),
    " THEN GREATEST(LEAST($3, $2 - held.granted), 0) ELSE excluded.latest END
     RETURNING latest, granted, ends, ends - ",
    statement_time!()
);

const PURGE: &str = concat!(
    "DELETE FROM shared_limits WHERE key_hash IN (SELECT key_hash FROM shared_limits WHERE ends <= ",
    statement_time!(),
    " ORDER BY ends LIMIT $1 FOR UPDATE SKIP LOCKED)"
);

/// A chunk of the window of a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitChunk {
    /// The part of the limit that this process may use. 0 if all of the limit is granted.
    pub size: u32,
    /// The part of the limit that is granted to all processes, with this chunk.
    pub granted: u32,
    /// The end of the window by the database's clock, the same for all processes.
    pub ends: Timestamp,
    /// The time until the window ends.
    pub ends_in: SignedDuration,
}

/// The limits that several processes share, by the hash of their names.
#[derive(Clone, Debug)]
pub struct SharedLimits(PgPool);

impl Store {
    /// Returns the limits that the processes on this database share. `None` if this is the only process.
    #[must_use]
    pub fn shared_limits(&self) -> Option<SharedLimits> {
        match &self.pools {
            Either::Lite(_) => None,
            Either::Pg(pool) => Some(SharedLimits(pool.clone())),
        }
    }
}

impl SharedLimits {
    /// Takes a chunk of at most `size` of a limit. The first chunk begins a window of the given length.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails or does not respond within two seconds. The chunk may be lost then.
    pub async fn take(
        &self,
        key_hash: &[u8; 32],
        limit: u32,
        size: u32,
        window: SignedDuration,
    ) -> Result<LimitChunk, StoreError> {
        // So that twice the length can be added to a time.
        let window = i64::try_from(window.as_micros()).unwrap_or(i64::MAX).min(i64::MAX / 8);
        let query = sqlx::query_as::<_, (i64, i64, i64, i64)>(TAKE);
        let query = query.bind(&key_hash[..]).bind(i64::from(limit)).bind(i64::from(size));
        let taking = query.bind(window).fetch_one(&self.0);
        let (size, granted, ends, ends_in) = with_timeout(TAKE_TIMEOUT, taking).await?;
        Ok(LimitChunk {
            size: u32::try_from(size).map_err(|_| unreadable("latest", size))?,
            granted: u32::try_from(granted).map_err(|_| unreadable("granted", granted))?,
            ends: Timestamp::from_microsecond(ends).map_err(|_| unreadable("ends", ends))?,
            ends_in: SignedDuration::from_micros(ends_in),
        })
    }

    /// Deletes at most `max_rows` windows that have ended. Returns the number deleted.
    pub async fn purge(&self, max_rows: u32) -> Result<u64, StoreError> {
        let deleted = with_statement_timeout(sqlx::query(PURGE).bind(i64::from(max_rows)).execute(&self.0)).await?;
        Ok(deleted.rows_affected())
    }
}

fn unreadable(column: &str, number: i64) -> StoreError {
    StoreError::Corrupt {
        table: "shared_limits",
        what: format!("{column} is {number}"),
    }
}
