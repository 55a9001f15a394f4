//! The time for which a crossing counts as true.

use std::cmp::Ordering;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use super::ast::Comparison;
use super::evaluate::{MetricValues, compare_numbers};
use super::model::Expression;

/// The option `within`: the time for which every `crosses` of an expression counts as true after a crossing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Within {
    /// A duration of calendar time, one minute to 30 days; its end is included.
    Duration(SignedDuration),
    /// To the close of the session of the crossing.
    Session,
}

/// The reason why a text is not a [`Within`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be \"session\" or a duration from 1m to 30d, such as \"15m\", \"2h\" or \"5d\"")]
pub struct WithinError;

impl FromStr for Within {
    type Err = WithinError;

    fn from_str(text: &str) -> Result<Self, WithinError> {
        const MAX_MINUTES: i64 = 30 * 24 * 60;
        if text.eq_ignore_ascii_case("session") {
            return Ok(Self::Session);
        }
        let (digits, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or(WithinError)?;
        let minutes_per_unit = match unit {
            "m" => 1,
            "h" => 60,
            "d" => 24 * 60,
            _ => return Err(WithinError),
        };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(WithinError);
        }
        let number: i64 = digits.parse().map_err(|_| WithinError)?;
        let minutes = number.checked_mul(minutes_per_unit).ok_or(WithinError)?;
        if !(1..=MAX_MINUTES).contains(&minutes) {
            return Err(WithinError);
        }
        Ok(Self::Duration(SignedDuration::from_mins(minutes)))
    }
}

/// The state of each `crosses` of an expression, in the order of the text. A new one remembers none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Crossings {
    within: Option<Within>,
    crossings: Vec<Crossing>,
}

/// The state of one `crosses`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Crossing {
    /// The order of its two sides at the last observation of their stocks; `None` if one had no value.
    order: Option<Ordering>,
    /// The end of the time for which the latest crossing since the alert was armed counts as true.
    until: Option<Timestamp>,
}

impl Crossings {
    /// Returns no crossings, with the option `within` of the alert.
    #[must_use]
    pub const fn new(within: Option<Within>) -> Self {
        Self {
            within,
            crossings: Vec::new(),
        }
    }

    /// Records a crossing of the `crosses` with this index.
    pub(super) fn record(&mut self, index: usize, now: Timestamp, session_close: Timestamp) {
        let Some(within) = self.within else {
            return;
        };
        let until = match within {
            Within::Duration(duration) => now.checked_add(duration).unwrap_or(Timestamp::MAX),
            Within::Session => session_close,
        };
        self.crossing(index).until = Some(until);
    }

    fn crossing(&mut self, index: usize) -> &mut Crossing {
        if self.crossings.len() <= index {
            self.crossings.resize(index + 1, Crossing::default());
        }
        &mut self.crossings[index]
    }

    /// Stores the order of the two sides at an observation and returns the one before.
    pub(super) fn replace_order(&mut self, index: usize, order: Option<Ordering>) -> Option<Ordering> {
        std::mem::replace(&mut self.crossing(index).order, order)
    }

    /// Returns the order of the two sides of each `crosses` at the last observation, in the order of the text.
    #[must_use]
    pub fn orders(&self) -> Vec<Option<Ordering>> {
        self.crossings.iter().map(|crossing| crossing.order).collect()
    }

    /// Returns the next instant after `now` at which a crossing ceases to count.
    #[must_use]
    pub fn next_end(&self, now: Timestamp) -> Option<Timestamp> {
        let ends = self.crossings.iter().filter_map(|crossing| crossing.until);
        ends.filter(|&end| end >= now).min()
    }

    /// Forgets the crossings, as the alert is armed anew, but not the orders.
    pub fn forget(&mut self) {
        for crossing in &mut self.crossings {
            crossing.until = None;
        }
    }

    /// Stores the orders at an observation from before the alert was armed. It makes no crossing.
    pub fn observe(&mut self, expression: &Expression, values: &impl MetricValues) {
        let mut index = 0;
        expression.condition().for_each_comparison(&mut |comparison| {
            if let Comparison::Crosses(left, _, right) = comparison {
                let _ = self.replace_order(index, compare_numbers(left, right, values));
                index += 1;
            }
        });
    }

    /// Returns whether the latest crossing still counts.
    pub(super) fn counts(&self, index: usize, now: Timestamp) -> bool {
        let latest = self.crossings.get(index).and_then(|crossing| crossing.until);
        latest.is_some_and(|until| now <= until)
    }
}
