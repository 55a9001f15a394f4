//! One text for two databases.
//!
//! A pool or a connection is [`Either`] of SQLite or of PostgreSQL. The macros here write a query once and compile it for
//! both: `$1` placeholders, BIGINT for every number, and row types that derive [`sqlx::FromRow`] read from either.

use sqlx::{PgConnection, PgPool, SqliteConnection, SqlitePool};

/// The same thing of one of the two databases.
#[derive(Clone, Debug)]
pub(crate) enum Either<L, P> {
    /// Of SQLite.
    Lite(L),
    /// Of PostgreSQL.
    Pg(P),
}

/// Connections for reading.
pub(crate) type Pools = Either<SqlitePool, PgPool>;

/// The connection that writes.
pub(crate) type Link = Either<SqliteConnection, PgConnection>;

impl<L, P> Either<L, P> {
    /// Whether it is PostgreSQL's.
    pub(crate) const fn is_pg(&self) -> bool {
        matches!(self, Self::Pg(_))
    }
}

/// Evaluates an expression for the database that it is.
macro_rules! on {
    ($either:expr, $db:ident => $body:expr) => {
        match $either {
            $crate::database::Either::Lite($db) => $body,
            $crate::database::Either::Pg($db) => $body,
        }
    };
}

/// Runs a query whose rows are read as `$row`, by `fetch_one`, `fetch_optional` or `fetch_all`.
macro_rules! query {
    ($fetch:ident $row:ty, $db:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::database::on!($db, db => sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.$fetch(db).await)
    };
}

/// Runs a statement and says how many rows it has written.
macro_rules! execute {
    ($db:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::database::on!($db, db => {
            sqlx::query($sql)$(.bind($bind))*.execute(db).await.map(|done| done.rows_affected())
        })
    };
}

/// Reads rows as they come, in pieces, and hands each piece on.
macro_rules! stream {
    ($row:ty, $pools:expr, $take:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::database::on!($pools, db => {
            $crate::database::in_pieces(sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch(db), $take).await
        })
    };
}

pub(crate) use {execute, on, query, stream};

/// How many rows are handed on at once.
const PIECE: usize = 4096;

/// Turns rows into values and hands them on in pieces.
pub(crate) async fn in_pieces<Row, Value>(
    mut rows: impl futures_util::Stream<Item = Result<Row, sqlx::Error>> + Unpin,
    take: &mut (dyn FnMut(Vec<Value>) + Send),
) -> Result<(), crate::StoreError>
where
    Value: TryFrom<Row, Error = crate::StoreError>,
{
    use futures_util::TryStreamExt;
    let mut piece = Vec::new();
    while let Some(row) = rows.try_next().await? {
        piece.push(Value::try_from(row)?);
        if piece.len() == PIECE {
            take(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        take(piece);
    }
    Ok(())
}
