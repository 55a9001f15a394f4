//! A simulated disk: files in memory, each with a synced and an unsynced part.
//!
//! SQLite reads and writes it through [`vfs`]. A killed process loses nothing that it has written; a power cut loses what was not
//! synced: each unsynced write is kept, lost or torn, by seed. Operations that change the disk are numbered from the start of the
//! process, so that a fault can hit any one of them.
//!
//! The disk belongs to the thread: a simulation has only one.

mod contents;
mod file;
mod locks;
mod vfs;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

pub use contents::FileContents;
pub(crate) use file::SimulatedFile;
pub use vfs::register;

/// The contents of all files, by path.
pub type DiskImage = BTreeMap<String, FileContents>;

/// An operation that changes the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Write,
    Truncate,
    Sync,
    Delete,
}

/// Why an operation fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DiskError {
    /// The process has been killed.
    ProcessEnded,
    /// The device reports an error.
    Failed,
    /// No space is left.
    Full,
}

/// A fault of the device that lasts for a number of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskFault {
    /// The number of operations before the first one that fails.
    pub after: u64,
    /// The number of operations that fail.
    pub lasts: u64,
    /// The fault.
    pub kind: DiskFaultKind,
}

impl DiskFault {
    /// Returns what is left of the fault after a number of operations.
    fn left_after(self, operations: u64) -> Option<Self> {
        let failed = operations.saturating_sub(self.after);
        (failed < self.lasts).then(|| Self {
            after: self.after.saturating_sub(operations),
            lasts: self.lasts - failed,
            ..self
        })
    }
}

/// A kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFaultKind {
    /// Each operation reports an error.
    Failing,
    /// Writes find no space; syncs and truncations work.
    Full,
}

/// How the process ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The process is killed: the operating system keeps what it has written.
    Kill,
    /// The power is cut: what was not synced may be lost.
    PowerCut,
}

#[derive(Default)]
struct Disk {
    files: BTreeMap<String, Rc<RefCell<SimulatedFile>>>,
    /// Changing operations since the process started.
    operations: u64,
    /// The last changing operation.
    last: Option<Operation>,
    /// The number of the operation before which the process ends.
    ends_before: Option<u64>,
    has_ended: bool,
    fault: Option<DiskFault>,
    faults_hit: u64,
    /// Called when the process ends.
    on_end: Option<Box<dyn Fn()>>,
}

thread_local! {
    static DISK: RefCell<Disk> = RefCell::default();
}

fn with<T>(run: impl FnOnce(&mut Disk) -> T) -> T {
    DISK.with_borrow_mut(run)
}

/// Replaces all files, and starts a process.
pub fn load(image: &DiskImage) {
    with(|disk| {
        let file = |(path, contents): (&String, &FileContents)| (path.clone(), SimulatedFile::of(contents.clone()));
        *disk = Disk {
            files: image.iter().map(file).collect(),
            ..Disk::default()
        };
    });
}

/// Returns the contents of all files, as a process would read them.
#[must_use]
pub fn image() -> DiskImage {
    with(|disk| {
        let contents =
            |(path, file): (&String, &Rc<RefCell<SimulatedFile>>)| (path.clone(), file.borrow().contents().clone());
        disk.files.iter().map(contents).collect()
    })
}

/// Returns the contents of a file, as a process would read them.
pub(crate) fn contents(path: &str) -> Option<FileContents> {
    with(|disk| disk.files.get(path).map(|file| file.borrow().contents().clone()))
}

/// Replaces a file. Its contents are synced.
pub(crate) fn put(path: &str, contents: FileContents) {
    with(|disk| disk.files.insert(path.to_owned(), SimulatedFile::of(contents)));
}

/// Renames a file, which replaces another one. Without such a file, the other one is deleted.
pub(crate) fn rename(from: &str, to: &str) {
    with(|disk| match disk.files.remove(from) {
        Some(file) => disk.files.insert(to.to_owned(), file),
        None => disk.files.remove(to),
    });
}

/// Runs something before the next process begins: it meets no fault, and its operations are not counted.
pub(crate) fn between_processes<T>(run: impl FnOnce() -> T) -> T {
    let fault = with(|disk| disk.fault.take());
    let result = run();
    with(|disk| (disk.fault, disk.operations, disk.last) = (fault, 0, None));
    result
}

/// Ends the process before its next operation but `operations`, and calls `on_end`.
pub fn end_after(operations: u64, on_end: impl Fn() + 'static) {
    with(|disk| {
        disk.ends_before = Some(disk.operations + operations);
        disk.on_end = Some(Box::new(on_end));
    });
}

/// Ends the process now. Returns the number of operations since it started, and the last of them.
pub fn end_now() -> (u64, String) {
    with(|disk| {
        disk.has_ended = true;
        let last = disk
            .last
            .map_or_else(|| "nothing".to_owned(), |last| format!("{last:?}"));
        (disk.operations, last)
    })
}

/// The number of operations since the process started.
pub(crate) fn operations() -> u64 {
    with(|disk| disk.operations)
}

/// Whether the process has ended.
#[must_use]
pub fn has_ended() -> bool {
    with(|disk| disk.has_ended)
}

/// Lets operations fail from now on, as the fault says.
pub fn fail(fault: Option<DiskFault>) {
    with(|disk| {
        disk.fault = fault.map(|fault| DiskFault {
            after: disk.operations + fault.after,
            ..fault
        });
    });
}

/// The number of operations that have failed since the process started.
#[must_use]
pub fn faults_hit() -> u64 {
    with(|disk| disk.faults_hit)
}

/// Starts the next process on what the last one has left. A fault goes on: a disk that is full does not get space by a restart.
pub fn restart(ending: Ending, random: &mut ChaCha8Rng) -> PowerCutLosses {
    with(|disk| {
        let mut losses = PowerCutLosses::default();
        let files = std::mem::take(&mut disk.files);
        let left = files.into_iter().map(|(path, file)| {
            let file = file.borrow();
            let left = match ending {
                Ending::Kill => file.after_kill(),
                Ending::PowerCut => {
                    SimulatedFile::of(file.after_power_cut(&mut losses, |below| random.random_range(0..below)))
                }
            };
            (path, left)
        });
        *disk = Disk {
            files: left.collect(),
            fault: disk.fault.and_then(|fault| fault.left_after(disk.operations)),
            ..Disk::default()
        };
        losses
    })
}

/// The unsynced writes at a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PowerCutLosses {
    /// Writes that were kept.
    pub kept: u32,
    /// Writes that were lost.
    pub lost: u32,
    /// Writes of which only a part was kept.
    pub torn: u32,
}

/// Counts an operation that changes the disk, and decides whether it fails.
pub(crate) fn begin(operation: Operation) -> Result<(), DiskError> {
    let ended = with(|disk| {
        if disk.has_ended {
            return Err(DiskError::ProcessEnded);
        }
        if disk.ends_before == Some(disk.operations) {
            disk.has_ended = true;
            return Ok(disk.on_end.take());
        }
        disk.operations += 1;
        disk.last = Some(operation);
        let Some(fault) = disk.fault.filter(|fault| disk.operations > fault.after) else {
            return Ok(None);
        };
        if disk.operations > fault.after + fault.lasts {
            disk.fault = None;
            return Ok(None);
        }
        match (fault.kind, operation) {
            (DiskFaultKind::Full, Operation::Write) => {
                disk.faults_hit += 1;
                Err(DiskError::Full)
            }
            (DiskFaultKind::Full, _) => Ok(None),
            (DiskFaultKind::Failing, _) => {
                disk.faults_hit += 1;
                Err(DiskError::Failed)
            }
        }
    })?;
    match ended {
        None if has_ended() => Err(DiskError::ProcessEnded),
        None => Ok(()),
        Some(on_end) => {
            on_end();
            Err(DiskError::ProcessEnded)
        }
    }
}

/// Fails if the process has ended.
pub(crate) fn check_running() -> Result<(), DiskError> {
    if has_ended() {
        Err(DiskError::ProcessEnded)
    } else {
        Ok(())
    }
}

/// Opens a file.
pub(crate) fn open(path: &str, create: bool) -> Option<Rc<RefCell<SimulatedFile>>> {
    with(|disk| match disk.files.get(path) {
        Some(file) => Some(Rc::clone(file)),
        None if create => {
            let file = SimulatedFile::of(FileContents::default());
            disk.files.insert(path.to_owned(), Rc::clone(&file));
            Some(file)
        }
        None => None,
    })
}

/// Whether a file exists.
pub(crate) fn exists(path: &str) -> bool {
    with(|disk| disk.files.contains_key(path))
}

/// Deletes a file. Returns whether it existed.
pub(crate) fn delete(path: &str) -> bool {
    with(|disk| disk.files.remove(path).is_some())
}
