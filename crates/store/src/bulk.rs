//! Statements over many rows.
//!
//! The text of a statement depends on the number of its rows, and the database prepares each new text. So lists are
//! split into chunks of a few fixed lengths ([`CHUNK_LENGTHS`]), and the prepared statements are reused.

use std::fmt::Write;
use std::ops::Range;

/// The chunk lengths that statements are generated for, longest first.
///
/// SQLite takes at most 32766 parameters, PostgreSQL 65535.
const CHUNK_LENGTHS: [usize; 4] = [512, 64, 8, 1];

/// A statement around a list of rows. The columns of the rows are its only parameters.
#[derive(Clone, Copy)]
pub(crate) struct Statement {
    pub(crate) before: &'static str,
    /// Number of columns per row.
    pub(crate) columns: usize,
    pub(crate) after: &'static str,
}

impl Statement {
    /// The statement's text for a number of rows.
    pub(crate) fn text(&self, is_pg: bool, rows: usize) -> String {
        let mut text = String::with_capacity(self.before.len() + self.after.len() + rows * self.columns * 7);
        text.push_str(self.before);
        let mut parameter = 0;
        for row in 0..rows {
            text.push_str(if row == 0 { "(" } else { ",(" });
            for column in 0..self.columns {
                if column > 0 {
                    text.push(',');
                }
                parameter += 1;
                // SQLite searches numbered parameters linearly, once for each parameter.
                if is_pg {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "${parameter}");
                } else {
                    text.push('?');
                }
            }
            text.push(')');
        }
        text.push_str(self.after);
        text
    }
}

/// Splits a list of length `len` into chunks of [`CHUNK_LENGTHS`].
pub(crate) fn chunk_ranges(len: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let fits = CHUNK_LENGTHS.into_iter().find(|length| *length <= len - start)?;
        let chunk = start..start + fits;
        start += fits;
        Some(chunk)
    })
}

/// Binds the columns of a list of rows.
macro_rules! bind_items {
    ($begun:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {{
        let mut query = $begun;
        for $item in $items {
            let $query = query;
            query = $bound;
        }
        query
    }};
}

/// Runs a [`Statement`] over a whole list and collects the rows that it returns.
macro_rules! query_many {
    ($row:ty, $db:expr, $statement:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {
        $crate::bulk::query_many!($row, $db, $statement, $items, |$query, $item| $bound, found => found?)
    };
    (
        $row:ty, $db:expr, $statement:expr, $items:expr, |$query:ident, $item:ident| $bound:expr,
        $found:ident => $checked:expr
    ) => {{
        let (statement, items) = ($statement, $items);
        let mut rows: Vec<$row> = Vec::new();
        for chunk in $crate::bulk::chunk_ranges(items.len()) {
            let text = statement.text($db.is_pg(), chunk.len());
            let text = sqlx::AssertSqlSafe(text);
            let $found = match $db {
                $crate::database::Either::Lite(db) => {
                    let query = $crate::sqlite::query(text);
                    $crate::bulk::bind_items!(query, &items[chunk], |$query, $item| $bound).fetch_all::<$row>(db).await
                }
                $crate::database::Either::Pg(db) => {
                    let query = sqlx::query_as::<_, $row>(text);
                    let query = $crate::bulk::bind_items!(query, &items[chunk], |$query, $item| $bound);
                    $crate::timeouts::with_statement_timeout(query.fetch_all(db)).await
                }
            };
            rows.extend($checked);
        }
        rows
    }};
}

/// Like [`query_many!`], within a unit of work.
macro_rules! fetch_many {
    ($unit:expr, $row:ty, $statement:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {
        $crate::bulk::query_many!(
            $row, &mut $unit.connection, $statement, $items, |$query, $item| $bound, found => $unit.track(found)?
        )
    };
}

/// Like [`fetch_many!`], for a statement that writes.
macro_rules! write_many_returning {
    ($unit:expr, $row:ty, $statement:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {
        $crate::bulk::query_many!(
            $row, &mut $unit.connection, $statement, $items, |$query, $item| $bound,
            found => $unit.track_write(found)?
        )
    };
}

/// Runs a [`Statement`] that writes over a whole list within a unit of work. Returns the number of rows written. SQLite runs it for
/// each item.
macro_rules! write_many {
    ($unit:expr, $statement:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {{
        let (statement, items) = ($statement, $items);
        let written = match &mut $unit.connection {
            $crate::database::Either::Lite(db) => db
                .execute_each(&statement.text(false, 1), &items[..], |$query, $item| $bound)
                .map(|rows| rows.into_iter().sum()),
            $crate::database::Either::Pg(db) => {
                let write_chunks = async {
                    let mut written: u64 = 0;
                    for chunk in $crate::bulk::chunk_ranges(items.len()) {
                        let text = sqlx::AssertSqlSafe(statement.text(true, chunk.len()));
                        let query = $crate::bulk::bind_items!(sqlx::query(text), &items[chunk], |$query, $item| $bound);
                        let done = $crate::timeouts::with_statement_timeout(query.execute(&mut *db)).await?;
                        written += done.rows_affected();
                    }
                    Ok(written)
                };
                write_chunks.await
            }
        };
        $unit.track_rows(written)?
    }};
}

pub(crate) use {bind_items, fetch_many, query_many, write_many, write_many_returning};

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: Statement = Statement {
        before: "INSERT INTO t VALUES ",
        columns: 2,
        after: ";",
    };

    #[test]
    fn chunks_have_known_lengths_and_no_gap() {
        for len in [0, 1, 7, 8, 63, 64, 65, 511, 512, 2_000, 5_003] {
            let mut next = 0;
            for chunk in chunk_ranges(len) {
                assert_eq!(chunk.start, next);
                assert!(CHUNK_LENGTHS.contains(&chunk.len()));
                next = chunk.end;
            }
            assert_eq!(next, len);
        }
    }

    #[test]
    fn parameters_are_numbered_for_postgresql_only() {
        assert_eq!(STATEMENT.text(true, 2), "INSERT INTO t VALUES ($1,$2),($3,$4);");
        assert_eq!(STATEMENT.text(false, 2), "INSERT INTO t VALUES (?,?),(?,?);");
    }
}
