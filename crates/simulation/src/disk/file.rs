//! A file: what a process reads, and what a power cut leaves.

use std::cell::RefCell;
use std::rc::Rc;

use super::PowerCutLosses;
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
    bytes: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
    pub(super) locks: FileLocks,
    pub(super) shared_memory: SharedMemory,
}

fn apply(bytes: &mut Vec<u8>, change: &Change, part: usize) {
    match change {
        Change::Write { offset, bytes: written } => {
            let written = &written[..part.min(written.len())];
            let end = offset + written.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[*offset..end].copy_from_slice(written);
        }
        Change::Truncate(length) => bytes.truncate(*length),
    }
}

impl SimulatedFile {
    /// Creates a file whose bytes are durable.
    pub(super) fn with_bytes(bytes: Vec<u8>) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            durable: bytes.clone(),
            bytes,
            ..Self::default()
        }))
    }

    /// The file as the next process finds it after a kill: its bytes, of which some are not durable, without locks.
    pub(super) fn after_kill(&self) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            bytes: self.bytes.clone(),
            durable: self.durable.clone(),
            unsynced: self.unsynced.clone(),
            ..Self::default()
        }))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads into `buffer`. Returns the number of bytes read; the rest of the buffer is zeros.
    pub(super) fn read(&self, offset: usize, buffer: &mut [u8]) -> usize {
        let available = self.bytes.get(offset..).unwrap_or_default();
        let read = available.len().min(buffer.len());
        buffer[..read].copy_from_slice(&available[..read]);
        buffer[read..].fill(0);
        read
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
        apply(&mut self.bytes, &change, usize::MAX);
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
    ) -> Vec<u8> {
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
