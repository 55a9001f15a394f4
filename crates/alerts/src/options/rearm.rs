//! The level at which a condition is armed again.

use std::cmp::Ordering;

use market::{Decimal, MICROS_PER_UNIT};

use super::Rearm;
use crate::condition::{Condition, RsiDirection, Side};
use crate::expression::ast::Relation;
use crate::expression::conversion::from_condition;
use crate::expression::shape::metric_level;
use crate::expression::{Fraction, MetricValue};

/// A condition that compares one metric with a number.
///
/// The number is in the unit of the alert's threshold: `price_change_down` with 5 compares the fall in percent, and
/// `volume_change` with 50 the percentage above the average.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConditionLevel {
    relation: Relation,
    level: Fraction,
}

/// Returns the level of `rearm` for the expression that a condition means the same as: there, a fall in percent is negative, and a
/// volume is a ratio to its average.
pub(crate) fn rearm_of_expression(condition: &Condition, rearm: Rearm) -> Rearm {
    const HUNDRED: i64 = 100;
    let at = |micros: i128| i64::try_from(micros).map_or(rearm, |micros| Rearm::At(Decimal::from_micros(micros)));
    match (condition, rearm) {
        (Condition::PriceChange { side: Side::Below, .. }, Rearm::At(percent)) => at(-i128::from(percent.micros())),
        (Condition::VolumeChange { .. }, Rearm::At(percent)) => {
            at(i128::from(MICROS_PER_UNIT) + i128::from(percent.micros() / HUNDRED))
        }
        (Condition::VolumeChange { percent, .. }, Rearm::Percent(distance)) => {
            let left = i128::from(HUNDRED * MICROS_PER_UNIT) - i128::from(distance.micros());
            let percent = i128::from(percent.micros()) * left / i128::from(HUNDRED * MICROS_PER_UNIT);
            at(i128::from(MICROS_PER_UNIT) + percent / i128::from(HUNDRED))
        }
        (_, rearm) => rearm,
    }
}

impl ConditionLevel {
    /// Returns the level, if the condition compares one metric with a number. An RSI in both directions has none, because its
    /// direction depends on the RSI at activation.
    #[must_use]
    pub fn of(condition: &Condition) -> Option<Self> {
        let converted = match condition {
            &Condition::PriceChange { percent, .. } => return Some(Self::at_least(percent)),
            // The expression of any other percentage is no comparison of one metric.
            &Condition::VolumeChange { percent, .. } if percent.micros() % 100 == 0 => {
                return Some(Self::at_least(percent));
            }
            Condition::Rsi {
                direction: RsiDirection::Both,
                ..
            } => return None,
            Condition::Expression(condition) => metric_level(&condition.expression),
            named => metric_level(&from_condition(named)?),
        };
        converted.map(|found| Self {
            relation: found.relation,
            level: found.level,
        })
    }

    fn at_least(level: Decimal) -> Self {
        Self {
            relation: Relation::AtLeast,
            level: level.into(),
        }
    }

    /// Returns the relation of the metric to the level.
    #[must_use]
    pub const fn relation(&self) -> Relation {
        self.relation
    }

    /// Returns the level at which the condition is armed again. A percentage is of the level: 2 below 200 is 196.
    #[must_use]
    pub fn rearm_level(&self, rearm: Rearm) -> Fraction {
        let percent = match rearm {
            Rearm::At(level) => return level.into(),
            Rearm::Percent(percent) => percent,
        };
        let size = if self.level < Fraction::ZERO {
            self.level.negate()
        } else {
            self.level.clone()
        };
        let hundredth = Fraction::from_micros(10_000);
        let distance = size.multiply(&percent.into()).multiply(&hundredth);
        if self.relation.is_upward() {
            self.level.subtract(&distance)
        } else {
            self.level.add(&distance)
        }
    }

    /// Returns whether the condition is true at a value of its metric.
    #[must_use]
    pub fn is_true_at(&self, value: &Fraction) -> bool {
        self.relation.holds(value.cmp(&self.level))
    }

    /// Returns whether the metric has returned to the re-arm level; the level itself counts. A value beyond the range of floats
    /// has not.
    #[must_use]
    pub fn is_rearm_level_reached(&self, rearm: Rearm, value: &MetricValue) -> bool {
        let order = value.compare(&MetricValue::Exact(self.rearm_level(rearm)));
        let beyond = if self.relation.is_upward() {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        order.is_some_and(|order| order == beyond || order == Ordering::Equal)
    }
}
