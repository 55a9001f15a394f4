//! The system's clock and memory.

use std::time::Duration;
use std::time::Instant;

use clock::{Clock, Sleep};
use jiff::{SignedDuration, Timestamp};

/// The system clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealClock;

impl RealClock {
    /// Returns microseconds since 1970, the same in all processes.
    pub(crate) fn micros(self) -> i64 {
        Clock::now(&self).as_microsecond()
    }
}

impl Clock for RealClock {
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    /// A run is so short that the clock is not stepped.
    fn uptime(&self) -> SignedDuration {
        self.now().duration_since(Timestamp::UNIX_EPOCH)
    }

    fn sleep_until(&self, at: Timestamp) -> Sleep<'_> {
        let left = at.duration_since(self.now());
        Box::pin(tokio::time::sleep(Duration::try_from(left).unwrap_or_default()))
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Starts a measurement.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
pub(crate) fn stopwatch() -> Instant {
    Instant::now()
}

/// The memory of a process in bytes; 0 if the system does not report it.
#[derive(Clone, Copy, Default)]
pub(crate) struct MemoryUsage {
    /// Resident memory, including pages of the database file.
    pub(crate) resident: u64,
    /// Allocated memory.
    pub(crate) anonymous: u64,
}

impl MemoryUsage {
    /// Returns the memory of this process.
    pub(crate) fn now() -> Self {
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
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            resident: self.resident.max(other.resident),
            anonymous: self.anonymous.max(other.anonymous),
        }
    }
}
