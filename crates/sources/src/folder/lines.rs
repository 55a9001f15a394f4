//! Splits bytes into lines of a bounded length.

use std::io::{self, BufRead};

/// The maximum length of a row, in bytes without its line break.
pub const MAX_ROW_BYTES: usize = 64 * 1024;

/// The result of [`Lines::advance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A line; [`Lines::text`] returns it.
    Text,
    /// A line longer than [`MAX_ROW_BYTES`], which is skipped.
    TooLong,
    /// The end of the input.
    End,
}

/// The numbered lines of an input. Blank lines are counted but skipped.
pub(super) struct Lines<R> {
    input: R,
    text: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Creates a reader before the first line of `input`.
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            text: Vec::new(),
            number: 0,
        }
    }

    /// Creates a reader of `input`, which continues after the line `number`.
    pub(super) fn after(input: R, number: u64) -> Self {
        Self {
            number,
            ..Self::new(input)
        }
    }

    /// Returns the number of the current line; the first is 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the current line without its line break (`\n` or `\r\n`).
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Advances to the next line that is not blank.
    ///
    /// # Errors
    /// The error of reading the input.
    pub(super) fn advance(&mut self) -> io::Result<Line> {
        loop {
            match self.advance_one()? {
                Line::Text if self.text.trim_ascii().is_empty() => {}
                line => return Ok(line),
            }
        }
    }

    fn advance_one(&mut self) -> io::Result<Line> {
        const MAX_WITH_BREAK: u64 = MAX_ROW_BYTES as u64 + 2;
        self.text.clear();
        let mut bounded = io::Read::take(&mut self.input, MAX_WITH_BREAK);
        if bounded.read_until(b'\n', &mut self.text)? == 0 {
            return Ok(Line::End);
        }
        self.number += 1;
        if self.text.pop_if(|byte| *byte == b'\n').is_none() {
            // The file's last line, or the beginning of one that is too long.
            self.input.skip_until(b'\n')?;
        }
        self.text.pop_if(|byte| *byte == b'\r');
        Ok(if self.text.len() > MAX_ROW_BYTES {
            Line::TooLong
        } else {
            Line::Text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<(u64, Option<String>)> {
        let mut lines = Lines::new(input);
        let mut seen = Vec::new();
        loop {
            let text = match lines.advance().unwrap() {
                Line::Text => Some(String::from_utf8_lossy(lines.text()).into_owned()),
                Line::TooLong => None,
                Line::End => return seen,
            };
            seen.push((lines.number(), text));
        }
    }

    fn text(line: &str) -> Option<String> {
        Some(line.to_owned())
    }

    #[test]
    fn accepts_both_line_breaks_and_a_missing_last_one() {
        let expected = [(1, text("a")), (2, text("b")), (3, text("c"))];
        assert_eq!(lines(b"a\nb\r\nc"), expected);
        assert_eq!(lines(b"a\r\nb\nc\r\n"), expected);
    }

    #[test]
    fn blank_lines_are_skipped_but_counted() {
        assert_eq!(lines(b"\r\n\na\n \t\nb\n\n"), [(3, text("a")), (5, text("b"))]);
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn longest_line_is_read_and_a_longer_one_is_skipped() {
        for line_break in ["\n", "\r\n"] {
            let longest = "x".repeat(MAX_ROW_BYTES);
            let input = format!("{longest}{line_break}{longest}y{line_break}b{line_break}");
            assert_eq!(lines(input.as_bytes()), [(1, Some(longest)), (2, None), (3, text("b"))]);
        }
    }

    #[test]
    fn endless_line_is_skipped_in_bounded_memory() {
        let endless = vec![b'x'; 10 * MAX_ROW_BYTES];
        let mut reader = Lines::new(&endless[..]);
        assert_eq!(reader.advance().unwrap(), Line::TooLong);
        assert!(reader.text.capacity() < 4 * MAX_ROW_BYTES);
        assert_eq!(reader.advance().unwrap(), Line::End);
    }
}
