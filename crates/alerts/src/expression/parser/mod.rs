//! The parser: recursive descent, with the depth limited by [`MAX_DEPTH`](super::limits::MAX_DEPTH).

mod condition;
mod cursor;
mod metric;
mod number;
mod suitable;

use market::Symbol;

use super::ast::BooleanExpression;
use super::error::{ExpressionError, ExpressionProblem};
use super::lexer::{TokenKind, tokenize};
use cursor::Parser;

const JOINERS: &[&str] = &["and", "or", "the end"];

/// A parsed condition with the facts about its text.
#[derive(Debug)]
pub(super) struct ParsedCondition {
    pub(super) condition: BooleanExpression,
    /// The symbols that the text names, with their positions.
    pub(super) symbols: Vec<(Symbol, usize)>,
    /// The error of the first metric that no new alert can have.
    pub(super) unsuitable: Option<ExpressionError>,
    /// The position after the condition: in bytes from 0, and in characters from 1.
    pub(super) end: (usize, usize),
}

/// The options of the parser.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParserOptions {
    /// The alert's own symbol: metrics that name it are those without a symbol.
    pub(super) own: Option<Symbol>,
    /// The maximum length in characters.
    pub(super) max_characters: usize,
    /// Whether the price may be omitted on the left of the first comparison.
    pub(super) may_omit_price: bool,
    /// Whether other text may follow the condition.
    pub(super) may_continue: bool,
}

/// Parses a condition.
pub(super) fn parse_condition(text: &str, options: ParserOptions) -> Result<ParsedCondition, ExpressionError> {
    if text.chars().nth(options.max_characters).is_some() {
        return Err(ExpressionError::new(
            ExpressionProblem::TooLong,
            options.max_characters + 1,
        ));
    }
    let mut parser = Parser::new(tokenize(text), options.own, options.may_omit_price);
    let condition = parser.condition()?;
    let end = parser.token();
    if end.kind != TokenKind::End && !options.may_continue {
        return Err(parser.unexpected(JOINERS));
    }
    let end = (end.offset, end.position);
    Ok(ParsedCondition {
        condition,
        symbols: parser.named,
        unsuitable: parser.unsuitable,
        end,
    })
}
