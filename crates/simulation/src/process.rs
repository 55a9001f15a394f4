//! A process for each simulation.
//!
//! A simulation runs in a fork of this process. So each begins with the same state of all libraries, and neither a panic nor an endless
//! loop ends the others.

use std::io::{Read, Write, pipe};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The processor time after which a simulation counts as an endless loop, in seconds.
const MAX_PROCESSOR_SECONDS: libc::rlim_t = 120;
/// The time after which a simulation counts as hanging, in seconds. On a busy machine it waits for the processor most of the time.
const MAX_SECONDS: u32 = 1_800;

/// A running fork.
pub(crate) struct Forked<T> {
    process: libc::pid_t,
    result: std::io::PipeReader,
    value: std::marker::PhantomData<T>,
}

/// Runs `work` in a fork, on a separate thread.
///
/// # Errors
/// If the operating system refuses it.
#[allow(unsafe_code, reason = "the standard library cannot fork")]
pub(crate) fn fork<T: Serialize + DeserializeOwned + Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<Forked<T>> {
    let (result, mut sender) = pipe()?;
    // SAFETY: no other thread of this process runs: simulations and their template run on threads that have ended. A test runner's main
    // thread waits.
    let process = unsafe { libc::fork() };
    match process {
        -1 => Err(std::io::Error::last_os_error()),
        0 => {
            drop(result);
            let limit = libc::rlimit {
                rlim_cur: MAX_PROCESSOR_SECONDS,
                rlim_max: MAX_PROCESSOR_SECONDS,
            };
            // SAFETY: both only set limits of this process.
            unsafe {
                libc::setrlimit(libc::RLIMIT_CPU, &raw const limit);
                libc::alarm(MAX_SECONDS);
            }
            // New hash maps of a new thread start from the seed.
            let done = std::thread::spawn(work).join();
            let is_written = done.is_ok_and(|value| {
                let text = serde_json::to_vec(&value).unwrap_or_default();
                sender.write_all(&text).is_ok()
            });
            drop(sender);
            let code = if is_written { 0 } else { 1 };
            // SAFETY: it ends this process without the exit handlers of its parent.
            unsafe { libc::_exit(code) }
        }
        process => Ok(Forked {
            process,
            result,
            value: std::marker::PhantomData,
        }),
    }
}

impl<T: DeserializeOwned> Forked<T> {
    /// Waits for the result. `None`: it panicked, or hung.
    #[allow(unsafe_code, reason = "the standard library cannot wait for a fork")]
    pub(crate) fn wait(mut self) -> Option<T> {
        let mut text = Vec::new();
        let read = self.result.read_to_end(&mut text);
        let mut status = 0;
        // SAFETY: the process is a child of this one.
        unsafe { libc::waitpid(self.process, &raw mut status, 0) };
        read.ok()?;
        serde_json::from_slice(&text).ok()
    }
}
