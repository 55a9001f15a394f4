//! What came of the quotes.

use std::fmt;

use super::Reason;

/// How many quotes there were of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Let through.
    pub passed: u64,
    /// Of them, jumps that were confirmed.
    pub confirmed: u64,
    by_reason: [u64; Reason::ALL.len()],
}

impl Counts {
    /// How many were not let through for `reason`.
    #[must_use]
    pub const fn of(&self, reason: Reason) -> u64 {
        self.by_reason[reason as usize]
    }

    pub(super) fn add(&mut self, reason: Reason, count: u64) {
        self.by_reason[reason as usize] += count;
    }
}

impl fmt::Display for Counts {
    /// Prints as `1200 passed (1 a confirmed jump), 3 late`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed", self.passed)?;
        match self.confirmed {
            0 => {}
            1 => f.write_str(" (1 a confirmed jump)")?,
            confirmed => write!(f, " ({confirmed} confirmed jumps)")?,
        }
        for reason in Reason::ALL {
            let count = self.of(reason);
            if count > 0 {
                write!(f, ", {count} {}", reason.name())?;
            }
        }
        Ok(())
    }
}
