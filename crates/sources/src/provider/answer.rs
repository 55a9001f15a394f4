//! What a provider answers.

use std::fmt;

use market::Symbol;
use market::records::Batch;

use crate::folder::{Excerpt, IntradayBar, Problem};

/// The records that answer an [`Ask`](super::Ask).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The records.
    pub batch: Batch,
    /// The minutes of a stretch, each symbol's in order.
    pub minutes: Vec<MinuteBar>,
    /// Whether bars are as they were traded.
    pub bars: BarsAre,
    /// The symbols that were asked for and that the provider does not know.
    pub unknown: Vec<Symbol>,
    /// The rows that are left out.
    pub faults: Faults,
}

impl Answer {
    /// Adds what another request answered.
    pub fn append(&mut self, later: Self) {
        self.batch.append(later.batch);
        self.minutes.extend(later.minutes);
        self.unknown.extend(later.unknown);
        self.faults.append(later.faults);
        if later.bars == BarsAre::AdjustedForSplits {
            self.bars = later.bars;
        }
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.len() + self.minutes.len()
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Which shares a bar's prices are per.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BarsAre {
    /// The shares of that day: splits since then are to be applied.
    #[default]
    AsTraded,
    /// Today's shares: the provider applied all splits.
    AdjustedForSplits,
}

/// A minute of a stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinuteBar {
    /// The stock.
    pub symbol: Symbol,
    /// The minute, by the instant at which it began.
    pub bar: IntradayBar,
}

/// A row that is left out. It prints as `AAPL: p "0" is not above zero; …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Of whom, as the provider writes it.
    pub of: String,
    /// The field, as the provider calls it.
    pub field: &'static str,
    /// What stands there.
    pub value: Excerpt,
    /// What is wrong with it.
    pub problem: String,
}

impl Fault {
    /// That `field` of `of` has `problem`.
    pub(super) fn new(of: &str, field: &'static str, value: &str, problem: &Problem) -> Self {
        Self::said(of, field, value, problem.to_string())
    }

    /// The same, in words.
    pub(super) fn said(of: &str, field: &'static str, value: &str, problem: impl Into<String>) -> Self {
        Self {
            of: of.chars().take(20).collect(),
            field,
            value: Excerpt::of_value(value.as_bytes()),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} {}", self.of, self.field, self.value, self.problem)
    }
}

/// Rows that are left out: all counted, the first of them in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// How many there are.
    pub count: u64,
    /// The first [`Faults::MAX_KEPT`] of them.
    pub first: Vec<Fault>,
}

impl Faults {
    /// How many are kept in full.
    pub const MAX_KEPT: usize = 100;

    /// Counts one, and keeps it if there is room.
    pub(super) fn add(&mut self, fault: Fault) {
        self.count += 1;
        if self.first.len() < Self::MAX_KEPT {
            self.first.push(fault);
        }
    }

    /// The row, unless it has a fault, which is counted.
    pub(super) fn keep<T>(&mut self, row: Result<T, Fault>) -> Option<T> {
        row.map_err(|fault| self.add(fault)).ok()
    }

    fn append(&mut self, later: Self) {
        self.count += later.count;
        let room = Self::MAX_KEPT - self.first.len();
        self.first.extend(later.first.into_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_counted_and_the_first_are_kept() {
        let mut faults = Faults::default();
        for _ in 0..=Faults::MAX_KEPT {
            faults.add(Fault::new("AAPL", "p", "0", &Problem::Empty));
        }
        let mut twice = faults.clone();
        twice.append(faults);
        assert_eq!((twice.count, twice.first.len()), (202, Faults::MAX_KEPT));
        assert_eq!(twice.first[0].to_string(), "AAPL: p \"0\" is empty; write a value");
    }
}
