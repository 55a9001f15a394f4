//! The complete and new lines of a file.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read};

use crate::folder::MAX_ROW_BYTES;

/// The number of bytes that are kept of a line: enough for the reader to see that the line is too long.
const MAX_KEPT_BYTES: usize = MAX_ROW_BYTES + 2;

/// The hash of a line, by which a line is recognised when the file is read again.
pub(super) type LineHash = u64;

fn line_hash(line: &[u8]) -> LineHash {
    let mut hasher = DefaultHasher::new();
    line.trim_ascii_end().hash(&mut hasher);
    hasher.finish()
}

/// Counts how often each line occurs.
pub(super) fn count_hashes(hashes: &[LineHash]) -> HashMap<LineHash, u32> {
    let mut counts = HashMap::new();
    for line_hash in hashes {
        *counts.entry(*line_hash).or_default() += 1;
    }
    counts
}

/// A reader that blanks known lines and leaves out a last line that may be incomplete. Lines keep their numbers, and no row
/// is read in part.
pub(super) struct NewLines<R> {
    input: R,
    /// The lines that were read before, with their counts.
    known_lines: HashMap<LineHash, u32>,
    /// Whether a last line without a line break counts as complete.
    take_last: bool,
    line: Vec<u8>,
    /// How much of the current line has been consumed.
    at: usize,
    pub(super) position: ReadPosition,
}

/// A read position in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReadPosition {
    /// The first line of the file.
    pub(super) header: Vec<u8>,
    /// The number of bytes read, after decompression.
    pub(super) bytes: u64,
    /// The number of lines read.
    pub(super) lines: u64,
    /// Whether the last line read had no line break.
    pub(super) lacks_line_break: bool,
    /// The hashes of all lines after the first.
    pub(super) hashes: Vec<LineHash>,
}

impl<R: BufRead> NewLines<R> {
    /// Creates a reader of `input`, which starts at `position`. Lines that are in `known_lines` are blanked.
    pub(super) fn new(input: R, position: ReadPosition, known_lines: HashMap<LineHash, u32>, take_last: bool) -> Self {
        Self {
            input,
            known_lines,
            take_last,
            line: Vec::new(),
            at: 0,
            position,
        }
    }

    /// Returns the hashes of the lines that were read and of the known lines that were not found.
    pub(super) fn into_hashes(self) -> Vec<LineHash> {
        let mut hashes = self.position.hashes;
        for (line_hash, times) in self.known_lines {
            hashes.extend((0..times).map(|_| line_hash));
        }
        hashes
    }

    /// Advances to the next line. The line is empty at the end.
    fn advance(&mut self) -> io::Result<()> {
        self.line.clear();
        self.at = 0;
        let (bytes, ended) = self.read_line()?;
        if bytes == 0 || !(ended || self.take_last) {
            self.line.clear();
            return Ok(());
        }
        let position = &mut self.position;
        position.bytes += bytes;
        position.lines += 1;
        position.lacks_line_break = !ended;
        if !self.line.ends_with(b"\n") {
            self.line.push(b'\n');
        }
        if position.lines == 1 {
            position.header = self.line.trim_ascii_end().to_vec();
            return Ok(());
        }
        let line_hash = line_hash(&self.line);
        position.hashes.push(line_hash);
        if let Some(times) = self.known_lines.get_mut(&line_hash).filter(|times| **times > 0) {
            *times -= 1;
            self.line.clear();
            self.line.push(b'\n');
        }
        Ok(())
    }

    /// Reads up to the next line break. Returns the number of bytes and whether there was a line break. Of a line that is
    /// too long, only the beginning is kept.
    fn read_line(&mut self) -> io::Result<(u64, bool)> {
        let mut bytes = 0;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                return Ok((bytes, false));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(buffer.len(), |end| end + 1);
            let free = MAX_KEPT_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(&buffer[..taken.min(free)]);
            self.input.consume(taken);
            bytes += taken as u64;
            if end.is_some() {
                return Ok((bytes, true));
            }
        }
    }
}

impl<R: BufRead> Read for NewLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?.read(buffer)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

impl<R: BufRead> BufRead for NewLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.line.len() {
            self.advance()?;
        }
        Ok(&self.line[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, known_lines: &[LineHash], take_last: bool) -> (String, ReadPosition) {
        let mut lines = NewLines::new(
            text.as_bytes(),
            ReadPosition::default(),
            count_hashes(known_lines),
            take_last,
        );
        let mut read = String::new();
        lines.read_to_string(&mut read).unwrap();
        (read, lines.position)
    }

    #[test]
    fn last_line_waits_for_its_line_break_unless_taken() {
        let (text, position) = read("h\na\nb", &[], false);
        assert_eq!(text, "h\na\n");
        assert_eq!(
            (position.bytes, position.lines, position.lacks_line_break),
            (4, 2, false)
        );
        let (text, position) = read("h\na\nb", &[], true);
        assert_eq!(text, "h\na\nb\n");
        assert_eq!(
            (position.bytes, position.lines, position.lacks_line_break),
            (5, 3, true)
        );
        assert_eq!(read("", &[], true).1, ReadPosition::default());
    }

    #[test]
    fn known_lines_are_blanked_as_often_as_they_occurred() {
        let (_, before) = read("h\na\nb\na\r\n", &[], false);
        let (text, after) = read("h\na\nc\na\na\nb\n", &before.hashes, false);
        assert_eq!(text, "h\n\nc\n\na\n\n");
        assert_eq!((after.hashes.len(), after.header), (5, b"h".to_vec()));
    }

    #[test]
    fn only_the_beginning_of_a_long_line_is_kept() {
        let long = format!("h\n{}\nb\n", "x".repeat(10 * MAX_KEPT_BYTES));
        let (text, position) = read(&long, &[], false);
        assert_eq!(text.len(), 2 + MAX_KEPT_BYTES + 1 + 2);
        assert_eq!((position.bytes, position.lines), (long.len() as u64, 3));
    }
}
