//! Processor time of processes, for benchmarks.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::Duration;

/// Returns the processor time of this process, with that of threads that have ended; zero where the system has no `/proc`. Its unit is
/// a hundredth of a second.
#[must_use]
pub fn processor_time() -> Duration {
    let statistics = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain spaces. After it, the time is in the 12th and the 13th place.
    let after_name = statistics.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    // Linux shows programs 100 ticks a second on every machine.
    Duration::from_millis(ticks * 10)
}

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
