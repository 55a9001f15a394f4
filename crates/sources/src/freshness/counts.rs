//! Counters of the filter's decisions.

use std::fmt;

use super::FilterReason;

/// The number of quotes by decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuoteCounts {
    /// The quotes that passed, including confirmed jumps.
    pub passed: u64,
    /// The quotes that confirmed a jump.
    pub confirmed: u64,
    by_reason: [u64; FilterReason::ALL.len()],
}

impl QuoteCounts {
    /// Returns the number of quotes that were held or dropped for `reason`.
    #[must_use]
    pub const fn of(&self, reason: FilterReason) -> u64 {
        self.by_reason[reason as usize]
    }

    pub(super) fn add(&mut self, reason: FilterReason, count: u64) {
        self.by_reason[reason as usize] += count;
    }
}

impl fmt::Display for QuoteCounts {
    /// Formats as `1200 passed (1 a confirmed jump), 3 late`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed", self.passed)?;
        match self.confirmed {
            0 => {}
            1 => f.write_str(" (1 a confirmed jump)")?,
            confirmed => write!(f, " ({confirmed} confirmed jumps)")?,
        }
        for reason in FilterReason::ALL {
            let count = self.of(reason);
            if count > 0 {
                write!(f, ", {count} {}", reason.name())?;
            }
        }
        Ok(())
    }
}
