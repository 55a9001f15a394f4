//! The header row, by which columns are found.

use std::path::Path;

use csv::ByteRecord;

use super::error::FolderError;
use super::rejected::Excerpt;
use super::split::split;
use super::table::Table;

/// The byte order mark that some programs write before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A column of a file: its name and its place in each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    /// The name, in lower case.
    pub(super) name: &'static str,
    /// The number of columns before it.
    pub(super) index: usize,
}

/// A header row, and what was looked for in it in vain.
pub(super) struct Header {
    text: Excerpt,
    names: Vec<String>,
    missing: Vec<&'static str>,
    doubled: Option<&'static str>,
}

impl Header {
    /// The header row that `line` is.
    pub(super) fn new(line: &[u8]) -> Self {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        let mut record = ByteRecord::new();
        // After a quote that is not closed there are no names; the columns will be missing then.
        let _ = split(line, &mut record);
        Self {
            text: Excerpt::of_header(line),
            names: record
                .iter()
                .map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase())
                .collect(),
            missing: Vec::new(),
            doubled: None,
        }
    }

    /// Whether there is a column `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name)
    }

    /// The column `name`, if there is one.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Column> {
        let mut places = self.names.iter().enumerate().filter(|(_, n)| *n == name);
        let (index, _) = places.next()?;
        if places.next().is_some() {
            self.doubled = Some(name);
        }
        Some(Column { name, index })
    }

    /// The column `name`, without which the file cannot be used.
    pub(super) fn required(&mut self, name: &'static str) -> Column {
        self.optional(name).unwrap_or_else(|| {
            self.missing.push(name);
            Column { name, index: 0 }
        })
    }

    /// Two columns, at least one of which the file needs.
    pub(super) fn either(&mut self, names: [&'static str; 2]) -> [Option<Column>; 2] {
        let columns = names.map(|name| self.optional(name));
        if columns == [None, None] {
            self.missing.extend(names);
        }
        columns
    }

    /// The number of columns, those included that nobody looked for.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether every column that was looked for was there, and there once.
    ///
    /// # Errors
    /// [`FolderError`], with what `file` lacks to be this `table`.
    pub(super) fn check(&self, table: Table, file: &Path) -> Result<(), FolderError> {
        if !self.missing.is_empty() {
            return Err(FolderError::MissingColumns {
                file: file.to_owned(),
                missing: self.missing.clone(),
                found: self.text.clone(),
                expected: table.header(),
            });
        }
        match self.doubled {
            Some(column) => Err(FolderError::DoubledColumn {
                file: file.to_owned(),
                column,
            }),
            None => Ok(()),
        }
    }
}
