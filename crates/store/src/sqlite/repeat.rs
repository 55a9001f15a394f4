//! One statement for many rows: it is prepared once, and runs for each row.
//!
//! A statement over many rows would take longer: SQLite passes its rows through a temporary table or a subroutine, and its text and
//! its thousands of parameters are made anew for each number of rows.

use rusqlite::{Statement, ToSql};

use super::SqliteConnection;
use super::error::sqlx_error;

/// The parameters `?` of one row, bound in their order.
pub(crate) struct RowParameters<'s, 'c> {
    statement: &'s mut Statement<'c>,
    bound: usize,
    failure: Option<rusqlite::Error>,
}

impl RowParameters<'_, '_> {
    /// Binds the next parameter.
    pub(crate) fn bind(mut self, value: impl ToSql) -> Self {
        self.bound += 1;
        if let Err(error) = self.statement.raw_bind_parameter(self.bound, value) {
            self.failure.get_or_insert(error);
        }
        self
    }

    fn finish(self) -> rusqlite::Result<()> {
        let expected = self.statement.parameter_count();
        match self.failure {
            Some(error) => Err(error),
            None if self.bound == expected => Ok(()),
            None => Err(rusqlite::Error::InvalidParameterCount(self.bound, expected)),
        }
    }
}

impl SqliteConnection {
    /// Runs a statement that writes for each item, with the parameters that `bind` binds; it returns no rows. Returns the number of rows written for
    /// each.
    pub(crate) fn execute_each<T>(
        &mut self,
        sql: &str,
        items: &[T],
        mut bind: impl for<'s, 'c> FnMut(RowParameters<'s, 'c>, &T) -> RowParameters<'s, 'c>,
    ) -> Result<Vec<u64>, sqlx::Error> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        tracing::trace!(target: "store::sqlite", sql);
        let mut run = || {
            let mut statement = self.raw().prepare_cached(sql)?;
            let mut written = Vec::with_capacity(items.len());
            for item in items {
                let parameters = RowParameters {
                    statement: &mut statement,
                    bound: 0,
                    failure: None,
                };
                bind(parameters, item).finish()?;
                written.push(u64::try_from(statement.raw_execute()?).unwrap_or(u64::MAX));
            }
            Ok(written)
        };
        run().map_err(sqlx_error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SqliteOptions, query};

    async fn connection() -> (tempfile::TempDir, super::SqliteConnection) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.db");
        std::fs::File::create(&file).unwrap();
        let options = SqliteOptions::parse(&file.display().to_string()).unwrap();
        let mut connection = options.open().unwrap();
        let create = query("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT) STRICT");
        create.execute(&mut connection).await.unwrap();
        (folder, connection)
    }

    #[tokio::test]
    async fn statement_runs_for_each_item_and_counts_its_rows() {
        let (_folder, mut connection) = connection().await;
        let insert = connection.execute_each("INSERT INTO t VALUES (?, ?)", &[(1, "a"), (2, "b")], |row, item| {
            row.bind(item.0).bind(item.1)
        });
        assert_eq!(insert.unwrap(), [1, 1]);
        let update = connection.execute_each("UPDATE t SET b = 'c' WHERE a >= ?", &[1, 3, 2], |row, item| {
            row.bind(item)
        });
        assert_eq!(update.unwrap(), [2, 0, 1]);
    }

    #[tokio::test]
    async fn missing_and_invalid_parameters_are_errors() {
        let (_folder, mut connection) = connection().await;
        let insert = "INSERT INTO t VALUES (?, ?)";
        assert!(
            connection
                .execute_each(insert, &[1], |row, item| row.bind(item))
                .is_err()
        );
        let text = connection.execute_each(insert, &["a"], |row, item| row.bind(item).bind(item));
        assert!(text.unwrap_err().to_string().contains("datatype mismatch"));
    }
}
