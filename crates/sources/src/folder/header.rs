//! The header row, which maps column names to positions.

use std::path::Path;

use csv::ByteRecord;

use super::error::FolderError;
use super::rejected::Excerpt;
use super::split::split;
use super::table::Table;

/// The byte order mark that some programs write before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A column of a file: its name and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    /// The name, in lower case.
    pub(super) name: &'static str,
    /// The position, starting at 0.
    pub(super) index: usize,
}

/// A header row, with the columns that were requested but are missing.
pub(super) struct Header {
    text: Excerpt,
    names: Vec<String>,
    missing: Vec<&'static str>,
    duplicate: Option<&'static str>,
}

impl Header {
    /// Parses the header row `line`.
    pub(super) fn new(line: &[u8]) -> Self {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        let mut record = ByteRecord::new();
        // After an unclosed quote there are no names; the columns are then missing.
        let _ = split(line, &mut record);
        Self {
            text: Excerpt::of_header(line),
            names: record
                .iter()
                .map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase())
                .collect(),
            missing: Vec::new(),
            duplicate: None,
        }
    }

    /// Whether there is a column `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name)
    }

    /// Returns the column `name`, if there is one.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Column> {
        let mut places = self.names.iter().enumerate().filter(|(_, n)| *n == name);
        let (index, _) = places.next()?;
        if places.next().is_some() {
            self.duplicate = Some(name);
        }
        Some(Column { name, index })
    }

    /// Returns the required column `name`.
    pub(super) fn required(&mut self, name: &'static str) -> Column {
        self.optional(name).unwrap_or_else(|| {
            self.missing.push(name);
            Column { name, index: 0 }
        })
    }

    /// Returns two columns, at least one of which is required.
    pub(super) fn at_least_one(&mut self, names: [&'static str; 2]) -> [Option<Column>; 2] {
        let columns = names.map(|name| self.optional(name));
        if columns == [None, None] {
            self.missing.extend(names);
        }
        columns
    }

    /// Returns the number of columns, including those that are not used.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Checks that all required columns exist and that no column is named twice.
    ///
    /// # Errors
    /// [`FolderError`] with the columns that `file` lacks as this `table`.
    pub(super) fn check(&self, table: Table, file: &Path) -> Result<(), FolderError> {
        if !self.missing.is_empty() {
            return Err(FolderError::MissingColumns {
                file: file.to_owned(),
                missing: self.missing.clone(),
                found: self.text.clone(),
                expected: table.header(),
            });
        }
        match self.duplicate {
            Some(column) => Err(FolderError::DuplicateColumn {
                file: file.to_owned(),
                column,
            }),
            None => Ok(()),
        }
    }
}
