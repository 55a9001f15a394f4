//! A file's lines turned into rows of its table.

use std::io::{self, BufRead};
use std::path::Path;

use csv::ByteRecord;

use super::error::FolderError;
use super::header::Header;
use super::lines::{Line, Lines};
use super::rejected::{Rejected, RejectionLog, RowError};
use super::split::split;
use super::table::Table;
use super::values::Row;

/// Where a table's columns are in one file, and what a row of them means.
pub(super) trait Columns: Sized {
    /// What a row becomes.
    type Row;

    /// Finds the columns by the header row; what is missing is noted there.
    fn find(header: &mut Header) -> Self;

    /// Reads one row.
    ///
    /// # Errors
    /// [`RowError`], with what is wrong with the row.
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
    /// [`FolderError`] without a header row, or when reading fails.
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

    /// Goes on after the line `number` with `input`, the rest of a `file` that began with `header`.
    pub(super) fn resume(table: Table, file: &'a Path, header: &[u8], number: u64, input: R) -> Self {
        Self {
            table,
            file,
            header: Header::new(header),
            lines: Lines::after(input, number),
        }
    }

    /// The header row.
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Reads every row and hands it to `take`; the rows that either refuses go to `rejections`.
    ///
    /// # Errors
    /// [`FolderError`] when the columns `C` are not there, or when reading fails.
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
                rejections.add(|| Rejected {
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
    use super::*;

    /// A table of one needed and one optional column, read as texts.
    struct Pair(Column, Option<Column>);

    impl Columns for Pair {
        type Row = (String, Option<String>);

        fn find(header: &mut Header) -> Self {
            Self(header.required("key"), header.optional("note"))
        }

        fn read(&self, row: &Row) -> Result<Self::Row, RowError> {
            let note = row.optional(self.1, Row::words)?;
            Ok((row.words(self.0)?, note))
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

    /// The rows as `key=note`, and the rejected lines.
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
    fn columns_are_found_in_any_order_and_case_and_others_are_ignored() {
        check(b"key,note\nA,x\n", &["A=x"], &[]);
        check(b"more, NOTE ,\"Key\"\n1,x,A\n", &["A=x"], &[]);
        check(b"\xef\xbb\xbfkey\nA\n", &["A="], &[]);
        check(b"key,latin\nA,\xe9\n", &["A="], &[]);
    }

    #[test]
    fn a_header_without_rows_is_an_empty_table() {
        check(b"key,note\n", &[], &[]);
        check(b"key,note", &[], &[]);
    }

    #[test]
    fn a_file_without_header_or_column_stops_with_its_name() {
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
    fn a_row_with_more_or_fewer_fields_is_rejected_alone() {
        let count = |found| RowError::FieldCount { found, expected: 2 };
        check(
            b"key,note\nA,x\nB\nC,x,y\nD,\n",
            &["A=x", "D="],
            &[(3, count(1)), (4, count(3))],
        );
    }

    #[test]
    fn quotes_may_hold_commas_and_quotes_but_no_line_break() {
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
    fn a_row_that_is_too_long_is_rejected_alone() {
        let long = format!("key,note\nA,{}\nB,x\n", "x".repeat(70_000));
        check(long.as_bytes(), &["B=x"], &[(2, RowError::TooLong)]);
    }

    #[test]
    fn line_numbers_count_blank_lines_and_both_line_breaks() {
        let count = RowError::FieldCount { found: 1, expected: 2 };
        check(b"\r\nkey,note\r\n\r\n\"A\",x\r\nB\n", &["A=x"], &[(5, count)]);
    }
}
