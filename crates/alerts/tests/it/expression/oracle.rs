//! A naive evaluator, written from the definitions, against the evaluator of the crate.

use std::collections::BTreeMap;

use alerts::expression::ast::{
    ArithmeticOperator as Operator, BooleanExpression, Comparison, CrossingDirection, MetricReference,
    NumericExpression, Relation,
};
use alerts::expression::shape::{metrics, symbols};
use alerts::expression::{Fraction, MetricValue, Truth};
use num_rational::BigRational;
use proptest::prelude::*;
use proptest::sample::select;

use super::generator::expression;
use super::support::{ValueTable, evaluate_once};

#[derive(Clone, Copy)]
enum ObservationMoment {
    Now,
    Previous,
}

#[derive(Clone, Debug)]
enum Number {
    Exact(BigRational),
    Float(f64),
}

impl Number {
    fn float(&self) -> f64 {
        match self {
            Self::Exact(number) => {
                let float = |digits: String| digits.parse::<f64>().unwrap();
                float(number.numer().to_string()) / float(number.denom().to_string())
            }
            Self::Float(number) => *number,
        }
    }
}

/// One of the generated values, in both representations.
#[derive(Clone, Debug)]
struct Choice(Option<(i64, i64, bool)>);

impl Choice {
    fn value(&self) -> Option<MetricValue> {
        let (numerator, denominator, is_exact) = self.0?;
        Some(if is_exact {
            MetricValue::Exact(Fraction::new(numerator.into(), denominator.into())?)
        } else {
            MetricValue::Approximate(numerator as f64 / denominator as f64)
        })
    }

    fn number(&self) -> Option<Number> {
        let (numerator, denominator, is_exact) = self.0?;
        Some(if is_exact {
            Number::Exact(BigRational::new(numerator.into(), denominator.into()))
        } else {
            Number::Float(numerator as f64 / denominator as f64)
        })
    }
}

struct Oracle {
    now: BTreeMap<MetricReference, Choice>,
    previous: BTreeMap<MetricReference, Choice>,
    observed: Vec<Option<market::Symbol>>,
}

impl Oracle {
    fn number(&self, number: &NumericExpression, at: ObservationMoment) -> Option<Number> {
        match number {
            NumericExpression::Constant(constant) => Some(Number::Exact(BigRational::new(
                constant.get().micros().into(),
                1_000_000.into(),
            ))),
            NumericExpression::Metric(metric) => match at {
                ObservationMoment::Now => self.now.get(metric)?.number(),
                ObservationMoment::Previous => self.previous.get(metric)?.number(),
            },
            NumericExpression::Negated(inner) => Some(match self.number(inner, at)? {
                Number::Exact(number) => Number::Exact(-number),
                Number::Float(number) => Number::Float(-number),
            }),
            NumericExpression::Arithmetic(left, operator, right) => {
                let (left, right) = (self.number(left, at)?, self.number(right, at)?);
                if let (Number::Exact(left), Number::Exact(right)) = (&left, &right) {
                    return Some(Number::Exact(match operator {
                        Operator::Add => left + right,
                        Operator::Subtract => left - right,
                        Operator::Multiply => left * right,
                        Operator::Divide if right == &BigRational::from_integer(0.into()) => return None,
                        Operator::Divide => left / right,
                    }));
                }
                let (left, right) = (left.float(), right.float());
                let result = match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide => left / right,
                };
                result.is_finite().then_some(Number::Float(result))
            }
        }
    }

    /// Returns whether the left number is less, equal or greater: −1, 0 or 1.
    fn order(&self, left: &NumericExpression, right: &NumericExpression, at: ObservationMoment) -> Option<i32> {
        let (left, right) = (self.number(left, at)?, self.number(right, at)?);
        if let (Number::Exact(left), Number::Exact(right)) = (&left, &right) {
            return Some(i32::from(left > right) - i32::from(left < right));
        }
        let (left, right) = (left.float(), right.float());
        let is_tie = (left - right).abs() <= 1e-9 * left.abs().max(right.abs());
        Some(if is_tie {
            0
        } else {
            i32::from(left > right) - i32::from(left < right)
        })
    }

    fn relation(&self, left: &NumericExpression, relation: Relation, right: &NumericExpression) -> Option<bool> {
        let order = self.order(left, right, ObservationMoment::Now)?;
        Some(match relation {
            Relation::Below => order == -1,
            Relation::AtMost => order != 1,
            Relation::Above => order == 1,
            Relation::AtLeast => order != -1,
        })
    }

    fn comparison(&self, comparison: &Comparison) -> Option<bool> {
        match comparison {
            Comparison::Relation(left, relation, right) => self.relation(left, *relation, right),
            Comparison::Between { value, low, high } => and(
                self.relation(value, Relation::AtLeast, low),
                self.relation(value, Relation::AtMost, high),
            ),
            Comparison::Crosses(left, direction, right) => {
                let mut operands = Vec::new();
                left.for_each_metric(&mut |metric| operands.push(metric));
                right.for_each_metric(&mut |metric| operands.push(metric));
                // A fact is compared at every evaluation.
                let is_compared =
                    |of: &MetricReference| self.observed.contains(&of.symbol) || of.metric.depends_on_fact();
                if !operands.iter().any(is_compared) {
                    return Some(false);
                }
                let before = self.order(left, right, ObservationMoment::Previous)?;
                let after = self.order(left, right, ObservationMoment::Now)?;
                Some(match direction {
                    CrossingDirection::Above => before == -1 && after >= 0,
                    CrossingDirection::Below => before == 1 && after <= 0,
                    CrossingDirection::Either => before * after <= 0 && before != 0,
                })
            }
        }
    }

    fn condition(&self, condition: &BooleanExpression) -> Option<bool> {
        match condition {
            BooleanExpression::Comparison(comparison) => self.comparison(comparison),
            BooleanExpression::Not(inner) => self.condition(inner).map(|holds| !holds),
            BooleanExpression::And(left, right) => and(self.condition(left), self.condition(right)),
            BooleanExpression::Or(left, right) => {
                let neither = and(
                    self.condition(left).map(|holds| !holds),
                    self.condition(right).map(|holds| !holds),
                );
                neither.map(|neither| !neither)
            }
        }
    }
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    if left == Some(false) || right == Some(false) {
        return Some(false);
    }
    Some(left? && right?)
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    let choice = prop_oneof![
        1 => Just(None),
        6 => (select(vec![-3, -1, 0, 1, 2, 3, 7, 360, 1_000_001]), select(vec![1, 1, 2, 3, 1_000_000]), any::<bool>())
            .prop_map(Some),
    ];
    prop::collection::vec(choice.prop_map(Choice), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn evaluator_agrees_with_the_oracle(
        expression in expression(1_000_000_000),
        now in choices(),
        previous in choices(),
        observed in any::<u8>(),
    ) {
        let assign = |choices: &[Choice]| -> BTreeMap<MetricReference, Choice> {
            metrics(&expression).into_iter().zip(choices.iter().cycle().cloned()).collect()
        };
        let symbols = symbols(&expression).into_iter().enumerate();
        let observed: Vec<_> = symbols.filter(|(index, _)| observed >> index & 1 == 1).map(|(_, symbol)| symbol).collect();
        let oracle = Oracle { now: assign(&now), previous: assign(&previous), observed: observed.clone() };
        let values = |choices: &BTreeMap<MetricReference, Choice>| {
            choices.iter().filter_map(|(metric, choice)| Some((*metric, choice.value()?))).collect()
        };
        let table = ValueTable {
            now: values(&oracle.now),
            previous: values(&oracle.previous),
            observed: observed.into_iter().collect(),
        };
        let expected = Truth::from(oracle.condition(expression.condition()));
        let found = evaluate_once(&expression, &table).now;
        prop_assert_eq!(found, expected, "{}", expression);
    }
}
