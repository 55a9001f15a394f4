//! Numbers and arithmetic.

use super::condition::Part;
use super::cursor::{ParseResult, Parser};
use crate::expression::ast::{ArithmeticOperator, Constant, MetricReference, NumericExpression};
use crate::expression::error::{ExpressionError, ExpressionProblem};
use crate::expression::lexer::TokenKind;
use crate::expression::metric::Metric;

const NUMBERS: &[&str] = &["a number", "a metric", "(", "-"];
const CLOSING: &[&str] = &[")", "and", "or"];

const SUMS: [ArithmeticOperator; 2] = [ArithmeticOperator::Add, ArithmeticOperator::Subtract];
const PRODUCTS: [ArithmeticOperator; 2] = [ArithmeticOperator::Multiply, ArithmeticOperator::Divide];

impl Parser<'_> {
    /// Parses a side of a comparison.
    pub(super) fn number(&mut self) -> ParseResult<NumericExpression> {
        let start = self.position();
        match self.sum()? {
            Part::Number(number) => Ok(number),
            Part::Condition(_) => Err(ExpressionError::new(ExpressionProblem::ComparedCondition, start)),
        }
    }

    /// Parses sums, or a condition within parentheses.
    pub(super) fn sum(&mut self) -> ParseResult<Part> {
        self.chain(SUMS, |parser| parser.chain(PRODUCTS, Self::factor))
    }

    /// Parses operands with operators of one precedence, from left to right.
    fn chain(
        &mut self,
        operators: [ArithmeticOperator; 2],
        operand: impl Fn(&mut Self) -> ParseResult<Part>,
    ) -> ParseResult<Part> {
        let mut left = operand(self)?;
        while let Some(operator) = self.arithmetic_operator(operators) {
            let arithmetic = |position| ExpressionError::new(ExpressionProblem::ArithmeticOnCondition, position);
            let Part::Number(first) = left else {
                return Err(arithmetic(self.position()));
            };
            self.advance();
            let start = self.position();
            let Part::Number(second) = operand(self)? else {
                return Err(arithmetic(start));
            };
            left = Part::Number(NumericExpression::Arithmetic(
                Box::new(first),
                operator,
                Box::new(second),
            ));
        }
        Ok(left)
    }

    fn arithmetic_operator(&self, operators: [ArithmeticOperator; 2]) -> Option<ArithmeticOperator> {
        let mut buffer = [0; 4];
        operators
            .into_iter()
            .find(|operator| self.is_at_sign(operator.operator().encode_utf8(&mut buffer)))
    }

    fn factor(&mut self) -> ParseResult<Part> {
        let position = self.position();
        if self.may_omit_price && self.at == 0 && self.is_at_operator() {
            let symbol = self.count_symbol(None, position)?;
            let metric = Metric::Price;
            return Ok(Part::Number(NumericExpression::Metric(MetricReference {
                symbol,
                metric,
            })));
        }
        if self.pass_sign("-") {
            return self.nested(position, |parser| {
                let start = parser.position();
                match parser.factor()? {
                    Part::Number(inner) => Ok(Part::Number(NumericExpression::Negated(Box::new(inner)))),
                    Part::Condition(_) => Err(ExpressionError::new(ExpressionProblem::ArithmeticOnCondition, start)),
                }
            });
        }
        if self.pass_sign("(") {
            return self.nested(position, |parser| {
                let inner = parser.part()?;
                if parser.pass_sign(")") {
                    Ok(inner)
                } else {
                    Err(parser.unexpected(CLOSING))
                }
            });
        }
        if let TokenKind::Number(number) = self.token().kind
            && let Some(constant) = Constant::new(number)
        {
            self.count_number(position)?;
            self.advance();
            return Ok(Part::Number(NumericExpression::Constant(constant)));
        }
        let metric = self.metric()?.ok_or_else(|| self.unexpected(NUMBERS))?;
        self.count_number(position)?;
        Ok(Part::Number(NumericExpression::Metric(metric)))
    }
}
