//! Statements with their parameters.

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, Statement, ToSql};
use sqlx::{SqlSafeStr, SqlStr};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::error::sqlx_error;
use super::row::{ReadRow, places, read};
use super::{SqliteConnection, SqlitePool};

/// A statement and its parameters `$1`, `$2` … or `?`.
pub(crate) struct Query {
    sql: SqlStr,
    parameters: Vec<Value>,
    is_cached: bool,
    failure: Option<rusqlite::Error>,
}

/// Begins a statement.
pub(crate) fn query(sql: impl SqlSafeStr) -> Query {
    Query {
        sql: sql.into_sql_str(),
        parameters: Vec::new(),
        is_cached: true,
        failure: None,
    }
}

/// Where a statement runs.
pub(crate) trait Executor {
    /// Runs `work` on a connection.
    fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, sqlx::Error>> + Send;
}

impl Executor for &mut SqliteConnection {
    async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, sqlx::Error> {
        work(self.raw()).map_err(sqlx_error)
    }
}

impl Executor for &SqlitePool {
    async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, sqlx::Error> {
        self.read(work).await
    }
}

impl Query {
    /// Adds the next parameter.
    pub(crate) fn bind(mut self, value: impl ToSql) -> Self {
        let value = value.to_sql().and_then(|value| match value {
            ToSqlOutput::Borrowed(value) => Ok(Value::try_from(value)?),
            ToSqlOutput::Owned(value) => Ok(value),
            // Only optional features of the library make other values.
            _ => Ok(Value::Null),
        });
        match value {
            Ok(value) => self.parameters.push(value),
            Err(error) => self.failure = Some(error),
        }
        self
    }

    /// Whether the prepared statement is kept for the next query with the same text.
    pub(crate) fn persistent(mut self, is_cached: bool) -> Self {
        self.is_cached = is_cached;
        self
    }

    /// Returns all rows.
    pub(crate) async fn fetch_all<T: ReadRow + Send + 'static>(self, at: impl Executor) -> Result<Vec<T>, sqlx::Error> {
        at.run(move |connection| {
            let mut all = Vec::new();
            self.for_each(connection, |row| {
                all.push(row);
                true
            })?;
            Ok(all)
        })
        .await
    }

    /// Returns the first row, if there is one.
    pub(crate) async fn fetch_optional<T: ReadRow + Send + 'static>(
        self,
        at: impl Executor,
    ) -> Result<Option<T>, sqlx::Error> {
        at.run(move |connection| {
            let mut first = None;
            self.for_each(connection, |row| {
                first = Some(row);
                false
            })?;
            Ok(first)
        })
        .await
    }

    /// Returns the first row.
    ///
    /// # Errors
    /// [`sqlx::Error::RowNotFound`]
    pub(crate) async fn fetch_one<T: ReadRow + Send + 'static>(self, at: impl Executor) -> Result<T, sqlx::Error> {
        self.fetch_optional(at).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Runs a statement without rows, or ignores them. Returns the number of rows written.
    pub(crate) async fn execute(self, at: impl Executor) -> Result<u64, sqlx::Error> {
        at.run(move |connection| {
            let before = connection.total_changes();
            self.with_statement(connection, |statement| {
                let mut rows = statement.raw_query();
                while rows.next()?.is_some() {}
                Ok(())
            })?;
            // The number of changes of a connection is that of its last statement that wrote.
            Ok(if connection.total_changes() == before {
                0
            } else {
                connection.changes()
            })
        })
        .await
    }

    /// Reads rows until `take` returns `false`.
    fn for_each<T: ReadRow>(self, connection: &Connection, mut take: impl FnMut(T) -> bool) -> rusqlite::Result<()> {
        self.with_statement(connection, |statement| {
            let places = places::<T>(statement)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                if !take(read(row, &places)?) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn with_statement(
        self,
        connection: &Connection,
        run: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        let sql = self.sql.as_str();
        tracing::trace!(target: "store::sqlite", sql);
        if self.is_cached {
            let mut statement = connection.prepare_cached(sql)?;
            bind(&mut statement, &self.parameters)?;
            run(&mut statement)
        } else {
            let mut statement = connection.prepare(sql)?;
            bind(&mut statement, &self.parameters)?;
            run(&mut statement)
        }
    }
}

/// Binds parameters. SQLite numbers those like `$2` by their first use, so their names decide.
fn bind(statement: &mut Statement<'_>, parameters: &[Value]) -> rusqlite::Result<()> {
    let count = statement.parameter_count();
    for place in 1..=count {
        let number = match statement.parameter_name(place) {
            None => place,
            Some(name) => name
                .get(1..)
                .and_then(|number| number.parse().ok())
                .ok_or_else(|| rusqlite::Error::InvalidParameterName(name.to_owned()))?,
        };
        let value = number.checked_sub(1).and_then(|index: usize| parameters.get(index));
        let value = value.ok_or(rusqlite::Error::InvalidParameterCount(parameters.len(), count))?;
        statement.raw_bind_parameter(place, value)?;
    }
    Ok(())
}

/// Chunks that a read may be ahead of their use.
const CHUNKS_AHEAD: usize = 2;

/// Passes a chunk on, and blocks the thread if too many wait.
fn send<T>(sender: &mpsc::Sender<T>, chunk: T) -> Result<(), ()> {
    match sender.try_send(chunk) {
        Ok(()) => Ok(()),
        Err(TrySendError::Full(chunk)) => sender.blocking_send(chunk).map_err(drop),
        Err(TrySendError::Closed(_)) => Err(()),
    }
}

/// Reads rows, converts them on the thread that reads them, and passes them on in chunks. So their use takes place beside the reading.
///
/// The connection is closed at the end: the pages that it has read would stay in its cache and in the mapped part of the file, and the
/// next such read is far away.
pub(crate) async fn in_chunks<Row, Value>(
    pool: &SqlitePool,
    query: Query,
    chunk_rows: usize,
    take: &mut (dyn FnMut(Vec<Value>) + Send),
) -> Result<(), crate::StoreError>
where
    Row: ReadRow,
    Value: TryFrom<Row, Error = crate::StoreError> + Send + 'static,
{
    let (sender, mut chunks) = mpsc::channel::<Vec<Value>>(CHUNKS_AHEAD);
    let reading = pool.read_once(move |connection| {
        let mut chunk = Vec::with_capacity(chunk_rows);
        let mut failure = None;
        query.for_each(connection, |row: Row| {
            match Value::try_from(row) {
                Ok(value) => chunk.push(value),
                Err(error) => {
                    failure = Some(error);
                    return false;
                }
            }
            if chunk.len() < chunk_rows {
                return true;
            }
            let full = std::mem::replace(&mut chunk, Vec::with_capacity(chunk_rows));
            // There is no receiver if the caller was cancelled.
            send(&sender, full).is_ok()
        })?;
        let _ = send(&sender, chunk);
        Ok(failure)
    });
    let using = async move {
        while let Some(chunk) = chunks.recv().await {
            take(chunk);
        }
    };
    let (read, ()) = tokio::join!(reading, using);
    read?.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::SqliteOptions;
    use super::*;
    use crate::threads::BlockingThreads;

    fn new_file() -> (tempfile::TempDir, SqliteOptions) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.db");
        std::fs::File::create(&file).unwrap();
        let options = SqliteOptions::parse(&file.display().to_string()).unwrap();
        (folder, options)
    }

    async fn run(connection: &mut SqliteConnection, sql: &'static str) -> u64 {
        query(sql).execute(connection).await.unwrap()
    }

    #[tokio::test]
    async fn number_of_a_parameter_is_that_of_its_name() {
        let (_folder, options) = new_file();
        let mut connection = options.open().unwrap();
        let named = query("SELECT $2, $1, $2").bind("one").bind(2_i64);
        let row: (i64, String, i64) = named.fetch_one(&mut connection).await.unwrap();
        assert_eq!(row, (2, "one".to_owned(), 2));
        let in_turn = query("SELECT ?, ?").bind(1_i64).bind(None::<&str>);
        let row: (i64, Option<String>) = in_turn.fetch_one(&mut connection).await.unwrap();
        assert_eq!(row, (1, None));
        let missing = query("SELECT $1, $2")
            .bind(1_i64)
            .fetch_one::<(i64, i64)>(&mut connection);
        assert!(missing.await.is_err());
    }

    #[tokio::test]
    async fn written_rows_are_those_of_the_statement() {
        let (_folder, options) = new_file();
        let mut connection = options.open().unwrap();
        assert_eq!(run(&mut connection, "CREATE TABLE t (a INTEGER)").await, 0);
        assert_eq!(run(&mut connection, "INSERT INTO t VALUES (1), (2), (3)").await, 3);
        assert_eq!(run(&mut connection, "SELECT a FROM t").await, 0);
        assert_eq!(run(&mut connection, "UPDATE t SET a = a WHERE a > 1").await, 2);
        assert_eq!(run(&mut connection, "UPDATE t SET a = a WHERE a > 3").await, 0);
        assert_eq!(run(&mut connection, "PRAGMA user_version").await, 0);
    }

    #[tokio::test]
    async fn violated_key_has_its_kind_and_code() {
        let (_folder, options) = new_file();
        let mut connection = options.open().unwrap();
        run(&mut connection, "CREATE TABLE t (a INTEGER PRIMARY KEY)").await;
        run(&mut connection, "INSERT INTO t VALUES (1)").await;
        let violated = query("INSERT INTO t VALUES ($1)")
            .bind(1_i64)
            .execute(&mut connection)
            .await;
        let violated = violated.unwrap_err();
        let violated = violated.as_database_error().unwrap();
        assert!(violated.is_unique_violation());
        assert_eq!(violated.code().as_deref(), Some("1555"));
    }

    #[tokio::test]
    async fn cancelled_reads_leave_their_connections_to_others() {
        let (_folder, options) = new_file();
        run(&mut options.open().unwrap(), "CREATE TABLE t (a INTEGER)").await;
        let pool = SqlitePool::new(options.reading_only(), 1, Arc::new(BlockingThreads));
        for _ in 0..20 {
            let count = query("SELECT COUNT(*) FROM t").fetch_one::<(i64,)>(&pool);
            let _ = futures_util::FutureExt::now_or_never(count);
        }
        let (count,): (i64,) = query("SELECT COUNT(*) FROM t").fetch_one(&pool).await.unwrap();
        assert_eq!(count, 0);
    }

    #[tokio::test]
    async fn closed_pool_refuses_reads() {
        let (_folder, options) = new_file();
        let pool = SqlitePool::new(options, 2, Arc::new(BlockingThreads));
        let (one,): (i64,) = query("SELECT 1").fetch_one(&pool).await.unwrap();
        assert_eq!(one, 1);
        pool.close().await;
        let refused = query("SELECT 1").fetch_one::<(i64,)>(&pool).await.unwrap_err();
        assert!(matches!(refused, sqlx::Error::PoolClosed), "{refused}");
    }
}
