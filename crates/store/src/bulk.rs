//! Statements about many rows at once.
//!
//! A statement with a list of rows is a text of its own for each length of the list, and the database prepares each text
//! it has not seen. So lists are cut into pieces of a few lengths ([`LENGTHS`]), which are prepared once and used again.

use std::fmt::Write;
use std::ops::Range;

/// The lengths of lists that statements are made for, longest first.
///
/// SQLite takes 32766 parameters at most, PostgreSQL 65535.
const LENGTHS: [usize; 4] = [512, 64, 8, 1];

/// A statement around a list of rows, whose columns are its only parameters.
#[derive(Clone, Copy)]
pub(crate) struct Statement {
    pub(crate) before: &'static str,
    /// How many columns a row has.
    pub(crate) columns: usize,
    pub(crate) after: &'static str,
}

impl Statement {
    /// Its text with that many rows.
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
                // SQLite looks numbered parameters up one after another, for each one of them.
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

/// Cuts a list into pieces of the lengths that statements are made for.
pub(crate) fn pieces(len: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let fits = LENGTHS.into_iter().find(|length| *length <= len - start)?;
        let piece = start..start + fits;
        start += fits;
        Some(piece)
    })
}

/// Runs a [`Statement`] for all of a list and gathers the rows it returns.
macro_rules! query_many {
    ($row:ty, $db:expr, $statement:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {{
        let (statement, items) = ($statement, $items);
        let mut rows: Vec<$row> = Vec::new();
        let mut failure = None;
        for piece in $crate::bulk::pieces(items.len()) {
            let text = statement.text($db.is_pg(), piece.len());
            let found = $crate::database::on!($db, db => {
                let mut query = sqlx::query_as::<_, $row>(sqlx::AssertSqlSafe(text));
                for $item in &items[piece] {
                    let $query = query;
                    query = $bound;
                }
                query.fetch_all(db).await
            });
            match found {
                Ok(found) => rows.extend(found),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        failure.map_or(Ok(rows), Err)
    }};
}

/// Runs a [`Statement`] for all of a list and counts the rows it has written.
macro_rules! execute_many {
    ($db:expr, $statement:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {{
        let (statement, items) = ($statement, $items);
        let mut written: u64 = 0;
        let mut failure = None;
        for piece in $crate::bulk::pieces(items.len()) {
            let text = statement.text($db.is_pg(), piece.len());
            let done = $crate::database::on!($db, db => {
                let mut query = sqlx::query(sqlx::AssertSqlSafe(text));
                for $item in &items[piece] {
                    let $query = query;
                    query = $bound;
                }
                query.execute(db).await.map(|done| done.rows_affected())
            });
            match done {
                Ok(rows) => written += rows,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        failure.map_or(Ok(written), Err)
    }};
}

pub(crate) use {execute_many, query_many};

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: Statement = Statement {
        before: "INSERT INTO t VALUES ",
        columns: 2,
        after: ";",
    };

    #[test]
    fn a_list_of_any_length_is_cut_into_known_lengths_without_a_gap() {
        for len in [0, 1, 7, 8, 63, 64, 65, 511, 512, 2_000, 5_003] {
            let mut next = 0;
            for piece in pieces(len) {
                assert_eq!(piece.start, next);
                assert!(LENGTHS.contains(&piece.len()));
                next = piece.end;
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
