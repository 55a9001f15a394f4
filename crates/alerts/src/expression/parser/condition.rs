//! Conditions and comparisons.

use super::cursor::{ParseResult, Parser};
use crate::expression::ast::{BooleanExpression, Comparison, CrossingDirection, NumericExpression, Relation};
use crate::expression::error::{ExpressionError, ExpressionProblem};
use crate::expression::lexer::TokenKind;
use crate::expression::limits::MAX_NUMBERS_OF_COMPARISON;
use crate::expression::words::{OPERATOR_SIGNS, OPERATOR_WORDS, RELATION_SUFFIXES, RELATION_WORDS};

const COMPARISONS: &[&str] = &["<", "<=", ">", ">=", "between", "crosses"];
const RELATIONS: &[&str] = &["<", "<=", ">", ">=", "below", "above"];

/// A part of an expression whose type is known only after it was parsed: parentheses may contain both.
pub(super) enum Part {
    Condition(BooleanExpression),
    Number(NumericExpression),
}

impl Parser<'_> {
    /// Parses a condition with `or`, `and`, `not` and comparisons.
    pub(super) fn condition(&mut self) -> ParseResult<BooleanExpression> {
        let part = self.part()?;
        self.require_condition(part)
    }

    /// Parses a condition, or a number within parentheses.
    pub(super) fn part(&mut self) -> ParseResult<Part> {
        let mut left = self.conjunction()?;
        while self.pass(&["or"]) {
            let first = self.require_condition_before(left)?;
            let second = self.conjunction()?;
            let second = self.require_condition(second)?;
            left = Part::Condition(BooleanExpression::Or(Box::new(first), Box::new(second)));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> ParseResult<Part> {
        let mut left = self.negation()?;
        while self.pass(&["and"]) || self.pass(&["while"]) {
            let first = self.require_condition_before(left)?;
            let second = self.negation()?;
            let second = self.require_condition(second)?;
            left = Part::Condition(BooleanExpression::And(Box::new(first), Box::new(second)));
        }
        Ok(left)
    }

    fn negation(&mut self) -> ParseResult<Part> {
        let position = self.position();
        if !self.pass(&["not"]) {
            return self.comparison();
        }
        self.nested(position, |parser| {
            let inner = parser.negation()?;
            let inner = parser.require_condition(inner)?;
            Ok(Part::Condition(BooleanExpression::Not(Box::new(inner))))
        })
    }

    fn comparison(&mut self) -> ParseResult<Part> {
        let start = self.position();
        let numbers_before = self.numbers();
        let left = self.sum()?;
        let is_compared = self.is_at_operator() || matches!(self.token().kind, TokenKind::Number(_));
        let left = match left {
            Part::Number(left) if is_compared => left,
            Part::Condition(_) if self.is_at_operator() => return Err(self.compared_condition()),
            part => return Ok(part),
        };
        self.count_comparison(start)?;
        let comparison = self.operator_and_right_side(left)?;
        if self.is_at_operator() {
            return Err(self.compared_condition());
        }
        if self.numbers() - numbers_before > MAX_NUMBERS_OF_COMPARISON {
            return Err(ExpressionError::new(ExpressionProblem::TooManyNumbers, start));
        }
        let (compared, is_negated) = comparison;
        if compared.operands().iter().all(|operand| operand.is_constant()) {
            return Err(ExpressionError::new(ExpressionProblem::ConstantComparison, start));
        }
        let comparison = BooleanExpression::Comparison(compared);
        Ok(Part::Condition(if is_negated {
            BooleanExpression::Not(Box::new(comparison))
        } else {
            comparison
        }))
    }

    /// Returns whether the operator of a comparison is next.
    pub(super) fn is_at_operator(&self) -> bool {
        OPERATOR_SIGNS.iter().any(|sign| self.is_at_sign(sign))
            || OPERATOR_WORDS.iter().any(|word| self.is_at(&[word])) && !self.is_at_option()
    }

    /// Returns whether an option of a text is next that begins like an operator.
    fn is_at_option(&self) -> bool {
        self.is_at(&["at", "most", "every"]) || self.is_at(&["at", "the", "close"])
    }

    /// Parses the rest of a comparison. Returns it with whether the words negate it.
    fn operator_and_right_side(&mut self, left: NumericExpression) -> ParseResult<(Comparison, bool)> {
        if self.pass(&["does", "not", "cross"]) || self.pass(&["do", "not", "cross"]) {
            return Ok((self.crossing(left)?, true));
        }
        if self.pass(&["crosses"]) || self.pass(&["cross"]) {
            return Ok((self.crossing(left)?, false));
        }
        if self.pass(&["falls", "to"]) {
            return self.movement(left, (&["or", "below"], Relation::AtMost), "or below");
        }
        if self.pass(&["rises", "to"]) {
            return self.movement(left, (&["or", "above"], Relation::AtLeast), "or above");
        }
        if self.pass(&["falls"]) || self.pass(&["rises"]) {
            let relation = self
                .relation()
                .ok_or_else(|| self.unexpected(&["to", "below", "above"]))?;
            return self.relation_with(left, relation, false);
        }
        let has_verb = self.pass(&["is"]) || self.pass(&["are"]);
        let is_negated = has_verb && self.pass(&["not"]);
        if self.pass(&["between"]) {
            let low = self.number()?;
            if !self.pass(&["and"]) {
                return Err(self.unexpected(&["and"]));
            }
            let high = self.number()?;
            let comparison = Comparison::Between { value: left, low, high };
            return Ok((comparison, is_negated));
        }
        if let Some(relation) = self.relation() {
            return self.relation_with(left, relation, is_negated);
        }
        if self.is_at_operator() {
            return Err(self.unexpected(COMPARISONS));
        }
        let right = self.number()?;
        let suffix = self.pass_any(RELATION_SUFFIXES);
        let relation = suffix.ok_or_else(|| self.unexpected(&["or below", "or above"]))?;
        Ok((Comparison::Relation(left, relation, right), is_negated))
    }

    fn relation_with(
        &mut self,
        left: NumericExpression,
        relation: Relation,
        is_negated: bool,
    ) -> ParseResult<(Comparison, bool)> {
        let right = self.number()?;
        Ok((Comparison::Relation(left, relation, right), is_negated))
    }

    /// Parses the rest of `falls to 180 or below`.
    fn movement(
        &mut self,
        left: NumericExpression,
        (suffix, relation): (&[&str], Relation),
        expected: &'static str,
    ) -> ParseResult<(Comparison, bool)> {
        let right = self.number()?;
        if !self.pass(suffix) {
            return Err(self.unexpected(&[expected]));
        }
        Ok((Comparison::Relation(left, relation, right), false))
    }

    fn crossing(&mut self, left: NumericExpression) -> ParseResult<Comparison> {
        let direction = if self.pass(&["above"]) {
            CrossingDirection::Above
        } else if self.pass(&["below"]) {
            CrossingDirection::Below
        } else {
            CrossingDirection::Either
        };
        Ok(Comparison::Crosses(left, direction, self.number()?))
    }

    fn relation(&mut self) -> Option<Relation> {
        let sign = Relation::ALL
            .into_iter()
            .find(|relation| self.pass_sign(relation.operator()));
        sign.or_else(|| self.pass_any(RELATION_WORDS))
    }

    fn compared_condition(&self) -> ExpressionError {
        ExpressionError::new(ExpressionProblem::ComparedCondition, self.position())
    }

    /// Returns the condition, or the error that a number ends at the current token.
    fn require_condition(&self, part: Part) -> ParseResult<BooleanExpression> {
        match part {
            Part::Condition(condition) => Ok(condition),
            Part::Number(_) if self.is_at(&["at"]) => Err(self.unexpected(RELATIONS)),
            Part::Number(_) => Err(self.unexpected(COMPARISONS)),
        }
    }

    /// Like [`Self::require_condition`], for the side before an `and` or `or` that was just passed.
    fn require_condition_before(&mut self, part: Part) -> ParseResult<BooleanExpression> {
        self.at -= 1;
        let condition = self.require_condition(part);
        self.at += 1;
        condition
    }
}
