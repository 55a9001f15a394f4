//! Reads rows: tuples by position, structs by the names of their columns.

use rusqlite::types::FromSql;
use rusqlite::{Row, Statement};

/// A type that is read from a row.
pub(crate) trait ReadRow: Sized {
    /// The columns in the order in which they are read. None: those of the statement.
    fn columns() -> Vec<&'static str>;

    fn read(row: &mut RowReader<'_>) -> rusqlite::Result<Self>;
}

/// The columns of a row that are still to be read.
pub(crate) struct RowReader<'a> {
    row: &'a Row<'a>,
    places: std::slice::Iter<'a, usize>,
}

impl RowReader<'_> {
    /// Reads the next column.
    pub(crate) fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let place = self.places.next().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        self.row.get(*place)
    }
}

/// The places of the columns of a type in the rows of a statement.
pub(super) fn places<T: ReadRow>(statement: &Statement<'_>) -> rusqlite::Result<Vec<usize>> {
    let columns = T::columns();
    if columns.is_empty() {
        return Ok((0..statement.column_count()).collect());
    }
    // Nearly every statement selects the columns in the order of the struct.
    let is_at = |place: usize, column: &str| statement.column_name(place).is_ok_and(|name| name == column);
    columns
        .into_iter()
        .enumerate()
        .map(|(place, column)| match is_at(place, column) {
            true => Ok(place),
            false => statement.column_index(column),
        })
        .collect()
}

/// Reads a row whose columns are at `places`.
pub(super) fn read<T: ReadRow>(row: &Row<'_>, places: &[usize]) -> rusqlite::Result<T> {
    T::read(&mut RowReader {
        row,
        places: places.iter(),
    })
}

macro_rules! read_tuples {
    ($(($($column:ident)+))+) => {$(
        impl<$($column: FromSql),+> ReadRow for ($($column,)+) {
            fn columns() -> Vec<&'static str> {
                Vec::new()
            }

            fn read(row: &mut RowReader<'_>) -> rusqlite::Result<Self> {
                Ok(($(row.next::<$column>()?,)+))
            }
        }
    )+};
}

read_tuples! {
    (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) (A B C D E F G H I)
}

/// Defines a struct that is read from rows of both databases. `..field: Type` is a struct of further columns.
macro_rules! row {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $row:ident {
            $($(#[$column_meta:meta])* $column_visibility:vis $column:ident: $type:ty,)*
            $(..$(#[$part_meta:meta])* $part_visibility:vis $part:ident: $part_type:ty,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(sqlx_macros::FromRow)]
        $visibility struct $row {
            $($(#[$column_meta])* $column_visibility $column: $type,)*
            $($(#[$part_meta])* #[sqlx(flatten)] $part_visibility $part: $part_type,)?
        }

        impl $crate::sqlite::ReadRow for $row {
            fn columns() -> Vec<&'static str> {
                #[allow(unused_mut, reason = "only a row with a part adds to it")]
                let mut columns = vec![$(stringify!($column)),*];
                $(columns.extend(<$part_type as $crate::sqlite::ReadRow>::columns());)?
                columns
            }

            fn read(row: &mut $crate::sqlite::RowReader<'_>) -> rusqlite::Result<Self> {
                Ok(Self {
                    $($column: row.next()?,)*
                    $($part: <$part_type as $crate::sqlite::ReadRow>::read(row)?,)?
                })
            }
        }
    };
}
pub(crate) use row;
