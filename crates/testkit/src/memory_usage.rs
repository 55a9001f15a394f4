//! The memory of processes, for benchmarks.

/// The memory of a process in bytes; 0 if the system does not report it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryUsage {
    /// Resident memory, including pages of the database file.
    pub resident: u64,
    /// Allocated memory.
    pub anonymous: u64,
}

impl MemoryUsage {
    /// Returns the memory of this process.
    #[must_use]
    pub fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            kib.unwrap_or_default() * 1024
        };
        Self {
            resident: field("VmRSS:"),
            anonymous: field("RssAnon:"),
        }
    }

    /// Returns the larger of each.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            resident: self.resident.max(other.resident),
            anonymous: self.anonymous.max(other.anonymous),
        }
    }
}
