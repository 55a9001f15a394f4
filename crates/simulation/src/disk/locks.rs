//! The locks and the shared memory of a file. They end with the process.

use std::collections::BTreeMap;

use rusqlite::ffi;

/// The number of locks in shared memory.
pub(super) const SHARED_MEMORY_LOCKS: usize = 8;

/// The locks of SQLite on a database file, by handle.
#[derive(Debug, Default)]
pub(crate) struct FileLocks(BTreeMap<u64, i32>);

impl FileLocks {
    /// Raises the lock of a handle. Returns `false` if another handle prevents it.
    pub(super) fn lock(&mut self, handle: u64, level: i32) -> bool {
        let others = self.0.iter().filter(|(other, _)| **other != handle);
        let highest = others.map(|(_, level)| *level).max().unwrap_or(ffi::SQLITE_LOCK_NONE);
        let is_free = match level {
            ffi::SQLITE_LOCK_SHARED => highest < ffi::SQLITE_LOCK_PENDING,
            ffi::SQLITE_LOCK_RESERVED => highest < ffi::SQLITE_LOCK_RESERVED,
            _ => highest == ffi::SQLITE_LOCK_NONE,
        };
        if is_free {
            let held = self.0.entry(handle).or_insert(level);
            *held = level.max(*held);
        } else if level >= ffi::SQLITE_LOCK_PENDING && highest < ffi::SQLITE_LOCK_RESERVED {
            // New readers wait for the writer.
            self.0.insert(handle, ffi::SQLITE_LOCK_PENDING);
        }
        is_free
    }

    /// Lowers the lock of a handle.
    pub(super) fn unlock(&mut self, handle: u64, level: i32) {
        if level == ffi::SQLITE_LOCK_NONE {
            self.0.remove(&handle);
        } else {
            self.0.insert(handle, level);
        }
    }

    /// Whether a handle may write next.
    pub(super) fn is_reserved(&self) -> bool {
        self.0.values().any(|level| *level >= ffi::SQLITE_LOCK_RESERVED)
    }
}

/// The memory that connections in WAL mode share, with its locks.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory {
    /// Regions do not move, because SQLite keeps their addresses. Whole words, because SQLite reads them so.
    regions: Vec<Box<[u64]>>,
    shared: [u32; SHARED_MEMORY_LOCKS],
    exclusive: [bool; SHARED_MEMORY_LOCKS],
}

impl SharedMemory {
    /// Returns a region, which is created if `create` is set.
    pub(super) fn region(&mut self, index: usize, bytes: usize, create: bool) -> Option<&mut [u64]> {
        if create {
            while self.regions.len() <= index {
                self.regions
                    .push(vec![0; bytes.div_ceil(size_of::<u64>())].into_boxed_slice());
            }
        }
        self.regions.get_mut(index).map(|region| &mut **region)
    }

    /// Takes a lock, unless others hold it. `held` are the locks of the handle.
    pub(super) fn lock(&mut self, held: &mut HeldLocks, range: std::ops::Range<usize>, is_shared: bool) -> bool {
        let is_free = range.clone().all(|slot| {
            let by_others = self.shared[slot] - u32::from(held.shared[slot]);
            let exclusively_by_others = self.exclusive[slot] && !held.exclusive[slot];
            !exclusively_by_others && (is_shared || by_others == 0)
        });
        if is_free {
            for slot in range {
                if is_shared && !held.shared[slot] {
                    held.shared[slot] = true;
                    self.shared[slot] += 1;
                } else if !is_shared {
                    held.exclusive[slot] = true;
                    self.exclusive[slot] = true;
                }
            }
        }
        is_free
    }

    /// Releases locks.
    pub(super) fn unlock(&mut self, held: &mut HeldLocks, range: std::ops::Range<usize>) {
        for slot in range {
            if std::mem::take(&mut held.shared[slot]) {
                self.shared[slot] -= 1;
            }
            if std::mem::take(&mut held.exclusive[slot]) {
                self.exclusive[slot] = false;
            }
        }
    }
}

/// The locks in shared memory that a handle holds.
#[derive(Debug, Default)]
pub(super) struct HeldLocks {
    shared: [bool; SHARED_MEMORY_LOCKS],
    exclusive: [bool; SHARED_MEMORY_LOCKS],
}
