//! Conditions that are expressions.

use super::spec::{ConditionSpec, ParameterRule, ParameterSpec, RequestSpec, parameter};
use super::{Condition, ConditionFamily};
use crate::expression::metric::MetricFamily;
use crate::expression::shape::family;
use crate::expression::{Expression, Within};

/// The parameter with the text of an expression.
pub(crate) const WHEN: &str = "when";

/// The parameter with the time for which a crossing counts.
const WITHIN: &str = "within";

pub(super) const EXPRESSION: ConditionSpec = ConditionSpec {
    name: "expression",
    family: ConditionFamily::Technical,
    label: "Expression",
    fires_when: "the expression becomes true",
    needs: "the data of its metrics",
    request: &RequestSpec {
        name: "ExpressionAlert",
        description: "An expression of comparisons becomes true.",
        threshold: None,
        parameters: &[
            ParameterSpec {
                is_required: true,
                ..parameter(WHEN, "The expression.", ParameterRule::Expression)
            },
            parameter(
                WITHIN,
                "The time for which each `crosses` counts as true, such as `15m`, or `session`. Without it, a crossing counts \
                 for its own observation only.",
                ParameterRule::Within,
            ),
        ],
    },
    example: r#"{"symbol": "AAPL", "condition": "expression", "parameters": {"when": "rsi(14) < 30 and price > sma(200)"}}"#,
    build: |values| {
        let within = values.word(WITHIN).map(str::parse).transpose().ok()?;
        // The normal form names the alert's own stock nowhere.
        let expression = values.word(WHEN)?.parse().ok()?;
        Some(Condition::expression(expression, within))
    },
};

/// An expression as the condition of an alert.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExpressionCondition {
    /// The expression.
    pub expression: Expression,
    /// The time for which each `crosses` counts as true.
    pub within: Option<Within>,
}

impl ExpressionCondition {
    /// Returns the family that decides which plans include the expression: prices, if it depends on prices alone.
    pub(super) fn family(&self) -> ConditionFamily {
        match family(&self.expression) {
            MetricFamily::Price => ConditionFamily::Price,
            MetricFamily::Premium => EXPRESSION.family,
        }
    }
}
