//! One file that grows.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};

use super::new_lines::{NewLines, Progress, counted};
use crate::folder::files::{Source, read_or_name};
use crate::folder::{FolderError, Loader};

/// So long a file must have been left alone for a last line without a line break to be complete.
const SETTLED: SignedDuration = SignedDuration::from_secs(10);
/// How much before the end is looked at to see whether a file has only grown.
const TAIL_BYTES: u64 = 64;

/// What a file looks like from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Look {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            // Where there are no times, a file that keeps its length counts as unchanged.
            modified: metadata.modified().ok(),
        }
    }
}

/// What is remembered of a file.
#[derive(Debug, Default)]
pub(super) struct Growing {
    look: Option<Look>,
    /// When it first looked so.
    since: Timestamp,
    progress: Progress,
    /// The last bytes that were read.
    tail: Vec<u8>,
    /// Whether everything that was there when it looked so has been read.
    done: bool,
}

impl Growing {
    /// Reads into `loader` what the file has that was not read before, as of `now`. A file is read from its beginning
    /// when it shrank, or was replaced, or is compressed; then, too, only the lines that it did not have before.
    ///
    /// # Errors
    /// [`FolderError`] when the file cannot be used as it is. It is not tried again until it looks different.
    pub(super) fn read(&mut self, source: &Source, now: Timestamp, loader: &mut Loader<'_>) -> Result<(), FolderError> {
        let look = Look::of(&read_or_name(&source.path, fs::metadata(&source.path))?);
        let changed = self.look.replace(look) != Some(look);
        if changed {
            self.since = now;
            self.done = false;
        }
        let settled = now.duration_since(self.since) >= SETTLED;
        if !changed && (self.done || !settled) {
            return Ok(());
        }
        // Until it turns out otherwise: what fails now fails again.
        self.done = settled;
        if self.has_only_grown(source, look)? {
            self.read_on(source, settled, loader)?;
        } else {
            self.read_anew(source, settled, loader)?;
        }
        self.tail = if is_compressed(&source.path) {
            // Read to its end, which is there or the reading fails.
            self.done = true;
            Vec::new()
        } else {
            self.done = self.progress.bytes >= look.bytes;
            read_or_name(&source.path, tail(&source.path, self.progress.bytes))?
        };
        Ok(())
    }

    /// Whether nothing has been read of it yet.
    pub(super) fn is_unread(&self) -> bool {
        self.progress.lines == 0
    }

    /// Whether the file begins as what was read of it, as far as a look at the end of that can tell.
    fn has_only_grown(&self, source: &Source, look: Look) -> Result<bool, FolderError> {
        let read = self.progress.bytes;
        if is_compressed(&source.path) || self.is_unread() || look.bytes <= read {
            return Ok(false);
        }
        let found = read_or_name(&source.path, tail(&source.path, read))?;
        let goes_on = || -> io::Result<bool> {
            let mut next = [0];
            let mut file = File::open(&source.path)?;
            file.seek(SeekFrom::Start(read))?;
            file.read_exact(&mut next)?;
            Ok(matches!(next, [b'\n' | b'\r']))
        };
        Ok(found == self.tail && (!self.progress.unended || read_or_name(&source.path, goes_on())?))
    }

    fn read_on(&mut self, source: &Source, settled: bool, loader: &mut Loader<'_>) -> Result<(), FolderError> {
        let mut file = read_or_name(&source.path, File::open(&source.path))?;
        read_or_name(&source.path, file.seek(SeekFrom::Start(self.progress.bytes)))?;
        let progress = std::mem::take(&mut self.progress);
        let (header, lines) = (progress.header.clone(), progress.lines);
        let mut input = NewLines::new(BufReader::new(file), progress, counted(&[]), settled);
        let result = loader.read_more((source.table, &source.path), (&header, lines), &mut input);
        self.progress = input.progress;
        result
    }

    fn read_anew(&mut self, source: &Source, settled: bool, loader: &mut Loader<'_>) -> Result<(), FolderError> {
        let file = source.open(|_| {})?;
        let take_last = settled || is_compressed(&source.path);
        let known = counted(&self.progress.marks);
        let mut input = NewLines::new(file, Progress::default(), known, take_last);
        let result = loader.read_table(source.table, &source.path, &mut input);
        let waits = input.progress.lines == 0;
        match result {
            // Its header row is still to be written.
            Err(FolderError::NoHeader { .. }) if waits && !settled => Ok(()),
            Err(error) => {
                // The rows before the trouble have been read, and are not to be read again.
                self.progress.marks = input.into_marks();
                Err(error)
            }
            Ok(()) => {
                self.progress = input.progress;
                Ok(())
            }
        }
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// The last bytes before the place `end`.
fn tail(path: &Path, end: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let begin = end.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(begin))?;
    let mut tail = Vec::new();
    file.take(end - begin).read_to_end(&mut tail)?;
    Ok(tail)
}
