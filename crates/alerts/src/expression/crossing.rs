//! The crossings of an expression, and the time for which they count as true.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use super::ast::Comparison;
use super::evaluate::{MetricValues, compare_numbers};
use super::metric::Metric;
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

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(duration) => write!(f, "{}m", duration.as_mins()),
            Self::Session => f.write_str("session"),
        }
    }
}

/// The state of each `crosses` of an expression, in the order of the text: the order of its two sides at the last observation of
/// their stocks, and its crossings since the alert was armed. A new one knows neither.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Crossings {
    within: Option<Within>,
    /// The end of the time for which each `crosses` counts as true; shorter if the others have none.
    until: Vec<Option<Timestamp>>,
    /// The orders of the sides; `None` if a side had no value. Shorter if the others have none.
    orders: Vec<Option<Ordering>>,
}

impl Crossings {
    /// Returns no crossings, with the option `within` of the alert.
    #[must_use]
    pub const fn new(within: Option<Within>) -> Self {
        Self {
            within,
            until: Vec::new(),
            orders: Vec::new(),
        }
    }

    /// Returns crossings with these ends and orders of the sides, one for each `crosses` in the order of the text.
    #[must_use]
    pub const fn restored(
        within: Option<Within>,
        until: Vec<Option<Timestamp>>,
        orders: Vec<Option<Ordering>>,
    ) -> Self {
        Self { within, until, orders }
    }

    /// Returns these crossings with the orders of the sides at an observation.
    #[must_use]
    pub fn with_orders_at(mut self, expression: &Expression, values: &impl MetricValues) -> Self {
        self.orders.clear();
        expression.condition().for_each_comparison(&mut |comparison| {
            if let Comparison::Crosses(left, _, right) = comparison {
                self.orders.push(compare_numbers(left, right, values));
            }
        });
        self
    }

    /// Returns whether the orders of the sides are those at an observation.
    #[must_use]
    pub fn has_orders_at(&self, expression: &Expression, values: &impl MetricValues) -> bool {
        let mut orders = self.orders.iter();
        let mut are_same = true;
        expression.condition().for_each_comparison(&mut |comparison| {
            if let Comparison::Crosses(left, _, right) = comparison {
                are_same &= orders.next().copied().flatten() == compare_numbers(left, right, values);
            }
        });
        are_same
    }

    /// Returns these crossings after extremes have begun anew: the orders of sides with extremes since arming are those at this
    /// observation.
    #[must_use]
    pub fn with_new_extremes(mut self, expression: &Expression, values: &impl MetricValues) -> Self {
        let mut orders = self.orders.iter_mut();
        expression.condition().for_each_comparison(&mut |comparison| {
            let Comparison::Crosses(left, _, right) = comparison else {
                return;
            };
            let mut uses_extremes = false;
            for side in [left, right] {
                side.for_each_metric(&mut |metric| {
                    uses_extremes |= matches!(metric.metric, Metric::HighSinceArmed | Metric::LowSinceArmed);
                });
            }
            if let Some(order) = orders.next().filter(|_| uses_extremes) {
                *order = compare_numbers(left, right, values);
            }
        });
        self
    }

    /// Returns the state when the alert is armed again: the crossings are forgotten, the orders of the sides stay.
    #[must_use]
    pub fn rearmed(&self) -> Self {
        Self {
            until: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the option `within`.
    #[must_use]
    pub const fn within(&self) -> Option<Within> {
        self.within
    }

    /// Returns the last instant at which each `crosses` counts as true, in the order of the text.
    #[must_use]
    pub fn until(&self) -> &[Option<Timestamp>] {
        &self.until
    }

    /// Returns the order of the sides of each `crosses` at the last observation, in the order of the text.
    #[must_use]
    pub fn orders(&self) -> &[Option<Ordering>] {
        &self.orders
    }

    /// Forgets the crossings that do not count any more at an instant.
    pub fn forget_ended(&mut self, now: Timestamp) {
        for until in &mut self.until {
            *until = until.filter(|&until| now <= until);
        }
        if self.until.iter().all(Option::is_none) {
            self.until.clear();
        }
    }

    /// Returns the first instant at which a crossing does not count any more.
    #[must_use]
    pub fn next_end(&self) -> Option<Timestamp> {
        let last = self.until.iter().copied().flatten().min()?;
        last.checked_add(SignedDuration::from_nanos(1)).ok()
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
        if self.until.len() <= index {
            self.until.resize(index + 1, None);
        }
        self.until[index] = Some(until);
    }

    /// Stores the order of the sides at an observation and returns the previous one.
    pub(super) fn replace_order(&mut self, index: usize, order: Option<Ordering>) -> Option<Ordering> {
        if self.orders.len() <= index {
            self.orders.resize(index + 1, None);
        }
        std::mem::replace(&mut self.orders[index], order)
    }

    /// Returns whether the latest crossing still counts.
    pub(super) fn counts(&self, index: usize, now: Timestamp) -> bool {
        self.until
            .get(index)
            .copied()
            .flatten()
            .is_some_and(|until| now <= until)
    }
}
