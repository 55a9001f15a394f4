//! The bytes of a file, in pages that copies share until one of them changes: each process begins with a copy of the whole disk.

use std::sync::Arc;

const PAGE_BYTES: usize = 4096;

type Page = [u8; PAGE_BYTES];

/// The bytes of a file.
#[derive(Clone, Debug, Default)]
pub struct FileContents {
    /// The bytes after `length` are zeros.
    pages: Vec<Arc<Page>>,
    length: usize,
}

impl FileContents {
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// Reads into `buffer`. Returns the number of bytes read; the rest of the buffer is zeros.
    pub(super) fn read(&self, offset: usize, buffer: &mut [u8]) -> usize {
        let read = self.length.saturating_sub(offset).min(buffer.len());
        let (wanted, rest) = buffer.split_at_mut(read);
        rest.fill(0);
        let mut done = 0;
        while done < read {
            let (page, from) = place(offset + done);
            let part = (PAGE_BYTES - from).min(read - done);
            wanted[done..done + part].copy_from_slice(&self.pages[page][from..from + part]);
            done += part;
        }
        read
    }

    /// Writes bytes. A gap between the end of the file and `offset` is filled with zeros.
    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.length = self.length.max(offset + bytes.len());
        let pages = self.length.div_ceil(PAGE_BYTES);
        if self.pages.len() < pages {
            self.pages.resize_with(pages, || Arc::new([0; PAGE_BYTES]));
        }
        let mut done = 0;
        while done < bytes.len() {
            let (page, from) = place(offset + done);
            let part = (PAGE_BYTES - from).min(bytes.len() - done);
            Arc::make_mut(&mut self.pages[page])[from..from + part].copy_from_slice(&bytes[done..done + part]);
            done += part;
        }
    }

    /// Shortens the file. A longer one stays as it is.
    pub(super) fn truncate(&mut self, length: usize) {
        if length >= self.length {
            return;
        }
        self.length = length;
        self.pages.truncate(length.div_ceil(PAGE_BYTES));
        let (page, from) = place(length);
        if let Some(last) = self.pages.get_mut(page) {
            Arc::make_mut(last)[from..].fill(0);
        }
    }
}

/// Returns the page of a byte, and its place there.
const fn place(offset: usize) -> (usize, usize) {
    (offset / PAGE_BYTES, offset % PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A file as a plain list of bytes.
    fn apply(plain: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        if plain.len() < end {
            plain.resize(end, 0);
        }
        plain[offset..end].copy_from_slice(bytes);
    }

    fn all(contents: &FileContents) -> Vec<u8> {
        let mut bytes = vec![1; contents.len() + 10];
        let read = contents.read(0, &mut bytes);
        assert_eq!(bytes[read..], [0; 10]);
        bytes.truncate(read);
        bytes
    }

    #[test]
    fn writes_and_truncations_equal_those_of_plain_bytes() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let (mut contents, mut plain) = (FileContents::default(), Vec::new());
        for byte in 1..=255 {
            let offset = random.random_range(0..5 * PAGE_BYTES);
            if random.random_ratio(1, 5) {
                contents.truncate(offset);
                plain.truncate(offset);
            } else {
                let bytes = vec![byte; random.random_range(0..2 * PAGE_BYTES)];
                contents.write(offset, &bytes);
                apply(&mut plain, offset, &bytes);
            }
            assert_eq!(all(&contents), plain);
        }
    }

    #[test]
    fn copy_keeps_its_bytes_when_the_original_changes() {
        let mut contents = FileContents::default();
        contents.write(PAGE_BYTES - 1, b"ab");
        let copy = contents.clone();
        contents.write(PAGE_BYTES - 1, b"cd");
        contents.truncate(PAGE_BYTES);
        let mut bytes = [0; 2];
        assert_eq!((copy.read(PAGE_BYTES - 1, &mut bytes), &bytes), (2, b"ab"));
        assert_eq!((contents.read(PAGE_BYTES - 1, &mut bytes), &bytes), (1, b"c\0"));
    }
}
