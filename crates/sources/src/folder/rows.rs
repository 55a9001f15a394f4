//! Converts the lines of a file to rows of its table.

use std::io::{self, BufRead};
use std::path::Path;

use csv::ByteRecord;

use super::error::FolderError;
use super::header::Header;
use super::lines::{Line, Lines};
use super::rejected::{RejectedRow, RejectionLog, RowError};
use super::split::split;
use super::table::Table;
use super::values::Row;

/// The columns of a table in one file, and the conversion of its rows.
pub(super) trait Columns: Sized {
    /// The type of a converted row.
    type Row;

    /// Finds the columns in the header row, which records the missing ones.
    fn find(header: &mut Header) -> Self;

    /// Reads one row.
    ///
    /// # Errors
    /// [`RowError`] if the row is invalid.
    fn read(&self, row: &Row) -> Result<Self::Row, RowError>;
}

/// The rows of one file.
pub(super) struct Rows<'a, R> {
    table: Table,
    file: &'a Path,
    lines: Lines<R>,
    header: Header,
}

impl<'a, R: BufRead> Rows<'a, R> {
    /// Reads the header row of `input`, which is the content of `file`.
    ///
    /// # Errors
    /// [`FolderError`] if there is no header row, or if reading fails.
    pub(super) fn new(table: Table, file: &'a Path, input: R) -> Result<Self, FolderError> {
        let mut lines = Lines::new(input);
        match lines.advance().map_err(|cause| unreadable(file, cause))? {
            Line::Text => Ok(Self {
                table,
                file,
                header: Header::new(lines.text()),
                lines,
            }),
            Line::TooLong | Line::End => Err(FolderError::NoHeader {
                file: file.to_owned(),
                expected: table.header(),
            }),
        }
    }

    /// Continues after the line `number` with `input`, the rest of a `file` that began with `header`.
    pub(super) fn resume(table: Table, file: &'a Path, header: &[u8], number: u64, input: R) -> Self {
        Self {
            table,
            file,
            header: Header::new(header),
            lines: Lines::after(input, number),
        }
    }

    /// Returns the header row.
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Reads all rows and passes them to `take`. Rows that cannot be read or that `take` rejects are added to `rejections`.
    ///
    /// # Errors
    /// [`FolderError`] if a column of `C` is missing, or if reading fails.
    pub(super) fn for_each<C: Columns>(
        mut self,
        rejections: &mut RejectionLog<'_>,
        mut take: impl FnMut(C::Row) -> Result<(), RowError>,
    ) -> Result<(), FolderError> {
        let columns = C::find(&mut self.header);
        self.header.check(self.table, self.file)?;
        let mut row = Row::default();
        loop {
            let outcome = match self.lines.advance() {
                Ok(Line::Text) => self
                    .split_line(&mut row.record)
                    .and_then(|()| columns.read(&row))
                    .and_then(&mut take),
                Ok(Line::TooLong) => Err(RowError::TooLong),
                Ok(Line::End) => return Ok(()),
                Err(cause) => return Err(unreadable(self.file, cause)),
            };
            if let Err(reason) = outcome {
                rejections.add(|| RejectedRow {
                    file: self.file.to_owned(),
                    line: self.lines.number(),
                    reason,
                });
            }
        }
    }

    fn split_line(&self, record: &mut ByteRecord) -> Result<(), RowError> {
        split(self.lines.text(), record)?;
        let (found, expected) = (record.len(), self.header.len());
        if found == expected {
            Ok(())
        } else {
            Err(RowError::FieldCount { found, expected })
        }
    }
}

fn unreadable(file: &Path, cause: io::Error) -> FolderError {
    FolderError::Unreadable {
        path: file.to_owned(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::Column;
    use super::super::rejected::Rejections;
    use super::super::text;
    use super::*;

    /// A table with one required and one optional column, read as text.
    struct Pair(Column, Option<Column>);

    impl Columns for Pair {
        type Row = (String, Option<String>);

        fn find(header: &mut Header) -> Self {
            Self(header.required("key"), header.optional("note"))
        }

        fn read(&self, row: &Row) -> Result<Self::Row, RowError> {
            let note = row.optional(self.1, text::string)?;
            Ok((row.required(self.0, text::string)?, note))
        }
    }

    type Read = Result<(Vec<(String, Option<String>)>, Rejections), FolderError>;

    fn read(input: &[u8]) -> Read {
        let (mut taken, mut rejections) = (Vec::new(), RejectionLog::default());
        Rows::new(Table::Stocks, Path::new("x.csv"), input)?.for_each::<Pair>(&mut rejections, |row| {
            taken.push(row);
            Ok(())
        })?;
        Ok((taken, rejections.into_rejections()))
    }

    /// Checks the rows as `key=note`, and the rejected lines.
    fn check(input: &[u8], rows: &[&str], rejected: &[(u64, RowError)]) {
        let (taken, rejections) = read(input).unwrap();
        let taken: Vec<_> = taken
            .into_iter()
            .map(|(key, note)| format!("{key}={}", note.unwrap_or_default()))
            .collect();
        assert_eq!(taken, rows);
        let lines: Vec<_> = rejections.first.into_iter().map(|row| (row.line, row.reason)).collect();
        assert_eq!(lines, rejected);
    }

    #[test]
    fn columns_may_have_any_order_and_case() {
        check(b"key,note\nA,x\n", &["A=x"], &[]);
        check(b"more, NOTE ,\"Key\"\n1,x,A\n", &["A=x"], &[]);
        check(b"\xef\xbb\xbfkey\nA\n", &["A="], &[]);
        check(b"key,latin\nA,\xe9\n", &["A="], &[]);
    }

    #[test]
    fn header_without_rows_is_an_empty_table() {
        check(b"key,note\n", &[], &[]);
        check(b"key,note", &[], &[]);
    }

    #[test]
    fn missing_header_or_column_is_an_error_with_the_file_name() {
        let message = |input: &[u8]| read(input).unwrap_err().to_string();
        let expected =
            "x.csv has no header row of at most 65536 bytes; begin it with a line such as symbol,name,sector";
        assert_eq!(message(b""), expected);
        assert_eq!(message(b"\n\n"), expected);
        assert_eq!(message(&[b'k'; 70_000]), expected);
        assert_eq!(
            message(b"kee,note\n"),
            "x.csv has no column key; its header row is \"kee,note\", but should be such as symbol,name,sector"
        );
        assert_eq!(
            message(b"key,a,Key\n"),
            "x.csv has more than one column key; rename or remove all but one"
        );
    }

    #[test]
    fn row_with_wrong_field_count_is_rejected() {
        let count = |found| RowError::FieldCount { found, expected: 2 };
        check(
            b"key,note\nA,x\nB\nC,x,y\nD,\n",
            &["A=x", "D="],
            &[(3, count(1)), (4, count(3))],
        );
    }

    #[test]
    fn quoted_fields_may_contain_commas_and_quotes_but_no_line_break() {
        check(
            b"key,note\nA,\"x, \"\"y\"\"\"\r\nB,5\" by 5\"\n",
            &["A=x, \"y\"", "B=5\" by 5\""],
            &[],
        );
        let one_field = RowError::FieldCount { found: 1, expected: 2 };
        check(
            b"key,note\nA,\"x\ny\"\nB,x\n",
            &["B=x"],
            &[(2, RowError::UnclosedQuote), (3, one_field)],
        );
    }

    #[test]
    fn row_that_is_too_long_is_rejected() {
        let long = format!("key,note\nA,{}\nB,x\n", "x".repeat(70_000));
        check(long.as_bytes(), &["B=x"], &[(2, RowError::TooLong)]);
    }

    #[test]
    fn line_numbers_count_blank_lines_and_both_line_breaks() {
        let count = RowError::FieldCount { found: 1, expected: 2 };
        check(b"\r\nkey,note\r\n\r\n\"A\",x\r\nB\n", &["A=x"], &[(5, count)]);
    }
}
