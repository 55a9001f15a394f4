//! The result of a template while it is rendered.

use std::io::{self, Write};

/// Collects a result up to a maximum size. The write that would exceed it fails, which ends the rendering.
pub(super) struct BoundedOutput {
    bytes: Vec<u8>,
    max_bytes: usize,
    is_exceeded: bool,
}

impl BoundedOutput {
    pub(super) const fn new(max_bytes: usize) -> Self {
        Self {
            bytes: Vec::new(),
            max_bytes,
            is_exceeded: false,
        }
    }

    /// Returns whether the result is too long.
    pub(super) const fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// Returns the result.
    pub(super) fn into_text(self) -> String {
        // The template engine writes whole strings.
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Write for BoundedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max_bytes {
            self.is_exceeded = true;
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_beyond_the_maximum_fails() {
        let mut output = BoundedOutput::new(4);
        output.write_all("aé".as_bytes()).unwrap();
        output.write_all(b"b").unwrap();
        assert!(!output.is_exceeded());
        assert!(output.write_all(b"c").is_err());
        assert!(output.is_exceeded());
        assert_eq!(output.into_text(), "aéb");
    }
}
