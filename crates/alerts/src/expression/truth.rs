//! Three-valued logic.

use std::ops::Not;

/// The truth of a condition. It is unknown if a metric that decides it has no value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It cannot be decided.
    Unknown,
}

impl Truth {
    /// Returns true only if both are true; false if one is false.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, Self::True) => Self::True,
            (Self::False, _) | (_, Self::False) => Self::False,
            _ => Self::Unknown,
        }
    }

    /// Returns false only if both are false; true if one is true.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, Self::False) => Self::False,
            (Self::True, _) | (_, Self::True) => Self::True,
            _ => Self::Unknown,
        }
    }

    /// Returns whether it is true; `None` if it is unknown.
    #[must_use]
    pub const fn known(self) -> Option<bool> {
        match self {
            Self::True => Some(true),
            Self::False => Some(false),
            Self::Unknown => None,
        }
    }

    /// Returns whether it is true.
    #[must_use]
    pub const fn is_true(self) -> bool {
        matches!(self, Self::True)
    }
}

impl Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

impl From<Option<bool>> for Truth {
    fn from(holds: Option<bool>) -> Self {
        holds.map_or(Self::Unknown, Self::from)
    }
}
