//! The random numbers of the operating system, replaced by a fixed sequence of each thread.
//!
//! The order of Rust's hash maps and of the branches of `tokio::select!` depends on them. This program defines the function `getrandom`
//! of the C library, so the standard library calls it here. Nothing that is generated in a simulation is a secret.

use std::cell::Cell;

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(1) };
}

/// Starts the sequence of this thread anew.
pub(crate) fn reseed(seed: u64) {
    STATE.set(seed);
}

/// Fills `bytes` with the next numbers of the sequence (SplitMix64).
pub(crate) fn fill(bytes: &mut [u8]) {
    for part in bytes.chunks_mut(8) {
        let state = STATE.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        STATE.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let number = (mixed ^ (mixed >> 31)).to_le_bytes();
        part.copy_from_slice(&number[..part.len()]);
    }
}

/// The function of the C library.
///
/// # Safety
/// There is space for `size` bytes at `buffer`.
#[allow(unsafe_code, reason = "it replaces a function of the C library")]
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut libc::c_void, size: usize, _: libc::c_uint) -> isize {
    // SAFETY: as above.
    fill(unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), size) });
    isize::try_from(size).unwrap_or(isize::MAX)
}
