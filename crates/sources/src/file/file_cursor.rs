//! The read position in one file, which may grow, shrink or be replaced.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};

use super::new_lines::{NewLines, ReadPosition, count_hashes};
use crate::folder::files::{TableFile, with_path};
use crate::folder::{FolderError, TableLoader};

/// The time without a change after which a last line without a line break counts as complete.
const SETTLED_AFTER: SignedDuration = SignedDuration::from_secs(10);
/// The number of bytes before the read position that are compared to see whether a file has only grown.
const TAIL_BYTES: u64 = 64;

/// The size and the modification time of a file. They show whether the file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            // Without modification times, a file that keeps its length counts as unchanged.
            modified: metadata.modified().ok(),
        }
    }
}

/// The read position in a file.
#[derive(Debug, Default)]
pub(super) struct FileCursor {
    stamp: Option<FileStamp>,
    /// When the file was first seen with this stamp.
    stamp_since: Timestamp,
    position: ReadPosition,
    /// The last bytes that were read.
    tail: Vec<u8>,
    /// Whether everything that the file held when it got this stamp has been read.
    is_read_to_end: bool,
}

impl FileCursor {
    /// Reads the new rows of the file into `loader`, as of `now`. A file that shrank, was replaced or is compressed is read
    /// from its beginning; then, too, only lines that it did not have before are new.
    ///
    /// # Errors
    /// [`FolderError`] if the file cannot be used. It is tried again when its stamp changes.
    pub(super) fn read(
        &mut self,
        source: &TableFile,
        now: Timestamp,
        loader: &mut TableLoader<'_>,
    ) -> Result<(), FolderError> {
        let stamp = FileStamp::of(&with_path(&source.path, fs::metadata(&source.path))?);
        let changed = self.stamp.replace(stamp) != Some(stamp);
        if changed {
            self.stamp_since = now;
            self.is_read_to_end = false;
        }
        let is_settled = now.duration_since(self.stamp_since) >= SETTLED_AFTER;
        if !changed && (self.is_read_to_end || !is_settled) {
            return Ok(());
        }
        // Until the read succeeds: a file that fails now fails again while it is unchanged.
        self.is_read_to_end = is_settled;
        if self.has_only_grown(source, stamp)? {
            self.read_appended(source, is_settled, loader)?;
        } else {
            self.reread(source, is_settled, loader)?;
        }
        self.tail = if is_compressed(&source.path) {
            // A compressed file is read to its end, or reading fails.
            self.is_read_to_end = true;
            Vec::new()
        } else {
            self.is_read_to_end = self.position.bytes >= stamp.bytes;
            with_path(&source.path, tail(&source.path, self.position.bytes))?
        };
        Ok(())
    }

    /// Whether nothing of the file has been read.
    pub(super) fn is_unread(&self) -> bool {
        self.position.lines == 0
    }

    /// Whether the file still begins with what was read of it, judged by the last bytes before the read position.
    fn has_only_grown(&self, source: &TableFile, stamp: FileStamp) -> Result<bool, FolderError> {
        let read = self.position.bytes;
        if is_compressed(&source.path) || self.is_unread() || stamp.bytes <= read {
            return Ok(false);
        }
        let found = with_path(&source.path, tail(&source.path, read))?;
        let continues_with_line_break = || -> io::Result<bool> {
            let mut next = [0];
            let mut file = File::open(&source.path)?;
            file.seek(SeekFrom::Start(read))?;
            file.read_exact(&mut next)?;
            Ok(matches!(next, [b'\n' | b'\r']))
        };
        Ok(found == self.tail
            && (!self.position.lacks_line_break || with_path(&source.path, continues_with_line_break())?))
    }

    fn read_appended(
        &mut self,
        source: &TableFile,
        is_settled: bool,
        loader: &mut TableLoader<'_>,
    ) -> Result<(), FolderError> {
        let mut file = with_path(&source.path, File::open(&source.path))?;
        with_path(&source.path, file.seek(SeekFrom::Start(self.position.bytes)))?;
        let position = std::mem::take(&mut self.position);
        let (header, lines) = (position.header.clone(), position.lines);
        let mut input = NewLines::new(BufReader::new(file), position, count_hashes(&[]), is_settled);
        let result = loader.read_more((source.table, &source.path), (&header, lines), &mut input);
        self.position = input.position;
        result
    }

    fn reread(
        &mut self,
        source: &TableFile,
        is_settled: bool,
        loader: &mut TableLoader<'_>,
    ) -> Result<(), FolderError> {
        let file = source.open(|_| {})?;
        let take_last = is_settled || is_compressed(&source.path);
        let known = count_hashes(&self.position.hashes);
        let mut input = NewLines::new(file, ReadPosition::default(), known, take_last);
        let result = loader.read_table(source.table, &source.path, &mut input);
        let waits = input.position.lines == 0;
        match result {
            // The header row has not been written yet.
            Err(FolderError::NoHeader { .. }) if waits && !is_settled => Ok(()),
            Err(error) => {
                // The rows before the error have been read, and must not be read again.
                self.position.hashes = input.into_hashes();
                Err(error)
            }
            Ok(()) => {
                self.position = input.position;
                Ok(())
            }
        }
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// Reads the last bytes before the position `end`.
fn tail(path: &Path, end: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let begin = end.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(begin))?;
    let mut tail = Vec::new();
    file.take(end - begin).read_to_end(&mut tail)?;
    Ok(tail)
}
