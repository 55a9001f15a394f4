//! Limits on how long PostgreSQL may leave this process without an answer.
//!
//! When the machine of a primary vanishes, nothing ends the connections to it: a statement that was sent waits for ever, also when
//! another server has taken its place. So a statement that gets no answer fails like one whose connection has broken, and connections are
//! tested before they are used and when they come back to a pool.

use std::future::Future;
use std::io;
use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, Error, PgConnection};

/// How long a statement may wait for its result, or for its next rows: longer than it waits for a lock, and not much longer than a failover
/// takes.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(20);
/// A connection that came back to its pool, and was tested then, within this time is not tested again.
const TESTED_FOR: Duration = Duration::from_millis(50);

/// Waits for an answer for at most [`MAX_ANSWER_TIME`]. Its connection must not be used again then.
pub(crate) async fn answered<T>(statement: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    within(MAX_ANSWER_TIME, statement).await
}

/// Waits for an answer for at most `limit`.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let waited = tokio::time::timeout(limit, work).await;
    waited.unwrap_or_else(|_| {
        let message = format!("PostgreSQL has not answered for {limit:?}");
        Err(Error::Io(io::Error::new(io::ErrorKind::TimedOut, message)))
    })
}

/// How long the connections of a pool may take to answer a test. One that does not is closed.
#[derive(Clone, Copy)]
pub(crate) struct TestTimes {
    /// Before a connection is used.
    pub(crate) unused: Duration,
    /// When it comes back. Its statement may still run, because nobody waits for it any more; until it has ended, the pool does not begin
    /// another one in its place.
    pub(crate) released: Duration,
}

/// Makes a pool test its connections.
pub(crate) fn tested(pool: PgPoolOptions, times: TestTimes) -> PgPoolOptions {
    pool.test_before_acquire(false)
        .before_acquire(move |connection, metadata| {
            Box::pin(async move { Ok(metadata.idle_for < TESTED_FOR || answers(connection, times.unused).await?) })
        })
        .after_release(move |connection, _| Box::pin(answers(connection, times.released)))
}

async fn answers(connection: &mut PgConnection, limit: Duration) -> Result<bool, Error> {
    within(limit, connection.ping()).await.map(|()| true)
}
