//! The complete lines of a file that were not read before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read};

use crate::folder::MAX_ROW_BYTES;

/// How much of a line is kept: enough for the reader to see that it is too long.
const MAX_KEPT: usize = MAX_ROW_BYTES + 2;

/// What is remembered of a line, so that it is known again.
pub(super) type Mark = u64;

fn mark(line: &[u8]) -> Mark {
    let mut hasher = DefaultHasher::new();
    line.trim_ascii_end().hash(&mut hasher);
    hasher.finish()
}

/// How often each line was there.
pub(super) fn counted(marks: &[Mark]) -> HashMap<Mark, u32> {
    let mut counted = HashMap::new();
    for mark in marks {
        *counted.entry(*mark).or_default() += 1;
    }
    counted
}

/// An input whose lines that are known already are blank, and whose last line is left out as long as it may still be
/// being written. So lines keep their numbers, and nobody reads half a row.
pub(super) struct NewLines<R> {
    input: R,
    /// Lines that were read before, and how often.
    known: HashMap<Mark, u32>,
    /// Whether a last line without a line break is complete.
    take_last: bool,
    line: Vec<u8>,
    /// How much of the line has been read from here.
    at: usize,
    pub(super) progress: Progress,
}

/// How far a file has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The file's first line.
    pub(super) header: Vec<u8>,
    /// How many bytes, as the reader sees them.
    pub(super) bytes: u64,
    /// How many lines.
    pub(super) lines: u64,
    /// Whether the last of them had no line break.
    pub(super) unended: bool,
    /// The marks of all lines after the first.
    pub(super) marks: Vec<Mark>,
}

impl<R: BufRead> NewLines<R> {
    /// The lines of `input`, which goes on where `progress` ends, without those that are `known`.
    pub(super) fn new(input: R, progress: Progress, known: HashMap<Mark, u32>, take_last: bool) -> Self {
        Self {
            input,
            known,
            take_last,
            line: Vec::new(),
            at: 0,
            progress,
        }
    }

    /// The marks of the lines that were read, and of those that are known but did not come.
    pub(super) fn into_marks(self) -> Vec<Mark> {
        let mut marks = self.progress.marks;
        for (mark, times) in self.known {
            marks.extend((0..times).map(|_| mark));
        }
        marks
    }

    /// Goes to the next line; there is none when nothing is left in it.
    fn advance(&mut self) -> io::Result<()> {
        self.line.clear();
        self.at = 0;
        let (bytes, ended) = self.read_line()?;
        if bytes == 0 || !(ended || self.take_last) {
            self.line.clear();
            return Ok(());
        }
        let progress = &mut self.progress;
        progress.bytes += bytes;
        progress.lines += 1;
        progress.unended = !ended;
        if !self.line.ends_with(b"\n") {
            self.line.push(b'\n');
        }
        if progress.lines == 1 {
            progress.header = self.line.trim_ascii_end().to_vec();
            return Ok(());
        }
        let mark = mark(&self.line);
        progress.marks.push(mark);
        if let Some(times) = self.known.get_mut(&mark).filter(|times| **times > 0) {
            *times -= 1;
            self.line.clear();
            self.line.push(b'\n');
        }
        Ok(())
    }

    /// Reads up to the next line break: how many bytes there were, and whether there was one. Of a line that is too
    /// long, only the beginning is kept.
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
            let room = MAX_KEPT.saturating_sub(self.line.len());
            self.line.extend_from_slice(&buffer[..taken.min(room)]);
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

    fn read(text: &str, known: &[Mark], take_last: bool) -> (String, Progress) {
        let mut lines = NewLines::new(text.as_bytes(), Progress::default(), counted(known), take_last);
        let mut read = String::new();
        lines.read_to_string(&mut read).unwrap();
        (read, lines.progress)
    }

    #[test]
    fn a_last_line_waits_for_its_line_break_unless_it_is_to_be_taken() {
        let (text, progress) = read("h\na\nb", &[], false);
        assert_eq!(text, "h\na\n");
        assert_eq!((progress.bytes, progress.lines, progress.unended), (4, 2, false));
        let (text, progress) = read("h\na\nb", &[], true);
        assert_eq!(text, "h\na\nb\n");
        assert_eq!((progress.bytes, progress.lines, progress.unended), (5, 3, true));
        assert_eq!(read("", &[], true).1, Progress::default());
    }

    #[test]
    fn known_lines_are_blank_as_often_as_they_were_there() {
        let (_, before) = read("h\na\nb\na\r\n", &[], false);
        let (text, after) = read("h\na\nc\na\na\nb\n", &before.marks, false);
        assert_eq!(text, "h\n\nc\n\na\n\n");
        assert_eq!((after.marks.len(), after.header), (5, b"h".to_vec()));
    }

    #[test]
    fn of_a_line_that_is_too_long_only_the_beginning_is_kept() {
        let long = format!("h\n{}\nb\n", "x".repeat(10 * MAX_KEPT));
        let (text, progress) = read(&long, &[], false);
        assert_eq!(text.len(), 2 + MAX_KEPT + 1 + 2);
        assert_eq!((progress.bytes, progress.lines), (long.len() as u64, 3));
    }
}
