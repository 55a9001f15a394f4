//! Processor time of processes, for benchmarks.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::Duration;

/// Returns the processor time of each thread of a process: its id, or `self`. Threads that have ended are missing, and all are where the
/// system has no `/proc`.
#[must_use]
pub fn thread_times(process: &str) -> HashMap<OsString, Duration> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let times = threads.filter_map(|thread| {
        // A thread may end meanwhile.
        let statistics = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanos = statistics.split_whitespace().next()?.parse().ok()?;
        Some((thread.file_name(), Duration::from_nanos(nanos)))
    });
    times.collect()
}
