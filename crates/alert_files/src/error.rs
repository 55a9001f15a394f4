//! Errors of files, with their places.

use std::fmt;

use crate::syntax::FilePosition;

/// The number of errors that a message names.
const MAX_SHOWN_ERRORS: usize = 50;

/// An error in a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FileError {
    /// The name of the file.
    pub file: String,
    /// The place in the file.
    pub position: FilePosition,
    /// The problem and the fix.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FilePosition { line, column } = self.position;
        write!(f, "{}:{line}:{column}: {}", self.file, self.message)
    }
}

/// All errors of the files, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileErrors(pub Vec<FileError>);

impl std::error::Error for FileErrors {}

impl fmt::Display for FileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().take(MAX_SHOWN_ERRORS).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            error.fmt(f)?;
        }
        match self.0.len().saturating_sub(MAX_SHOWN_ERRORS) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more errors"),
        }
    }
}

impl From<FileError> for FileErrors {
    fn from(error: FileError) -> Self {
        Self(vec![error])
    }
}

/// Collects errors of one file.
#[derive(Debug)]
pub(crate) struct ErrorCollector<'a> {
    file: &'a str,
    pub(crate) errors: Vec<FileError>,
}

impl<'a> ErrorCollector<'a> {
    pub(crate) const fn new(file: &'a str) -> Self {
        Self {
            file,
            errors: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, position: FilePosition, message: impl Into<String>) {
        self.errors.push(FileError {
            file: self.file.to_owned(),
            position,
            message: message.into(),
        });
    }
}
