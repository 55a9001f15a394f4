//! SQLite's interface to the simulated disk: a VFS that is the default of this process.
//!
//! This module is `unsafe`, because the interface is C: SQLite passes pointers that are valid for the duration of a call, and memory of
//! [`VfsFile`]'s size for each open file. Every function does one thing and leaves the rest to the safe modules beside it.
//!
//! The memory of [`SharedMemory`](super::locks::SharedMemory) is read and written by SQLite alone, on one thread.

#![allow(unsafe_code, reason = "the interface of SQLite's file system is C")]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::slice;
use std::sync::Once;

use rusqlite::ffi;

use super::locks::{HeldLocks, SHARED_MEMORY_LOCKS};
use super::{DiskError, Operation, SimulatedFile, begin, check_running, delete, exists, open};

/// The name under which SQLite knows the VFS.
const NAME: &CStr = c"simulated";
/// The maximum length of a path, in bytes.
const MAX_PATH_BYTES: c_int = 512;
const SECTOR_BYTES: c_int = 4096;
/// The days between the epoch of SQLite's times and 1970, in milliseconds.
const JULIAN_DAY_OF_1970_MS: i64 = 210_866_760_000_000;
/// The instant that SQL functions without arguments would read. The service passes its instants.
const SQL_NOW_MS: i64 = 1_700_000_000_000;

/// The memory that SQLite allocates for an open file.
#[repr(C)]
struct VfsFile {
    base: ffi::sqlite3_file,
    handle: *mut Handle,
}

/// An open file.
struct Handle {
    id: u64,
    path: String,
    file: Rc<RefCell<SimulatedFile>>,
    held: HeldLocks,
    is_deleted_on_close: bool,
}

thread_local! {
    static NEXT_HANDLE: RefCell<u64> = const { RefCell::new(0) };
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // Version 2 has shared memory, for WAL mode, but no memory-mapped reads.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Makes the simulated disk the file system of all connections that this process opens from now on.
///
/// # Panics
/// If SQLite refuses it.
pub fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let vfs = ffi::sqlite3_vfs {
            iVersion: 2,
            szOsFile: c_int::try_from(size_of::<VfsFile>()).unwrap_or(c_int::MAX),
            mxPathname: MAX_PATH_BYTES,
            pNext: null_mut(),
            zName: NAME.as_ptr(),
            pAppData: null_mut(),
            xOpen: Some(vfs_open),
            xDelete: Some(vfs_delete),
            xAccess: Some(vfs_access),
            xFullPathname: Some(vfs_full_pathname),
            xDlOpen: None,
            xDlError: None,
            xDlSym: None,
            xDlClose: None,
            xRandomness: Some(vfs_randomness),
            xSleep: Some(vfs_sleep),
            xCurrentTime: None,
            xGetLastError: None,
            xCurrentTimeInt64: Some(vfs_current_time),
            xSetSystemCall: None,
            xGetSystemCall: None,
            xNextSystemCall: None,
        };
        // SAFETY: SQLite keeps the pointer for the life of the process, so the value is leaked.
        let registered = unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 1) };
        assert_eq!(registered, ffi::SQLITE_OK, "SQLite refuses the simulated file system");
    });
}

/// Returns the handle of a file.
///
/// # Safety
/// `file` was opened by [`vfs_open`] and is not closed.
unsafe fn handle<'a>(file: *mut ffi::sqlite3_file) -> &'a mut Handle {
    // SAFETY: the memory begins with the base, and its handle is valid until `close`. SQLite uses a file from one thread at a time.
    unsafe { &mut *(*file.cast::<VfsFile>()).handle }
}

/// Returns a path.
///
/// # Safety
/// `name` is null or ends with a zero byte.
unsafe fn path(name: *const c_char) -> String {
    if name.is_null() {
        return "temporary".to_owned();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

fn code(result: Result<(), DiskError>, failed: c_int) -> c_int {
    match result {
        Ok(()) => ffi::SQLITE_OK,
        Err(DiskError::Full) => ffi::SQLITE_FULL,
        Err(DiskError::Failed | DiskError::ProcessEnded) => failed,
    }
}

fn position(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

unsafe extern "C" fn vfs_open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes memory of the size of a `VfsFile`, and a name that ends with a zero byte.
    let (path, file) = unsafe { (path(name), &mut *file.cast::<VfsFile>()) };
    file.base.pMethods = null();
    let create = flags & ffi::SQLITE_OPEN_CREATE != 0 || flags & ffi::SQLITE_OPEN_MAIN_DB != 0;
    let Some(opened) = check_running().ok().and_then(|()| open(&path, create)) else {
        return ffi::SQLITE_CANTOPEN;
    };
    let id = NEXT_HANDLE.with_borrow_mut(|next| {
        *next += 1;
        *next
    });
    file.base.pMethods = &raw const METHODS;
    file.handle = Box::into_raw(Box::new(Handle {
        id,
        path,
        file: opened,
        held: HeldLocks::default(),
        is_deleted_on_close: flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0,
    }));
    if !out_flags.is_null() {
        // SAFETY: it is not null, so it is a place for the flags.
        unsafe { *out_flags = flags };
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn vfs_delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int) -> c_int {
    // SAFETY: the name ends with a zero byte.
    let path = unsafe { path(name) };
    match begin(Operation::Delete) {
        Ok(()) if delete(&path) => ffi::SQLITE_OK,
        Ok(()) => ffi::SQLITE_IOERR_DELETE_NOENT,
        Err(_) => ffi::SQLITE_IOERR_DELETE,
    }
}

unsafe extern "C" fn vfs_access(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int, result: *mut c_int) -> c_int {
    // SAFETY: the name ends with a zero byte, and `result` is a place for the result.
    unsafe { *result = c_int::from(exists(&path(name))) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn vfs_full_pathname(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    size: c_int,
    full: *mut c_char,
) -> c_int {
    // SAFETY: the name ends with a zero byte.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if name.len() > position(size.into()) {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: there is space for `size` bytes, and the name has no more.
    unsafe { full.cast::<u8>().copy_from_nonoverlapping(name.as_ptr(), name.len()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn vfs_randomness(_: *mut ffi::sqlite3_vfs, size: c_int, bytes: *mut c_char) -> c_int {
    // SAFETY: there is space for `size` bytes.
    let bytes = unsafe { slice::from_raw_parts_mut(bytes.cast::<u8>(), position(size.into())) };
    crate::entropy::fill(bytes);
    size
}

/// Returns at once: on one thread, nothing else can release a lock meanwhile.
unsafe extern "C" fn vfs_sleep(_: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    microseconds
}

unsafe extern "C" fn vfs_current_time(_: *mut ffi::sqlite3_vfs, now: *mut i64) -> c_int {
    // SAFETY: it is a place for the time.
    unsafe { *now = JULIAN_DAY_OF_1970_MS + SQL_NOW_MS };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the file is open, and SQLite does not use it afterwards.
    let mut handle = unsafe { Box::from_raw((*file.cast::<VfsFile>()).handle) };
    let mut inner = handle.file.borrow_mut();
    inner.locks.unlock(handle.id, ffi::SQLITE_LOCK_NONE);
    inner.shared_memory.unlock(&mut handle.held, 0..SHARED_MEMORY_LOCKS);
    drop(inner);
    if handle.is_deleted_on_close {
        delete(&handle.path);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, buffer: *mut c_void, size: c_int, offset: i64) -> c_int {
    // SAFETY: the file is open, and there is space for `size` bytes.
    let (handle, buffer) = unsafe {
        let buffer = slice::from_raw_parts_mut(buffer.cast::<u8>(), position(size.into()));
        (handle(file), buffer)
    };
    if check_running().is_err() {
        return ffi::SQLITE_IOERR_READ;
    }
    let read = handle.file.borrow().read(position(offset), buffer);
    if read == buffer.len() {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_IOERR_SHORT_READ
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, bytes: *const c_void, size: c_int, offset: i64) -> c_int {
    // SAFETY: the file is open, and there are `size` bytes.
    let (handle, bytes) = unsafe {
        let bytes = slice::from_raw_parts(bytes.cast::<u8>(), position(size.into()));
        (handle(file), bytes)
    };
    let begun = begin(Operation::Write);
    if begun.is_ok() {
        handle.file.borrow_mut().write(position(offset), bytes);
    }
    code(begun, ffi::SQLITE_IOERR_WRITE)
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: the file is open.
    let handle = unsafe { handle(file) };
    let begun = begin(Operation::Truncate);
    if begun.is_ok() {
        handle.file.borrow_mut().truncate(position(size));
    }
    code(begun, ffi::SQLITE_IOERR_TRUNCATE)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: the file is open.
    let handle = unsafe { handle(file) };
    let begun = begin(Operation::Sync);
    if begun.is_ok() {
        handle.file.borrow_mut().sync();
    }
    code(begun, ffi::SQLITE_IOERR_FSYNC)
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: the file is open, and `size` is a place for its size.
    unsafe { *size = i64::try_from(handle(file).file.borrow().contents().len()).unwrap_or(i64::MAX) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: the file is open.
    let handle = unsafe { handle(file) };
    if handle.file.borrow_mut().locks.lock(handle.id, level) {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_BUSY
    }
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: the file is open.
    let handle = unsafe { handle(file) };
    handle.file.borrow_mut().locks.unlock(handle.id, level);
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, result: *mut c_int) -> c_int {
    // SAFETY: the file is open, and `result` is a place for the result.
    unsafe { *result = c_int::from(handle(file).file.borrow().locks.is_reserved()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    SECTOR_BYTES
}

/// A write changes no bytes beside its own, even if the power is cut.
unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    place: *mut *mut c_void,
) -> c_int {
    // SAFETY: the file is open.
    let handle = unsafe { handle(file) };
    let mut inner = handle.file.borrow_mut();
    let (index, bytes) = (position(region.into()), position(size.into()));
    let region = inner.shared_memory.region(index, bytes, extend != 0);
    let address = region.map_or(null_mut(), |region| region.as_mut_ptr().cast::<c_void>());
    // SAFETY: `place` is a place for the address. Regions live as long as the file, which SQLite has open.
    unsafe { *place = address };
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    // SAFETY: the file is open.
    let handle = unsafe { handle(file) };
    let first = position(offset.into());
    let range = first..(first + position(count.into())).min(SHARED_MEMORY_LOCKS);
    let mut inner = handle.file.borrow_mut();
    let memory = &mut inner.shared_memory;
    if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
        memory.unlock(&mut handle.held, range);
        return ffi::SQLITE_OK;
    }
    if memory.lock(&mut handle.held, range, flags & ffi::SQLITE_SHM_SHARED != 0) {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_BUSY
    }
}

/// One thread needs no barrier.
unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: the file is open.
    let handle = unsafe { handle(file) };
    handle
        .file
        .borrow_mut()
        .shared_memory
        .unlock(&mut handle.held, 0..SHARED_MEMORY_LOCKS);
    ffi::SQLITE_OK
}
