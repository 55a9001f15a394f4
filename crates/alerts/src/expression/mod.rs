//! # Expressions: the language of rules
//!
//! An expression is a condition that users write themselves: `rsi(14) < 30 and price > sma(200)`. This module parses, prints,
//! analyses and evaluates expressions. It is pure: the values of metrics come from a [`MetricValues`].
//!
//! * [`ast`]: the syntax tree; conditions and numbers are different types. [`Expression`] is a tree within the limits.
//! * [`metric`]: the metrics and the table that describes them.
//! * The parser reads operators and words; its errors ([`ExpressionError`]) name the position and the fix.
//! * The printer writes the canonical text ([`Expression`]'s `Display`) and a plain sentence ([`Expression::sentence`]). Both
//!   parse to the same expression.
//! * [`evaluate()`]: evaluation in three-valued logic ([`Truth`]) with exact fractions ([`Fraction`]).
//! * [`shape`]: analyses for the engine, such as the prices at which the truth can change.
//! * [`conversion`]: the conditions of the API as expressions, and back.

pub mod ast;
mod check;
pub mod conversion;
mod crossing;
mod error;
mod evaluate;
mod fraction;
mod lexer;
mod limits;
pub mod metric;
mod model;
mod parser;
mod print;
mod sentence;
pub mod shape;
mod shares;
mod suggest;
mod truth;
mod value;
mod words;

pub(crate) use check::max_numbers;
pub use crossing::{Crossings, Within, WithinError};
pub use error::{ExpressionError, ExpressionProblem, NumberProblem};
pub use evaluate::{EvaluatedTruth, EvaluationTime, MetricValues, compare_numbers, evaluate, number_value};
pub use fraction::Fraction;
pub use limits::{
    MAX_CHARACTERS, MAX_CHARACTERS_IN_WORDS, MAX_COMPARISONS, MAX_DEPTH, MAX_NUMBERS_OF_COMPARISON, MAX_SYMBOLS,
};
pub(crate) use model::leading_symbol;
pub use model::{Expression, ParsedExpression, ParsedText};
pub(crate) use suggest::nearest as nearest_names;
pub use truth::Truth;
pub use value::{MetricValue, RELATIVE_TOLERANCE};
