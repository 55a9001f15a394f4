//! Errors that make a whole data folder unusable.

use std::io;
use std::path::PathBuf;

use super::lines::MAX_ROW_BYTES;
use super::rejected::Excerpt;

/// The reason why a data folder cannot be used. Each message names the file and the fix.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The path is not a folder.
    #[error("{} is not a folder; give the folder that holds bars/, splits.csv and so on", .0.display())]
    NotAFolder(PathBuf),
    /// The folder has no table.
    #[error("{} holds no data; put at least one file such as bars/daily.csv or splits.csv into it", .0.display())]
    NoData(PathBuf),
    /// A file or folder does not exist, is not readable, or is truncated.
    #[error("cannot read {}: {cause}; check that it is there, whole and readable", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// A table exists twice, plain and compressed.
    #[error(
        "{} and {} are the same table, plain and compressed; remove one of them",
        .plain.display(),
        .compressed.display()
    )]
    PlainAndCompressed {
        /// The plain file.
        plain: PathBuf,
        /// The file compressed with gzip.
        compressed: PathBuf,
    },
    /// A `.gz` file that is not compressed with gzip.
    #[error("{} is not a gzip file; compress it again, or name it .csv if it is plain text", .0.display())]
    NotGzip(PathBuf),
    /// A `.csv` file that is compressed with gzip.
    #[error("{} is a gzip file; name it .csv.gz", .0.display())]
    NotPlain(PathBuf),
    /// An empty file, or one whose first line is too long.
    #[error(
        "{} has no header row of at most {MAX_ROW_BYTES} bytes; begin it with a line such as {expected}",
        .file.display()
    )]
    NoHeader {
        /// The file.
        file: PathBuf,
        /// A valid header row.
        expected: &'static str,
    },
    /// A header row without a required column.
    #[error(
        "{} has no column {}; its header row is {found}, but should be such as {expected}",
        .file.display(),
        .missing.join(", ")
    )]
    MissingColumns {
        /// The file.
        file: PathBuf,
        /// The missing columns.
        missing: Vec<&'static str>,
        /// The header row.
        found: Excerpt,
        /// A valid header row.
        expected: &'static str,
    },
    /// A header row that names a required column twice.
    #[error("{} has more than one column {column}; rename or remove all but one", .file.display())]
    DuplicateColumn {
        /// The file.
        file: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// A bar file with both a `date` and a `time` column.
    #[error(
        "{} has both a column date and a column time; keep date for daily bars, time for intraday bars",
        .0.display()
    )]
    DateAndTime(PathBuf),
}
