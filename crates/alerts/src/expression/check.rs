//! The limits of a tree that was not built by the parser, which checks them as it reads.

use market::Symbol;

use super::ast::{BooleanExpression, Comparison, NumericExpression};
use super::error::ExpressionProblem;
use super::limits::{MAX_CHARACTERS, MAX_COMPARISONS, MAX_DEPTH, MAX_NUMBERS_OF_COMPARISON, MAX_SYMBOLS};
use super::model::Expression;
use super::print::{PrintStyle, print};

/// Checks the limits of a condition, and that every comparison has a metric.
pub(super) fn check(condition: &BooleanExpression) -> Result<(), ExpressionProblem> {
    let mut comparisons = Vec::new();
    condition.for_each_comparison(&mut |comparison| comparisons.push(comparison));
    if comparisons.len() > MAX_COMPARISONS {
        return Err(ExpressionProblem::TooManyComparisons);
    }
    if comparisons
        .iter()
        .any(|comparison| numbers(comparison) > MAX_NUMBERS_OF_COMPARISON)
    {
        return Err(ExpressionProblem::TooManyNumbers);
    }
    let is_constant = |operand: &&NumericExpression| operand.is_constant();
    if comparisons
        .iter()
        .any(|comparison| comparison.operands().iter().all(is_constant))
    {
        return Err(ExpressionProblem::ConstantComparison);
    }
    let mut symbols: Vec<Option<Symbol>> = Vec::new();
    condition.for_each_metric(&mut |metric| {
        if !symbols.contains(&metric.symbol) {
            symbols.push(metric.symbol);
        }
    });
    if symbols.len() > MAX_SYMBOLS {
        return Err(ExpressionProblem::TooManySymbols);
    }
    let (compact, depth) = print(condition, PrintStyle::Compact);
    if depth > MAX_DEPTH {
        return Err(ExpressionProblem::TooDeep);
    }
    if compact.chars().count() > MAX_CHARACTERS {
        return Err(ExpressionProblem::TooLong);
    }
    Ok(())
}

/// Returns the largest number of constants and metrics of a comparison.
pub(crate) fn max_numbers(expression: &Expression) -> usize {
    let mut max = 0;
    expression
        .condition()
        .for_each_comparison(&mut |comparison| max = max.max(numbers(comparison)));
    max
}

/// Returns the number of constants and metrics of a comparison.
fn numbers(comparison: &Comparison) -> usize {
    comparison.operands().iter().map(|operand| numbers_of(operand)).sum()
}

fn numbers_of(expression: &NumericExpression) -> usize {
    match expression {
        NumericExpression::Constant(_) | NumericExpression::Metric(_) => 1,
        NumericExpression::Negated(inner) => numbers_of(inner),
        NumericExpression::Arithmetic(left, _, right) => numbers_of(left) + numbers_of(right),
    }
}
