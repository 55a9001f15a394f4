//! Exact numbers.

use std::cmp::Ordering;

/// A fraction with a positive denominator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    above: i128,
    below: i128,
}

impl Number {
    pub(super) fn whole(number: i64) -> Self {
        Self {
            above: number.into(),
            below: 1,
        }
    }

    pub(super) fn micros(number: i64) -> Self {
        Self::fraction(number.into(), 1_000_000)
    }

    /// # Panics
    /// Panics if the denominator is 0.
    fn fraction(above: i128, below: i128) -> Self {
        let (mut one, mut other) = (above.abs(), below.abs());
        while other != 0 {
            (one, other) = (other, one % other);
        }
        let common = one * below.signum();
        Self {
            above: above / common,
            below: below / common,
        }
    }

    pub(super) fn negated(self) -> Self {
        Self {
            above: -self.above,
            ..self
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self::fraction(
            self.above * other.below + other.above * self.below,
            self.below * other.below,
        )
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self::fraction(self.above * other.above, self.below * other.below)
    }

    /// Returns `None` for a division by zero.
    pub(super) fn divided_by(self, other: Self) -> Option<Self> {
        (other.above != 0).then(|| Self::fraction(self.above * other.below, self.below * other.above))
    }

    pub(super) fn is_positive(self) -> bool {
        self.above > 0
    }

    pub(super) fn order(self, other: Self) -> Ordering {
        (self.above * other.below).cmp(&(other.above * self.below))
    }

    pub(super) fn larger(self, other: Self) -> Self {
        if self.order(other).is_lt() { other } else { self }
    }

    pub(super) fn smaller(self, other: Self) -> Self {
        if self.order(other).is_gt() { other } else { self }
    }
}
