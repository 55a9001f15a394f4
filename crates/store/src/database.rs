//! One query text for two databases.
//!
//! A pool or a connection is [`Either`] SQLite or PostgreSQL. The macros here take a query once and compile it for
//! both: `$1` placeholders, BIGINT for every number, and row types that [`row!`](crate::sqlite::row) defines.

use sqlx::{PgConnection, PgPool};

use crate::sqlite::{SqliteConnection, SqlitePool, SqliteReads};
use crate::timeouts::with_row_timeout;

/// A value for one of the two databases.
#[derive(Clone, Debug)]
pub(crate) enum Either<L, P> {
    /// SQLite.
    Lite(L),
    /// PostgreSQL.
    Pg(P),
}

/// Connections for reading.
pub(crate) type Pools = Either<SqlitePool, PgPool>;

/// Connections for reading, with where SQLite's reads run.
pub(crate) type Reads<'a> = Either<SqliteReads<'a>, &'a PgPool>;

/// The connection that writes.
pub(crate) type WriteConnection = Either<SqliteConnection, PgConnection>;

impl<L, P> Either<L, P> {
    /// Whether this is PostgreSQL.
    pub(crate) const fn is_pg(&self) -> bool {
        matches!(self, Self::Pg(_))
    }
}

// Rows of one column. Named, because rustfmt removes the comma of a tuple of one generic type within `query!`.
pub(crate) type BytesRow = (Vec<u8>,);
pub(crate) type OptionalNumberRow = (Option<i64>,);
pub(crate) type OptionalTextRow = (Option<String>,);
pub(crate) type OptionalUuidRow = (Option<uuid::Uuid>,);

/// Runs a query whose rows are read as `$row`, by `fetch_one`, `fetch_optional` or `fetch_all`.
macro_rules! query {
    ($fetch:ident $row:ty, $db:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match $db {
            $crate::database::Either::Lite(db) => {
                $crate::sqlite::query($sql)$(.bind($bind))*.$fetch::<$row>(db).await
            }
            $crate::database::Either::Pg(db) => {
                $crate::timeouts::with_statement_timeout(sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.$fetch(db)).await
            }
        }
    };
}

/// Runs a statement and returns the number of rows written.
macro_rules! execute {
    ($db:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match $db {
            $crate::database::Either::Lite(db) => $crate::sqlite::query($sql)$(.bind($bind))*.execute(db).await,
            $crate::database::Either::Pg(db) => {
                let done = $crate::timeouts::with_statement_timeout(sqlx::query($sql)$(.bind($bind))*.execute(db)).await;
                done.map(|done| done.rows_affected())
            }
        }
    };
}

/// Reads rows as they arrive and passes them on in chunks.
macro_rules! stream {
    ($row:ty, $pools:expr, $take:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match $pools {
            $crate::database::Either::Lite(pool) => {
                let query = $crate::sqlite::query($sql)$(.bind($bind))*;
                $crate::sqlite::in_chunks::<$row, _>(pool, query, $crate::database::STREAM_CHUNK_ROWS, $take).await
            }
            $crate::database::Either::Pg(pool) => {
                $crate::database::in_chunks(sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch(pool), $take).await
            }
        }
    };
}

pub(crate) use {execute, query, stream};

/// Rows per chunk of a streamed query.
pub(crate) const STREAM_CHUNK_ROWS: usize = 4096;

/// Converts rows to values and passes them on in chunks.
pub(crate) async fn in_chunks<Row, Value>(
    mut rows: impl futures_util::Stream<Item = Result<Row, sqlx::Error>> + Unpin,
    take: &mut (dyn FnMut(Vec<Value>) + Send),
) -> Result<(), crate::StoreError>
where
    Value: TryFrom<Row, Error = crate::StoreError>,
{
    use futures_util::TryStreamExt;
    let mut chunk = Vec::new();
    while let Some(row) = with_row_timeout(rows.try_next()).await? {
        chunk.push(Value::try_from(row)?);
        if chunk.len() == STREAM_CHUNK_ROWS {
            take(std::mem::take(&mut chunk));
        }
    }
    if !chunk.is_empty() {
        take(chunk);
    }
    Ok(())
}
