//! The previous orders of the sides of crossings.

use std::cmp::Ordering;

use super::ast::Comparison;
use super::evaluate::{MetricValues, compare_numbers};
use super::model::Expression;

/// The order of the two sides of each `crosses` of an expression at the last observation of their stocks, in the order of the text;
/// `None` if a side had no value. A new one knows no observation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SideOrders(Vec<Option<Ordering>>);

impl SideOrders {
    /// Returns the orders at an observation.
    #[must_use]
    pub fn at(expression: &Expression, values: &impl MetricValues) -> Self {
        let mut orders = Self::default();
        expression.condition().for_each_comparison(&mut |comparison| {
            if let Comparison::Crosses(left, _, right) = comparison {
                orders.0.push(compare_numbers(left, right, values));
            }
        });
        orders
    }

    /// Stores the order at an observation and returns the previous one.
    pub(super) fn replace(&mut self, crossing: usize, order: Option<Ordering>) -> Option<Ordering> {
        if self.0.len() <= crossing {
            self.0.resize(crossing + 1, None);
        }
        std::mem::replace(&mut self.0[crossing], order)
    }
}
