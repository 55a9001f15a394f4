//! Errors of templates, as sentences for the people who write them.

use minijinja::ErrorKind;

use super::language::{MAX_TAGS, MAX_TOKENS_PER_TAG};
use super::{FILTERS, MAX_RESULT_BYTES, MAX_SOURCE_BYTES, VARIABLES};
use crate::templates::plain;

/// Maximum length of a quoted name or problem, in characters.
const MAX_QUOTED_LENGTH: usize = 100;

/// Reason why a template cannot be used. Lines count from 1.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TemplateError {
    /// The source is too long.
    #[error("is {bytes} bytes long; a template has at most {MAX_SOURCE_BYTES} bytes")]
    SourceTooLong {
        /// Size of the source, in bytes.
        bytes: usize,
    },
    /// The result is too long.
    #[error("renders to more than {MAX_RESULT_BYTES} bytes; shorten it")]
    ResultTooLong,
    /// The template takes more steps or creates more text than templates may.
    #[error("takes too many steps; remove repetitions such as \"text\" * 1000")]
    TooManySteps,
    /// The result is empty.
    #[error("renders to an empty text; write something outside of conditions")]
    Empty,
    /// The template does not follow the syntax.
    #[error("line {line}: {problem}; close each {{{{ with }}}}, each {{% with %}} and each if with {{% endif %}}")]
    Syntax {
        /// Line.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// A variable that does not exist.
    #[error("line {line}: there is no variable `{name}`; use {}", VARIABLES.join(", "))]
    UnknownVariable {
        /// Line.
        line: usize,
        /// The name.
        name: String,
    },
    /// A filter that does not exist.
    #[error("line {line}: there is no filter `{name}`; use {}", FILTERS.join(", "))]
    UnknownFilter {
        /// Line.
        line: usize,
        /// The name.
        name: String,
    },
    /// A test that does not exist.
    #[error("line {line}: there is no test `is {name}`; use `is none`")]
    UnknownTest {
        /// Line.
        line: usize,
        /// The name.
        name: String,
    },
    /// A statement that templates do not have.
    #[error(
        "line {line}: templates have no `{{% {name} %}}`; use if, elif, else, endif, or set with a name and a value"
    )]
    UnknownStatement {
        /// Line.
        line: usize,
        /// The name.
        name: String,
    },
    /// An operator or a literal that templates do not have.
    #[error("line {line}: {symbol} is not permitted; templates have no lists, maps, attributes and powers")]
    UnknownSymbol {
        /// Line.
        line: usize,
        /// The symbol, in quotation marks.
        symbol: String,
    },
    /// An expression or statement is too long.
    #[error(
        "line {line}: the expression has more than {MAX_TOKENS_PER_TAG} names, values and operators; divide it with {{% set %}}"
    )]
    TagTooLong {
        /// Line.
        line: usize,
    },
    /// The template has too many expressions and statements.
    #[error("line {line}: a template has at most {MAX_TAGS} pairs of {{{{ }}}} and {{% %}}; remove some of them")]
    TooManyTags {
        /// Line.
        line: usize,
    },
    /// An expression cannot be evaluated.
    #[error("line {line}: {problem}; a value may be missing, so check it with {{% if … %}} first")]
    Evaluation {
        /// Line.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// The result is not JSON.
    #[error(
        "is not valid JSON at line {line}, column {column} of its result; write texts as {{{{ note|tojson }}}}, without quotation marks"
    )]
    NotJson {
        /// Line of the result.
        line: usize,
        /// Column of the result.
        column: usize,
    },
}

impl TemplateError {
    /// Returns the error of the lexer, parser or compiler.
    pub(super) fn of_syntax(error: &minijinja::Error) -> Self {
        Self::Syntax {
            line: line(error),
            problem: problem(error),
        }
    }

    /// Returns the error of a rendering.
    pub(super) fn of_rendering(error: &minijinja::Error) -> Self {
        match error.kind() {
            ErrorKind::OutOfFuel => Self::TooManySteps,
            _ => Self::Evaluation {
                line: line(error),
                problem: problem(error),
            },
        }
    }

    /// Returns the error of a payload.
    pub(super) fn of_json(error: &serde_json::Error) -> Self {
        Self::NotJson {
            line: error.line(),
            column: error.column(),
        }
    }
}

fn line(error: &minijinja::Error) -> usize {
    error.line().unwrap_or(1)
}

fn problem(error: &minijinja::Error) -> String {
    let problem = match (error.kind(), error.detail()) {
        (ErrorKind::UndefinedError, _) => "a variable has no value here".to_owned(),
        (_, Some(detail)) => detail.to_owned(),
        (kind, None) => kind.to_string(),
    };
    quoted(&problem)
}

/// Shortens a text of the template for an error.
pub(super) fn quoted(text: &str) -> String {
    plain(text, MAX_QUOTED_LENGTH)
}
