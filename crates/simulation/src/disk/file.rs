//! A file: what a process reads, and what a power cut leaves.

use std::cell::RefCell;
use std::rc::Rc;

use super::PowerCutLosses;
use super::contents::FileContents;
use super::locks::{FileLocks, SharedMemory};

/// The size of the parts that a device writes completely or not at all, in bytes.
const SECTOR_BYTES: usize = 512;

/// A change that is not synced yet.
#[derive(Clone, Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate(usize),
}

/// A file with the locks of the running process.
#[derive(Debug, Default)]
pub(crate) struct SimulatedFile {
    contents: FileContents,
    durable: FileContents,
    unsynced: Vec<Change>,
    pub(super) locks: FileLocks,
    pub(super) shared_memory: SharedMemory,
}

/// Applies a change, a write only up to `part` bytes.
fn apply(contents: &mut FileContents, change: &Change, part: usize) {
    match change {
        Change::Write { offset, bytes } => contents.write(*offset, &bytes[..part.min(bytes.len())]),
        Change::Truncate(length) => contents.truncate(*length),
    }
}

impl SimulatedFile {
    /// Creates a file whose contents are durable.
    pub(super) fn of(contents: FileContents) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            durable: contents.clone(),
            contents,
            ..Self::default()
        }))
    }

    /// The file as the next process finds it after a kill: its contents, of which some are not durable, without locks.
    pub(super) fn after_kill(&self) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            contents: self.contents.clone(),
            durable: self.durable.clone(),
            unsynced: self.unsynced.clone(),
            ..Self::default()
        }))
    }

    pub(crate) const fn contents(&self) -> &FileContents {
        &self.contents
    }

    /// Reads into `buffer`. Returns the number of bytes read; the rest of the buffer is zeros.
    pub(super) fn read(&self, offset: usize, buffer: &mut [u8]) -> usize {
        self.contents.read(offset, buffer)
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.change(Change::Write {
            offset,
            bytes: bytes.to_vec(),
        });
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.change(Change::Truncate(length));
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.contents, &change, usize::MAX);
        self.unsynced.push(change);
    }

    pub(super) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            apply(&mut self.durable, &change, usize::MAX);
        }
    }

    /// Returns what a power cut leaves. Each unsynced change is kept, lost, or kept up to a sector.
    pub(super) fn after_power_cut(
        &self,
        losses: &mut PowerCutLosses,
        mut below: impl FnMut(usize) -> usize,
    ) -> FileContents {
        let mut left = self.durable.clone();
        for change in &self.unsynced {
            let sectors = match change {
                Change::Write { bytes, .. } => bytes.len().div_ceil(SECTOR_BYTES),
                Change::Truncate(_) => 1,
            };
            match below(4) {
                0 | 1 => losses.lost += 1,
                2 if sectors > 1 => {
                    apply(&mut left, change, (1 + below(sectors - 1)) * SECTOR_BYTES);
                    losses.torn += 1;
                }
                _ => {
                    apply(&mut left, change, usize::MAX);
                    losses.kept += 1;
                }
            }
        }
        left
    }
}
