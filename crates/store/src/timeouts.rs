//! Limits on how long this process waits for PostgreSQL.
//!
//! When the machine of a primary vanishes, nothing ends the connections to it: a statement that was sent waits for ever, also when
//! another server has taken its place. So a statement without an answer fails like one whose connection has broken, and pools test
//! connections before they are used and when they come back. Only migrations have no limit.

use std::future::Future;
use std::io;
use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, Error, Executor, PgConnection};

use crate::database::{Either, WriteConnection};

/// How long a statement may take, with the time that it waits for a connection of a pool: longer than it waits for a lock, and not much
/// longer than a failover takes. The server ends statements that write [before](LIMIT_STATEMENTS).
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(20);
/// Makes the server end a statement of the connection that writes while this process still waits for it, so that no transaction goes on
/// beside its repetition.
const LIMIT_STATEMENTS: &str = "SELECT set_config('statement_timeout', '18s', false)";
/// How long a read of a whole table may take until its next row.
const NEXT_ROW_TIMEOUT: Duration = Duration::from_mins(2);
/// Makes the server end a statement whose client has closed the connection. Not every system supports it.
const NOTICE_CLOSED_CLIENTS: &str = "SELECT set_config('client_connection_check_interval', '5s', false)";
/// A connection that came back to its pool, and was tested then, within this time is not tested again.
const MAX_IDLE_WITHOUT_PING: Duration = Duration::from_millis(50);

/// Waits for a statement, at most for [`STATEMENT_TIMEOUT`]. Its connection must not be used again then.
pub(crate) async fn with_statement_timeout<T>(statement: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    with_timeout(STATEMENT_TIMEOUT, statement).await
}

/// Waits for the next row of a table, at most for [`NEXT_ROW_TIMEOUT`].
pub(crate) async fn with_row_timeout<T>(row: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    with_timeout(NEXT_ROW_TIMEOUT, row).await
}

/// Waits for PostgreSQL, at most for `timeout`.
pub(crate) async fn with_timeout<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let waited = tokio::time::timeout(timeout, work).await;
    waited.unwrap_or_else(|_| {
        let message = format!("PostgreSQL has not answered for {timeout:?}");
        Err(Error::Io(io::Error::new(io::ErrorKind::TimedOut, message)))
    })
}

/// How long the connections of a pool may take to answer a ping. One that does not is closed.
#[derive(Clone, Copy)]
pub(crate) struct PingTimeouts {
    /// Before a connection is used.
    pub(crate) unused: Duration,
    /// When it comes back. Its statement may still run, because nobody waits for it any more.
    pub(crate) released: Duration,
}

/// Makes a pool ping its connections. sqlx pings one that comes back once more, at once, and without a limit.
pub(crate) fn with_pings(pool: PgPoolOptions, timeouts: PingTimeouts) -> PgPoolOptions {
    pool.test_before_acquire(false)
        .after_connect(|connection, _| {
            Box::pin(async move {
                notice_closed_clients(connection).await;
                Ok(())
            })
        })
        .before_acquire(move |connection, metadata| {
            Box::pin(async move {
                Ok(metadata.idle_for < MAX_IDLE_WITHOUT_PING || answers(connection, timeouts.unused).await?)
            })
        })
        .after_release(move |connection, _| Box::pin(answers(connection, timeouts.released)))
}

/// Limits the time of statements on the connection that writes to a server.
pub(crate) async fn limit_statements(connection: &mut WriteConnection) -> Result<(), Error> {
    match connection {
        Either::Lite(_) => Ok(()),
        Either::Pg(connection) => with_statement_timeout(connection.execute(LIMIT_STATEMENTS))
            .await
            .map(drop),
    }
}

/// Lets the server end statements of this connection that nobody waits for any more. Otherwise each would go on beside those of the
/// connections that replace it.
pub(crate) async fn notice_closed_clients(connection: &mut PgConnection) {
    if let Err(error) = with_statement_timeout(connection.execute(NOTICE_CLOSED_CLIENTS)).await {
        tracing::debug!(%error, "the server does not notice closed connections while it runs a statement");
    }
}

async fn answers(connection: &mut PgConnection, timeout: Duration) -> Result<bool, Error> {
    with_timeout(timeout, connection.ping()).await.map(|()| true)
}
