//! The reasons why a text is not an expression.

use std::fmt;

use super::limits::{MAX_CHARACTERS, MAX_COMPARISONS, MAX_DEPTH, MAX_NUMBERS_OF_COMPARISON, MAX_SYMBOLS};

/// The reason why a text is not an expression. It is displayed as a sentence with the position and the fix.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct ExpressionError {
    /// The problem.
    pub problem: ExpressionProblem,
    /// The position in Unicode characters, from 1; the end of the text is its length + 1.
    pub position: usize,
    /// The texts that are possible at the position, or what the problem demands.
    pub expected: Vec<String>,
    /// The nearest known names, the best first.
    pub suggestions: Vec<String>,
}

/// A problem in the text of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExpressionProblem {
    /// The text is longer than the limit.
    TooLong,
    /// There are more comparisons than the limit.
    TooManyComparisons,
    /// A comparison has too many constants and metrics.
    TooManyNumbers,
    /// There are more symbols than the limit.
    TooManySymbols,
    /// A place is nested deeper than the limit.
    TooDeep,
    /// The text ends too early.
    UnexpectedEnd,
    /// A word or sign is not possible here.
    Unexpected(String),
    /// A character is not part of the language.
    UnknownCharacter(char),
    /// An operator of other languages: `=`, `==`, `!=`.
    Equality,
    /// A suffix such as `@5m`, which is reserved.
    Timeframe,
    /// A quote is not closed.
    UnclosedQuote,
    /// A number is malformed.
    MalformedNumber(NumberProblem),
    /// No metric has this name.
    UnknownMetric(String),
    /// A symbol is malformed.
    MalformedSymbol(String),
    /// No stock has this symbol.
    UnknownSymbol(String),
    /// Words do not name a metric.
    UnknownPhrase(String),
    /// A metric needs its arguments.
    MissingArguments(String),
    /// A metric has no arguments, or another number of them.
    ArgumentCount(String),
    /// An argument is out of range: the metric's usage, the argument's name, and the allowed values.
    Argument(String, &'static str, &'static str),
    /// A comparison contains no metric.
    ConstantComparison,
    /// A comparison is compared.
    ComparedCondition,
    /// Arithmetic contains a condition.
    ArithmeticOnCondition,
    /// A part of a text that does not fit the rest, and the fix.
    Unsuitable(String, String),
}

/// A problem of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberProblem {
    /// It has more than six decimals.
    TooManyDecimals,
    /// It is too large.
    TooLarge,
    /// Its end is not a digit: an exponent, a separator or a letter.
    Suffix,
    /// It has no digit after the point.
    MissingDecimals,
}

impl ExpressionError {
    pub(super) fn new(problem: ExpressionProblem, position: usize) -> Self {
        Self {
            expected: problem.expected(),
            problem,
            position,
            suggestions: Vec::new(),
        }
    }

    /// Returns the error of a word of a text.
    pub(crate) fn unexpected_word(word: &str, position: usize) -> Self {
        Self::new(ExpressionProblem::Unexpected(word.to_owned()), position)
    }

    /// Returns the error that a text ends too early.
    pub(crate) fn unexpected_end(position: usize) -> Self {
        Self::new(ExpressionProblem::UnexpectedEnd, position)
    }

    /// Returns the error of a part that does not fit the rest of a text.
    pub(crate) fn unsuitable(part: &str, fix: String, position: usize) -> Self {
        Self::new(ExpressionProblem::Unsuitable(part.to_owned(), fix), position)
    }

    /// Returns the message without the position, for a display that marks it in the text.
    #[must_use]
    pub fn without_position(&self) -> String {
        let (what, fix) = self.problem.describe();
        what + &self.help(&fix)
    }

    /// Returns the fix, what is expected instead, and the suggestions, as the end of a message.
    fn help(&self, fix: &str) -> String {
        let mut help = String::new();
        if !fix.is_empty() {
            help = format!("; {fix}");
        } else if self.suggestions.is_empty() && !self.expected.is_empty() {
            let shown: Vec<String> = self.expected.iter().map(|text| shown_expected(text)).collect();
            help = format!("; expected {}", list(&shown));
        }
        if !self.suggestions.is_empty() {
            let quoted: Vec<String> = self.suggestions.iter().map(|name| format!("`{name}`")).collect();
            help.push_str(&format!("; did you mean {}?", list(&quoted)));
        }
        help
    }

    pub(crate) fn expecting<'a>(mut self, expected: impl IntoIterator<Item = &'a str>) -> Self {
        self.expected = expected.into_iter().map(str::to_owned).collect();
        self
    }

    pub(crate) fn suggesting(mut self, suggestions: Vec<String>) -> Self {
        self.suggestions = suggestions;
        self
    }

    /// Returns the error for a symbol that no stock has. `position` is that of the symbol in the text.
    #[must_use]
    pub fn unknown_symbol(symbol: market::Symbol, position: usize, suggestions: Vec<String>) -> Self {
        Self::new(ExpressionProblem::UnknownSymbol(symbol.to_string()), position).suggesting(suggestions)
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, fix) = self.problem.describe();
        write!(f, "{what} at {}{}", self.position, self.help(&fix))
    }
}

/// Returns an expected text for a message: words and signs of the language in backticks, descriptions such as `a number` without.
fn shown_expected(text: &str) -> String {
    let is_description = ["a ", "the ", "at most "].iter().any(|begin| text.starts_with(begin));
    if is_description {
        text.to_owned()
    } else {
        format!("`{text}`")
    }
}

/// Returns a part of a text for a message, control characters by their code.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.push_str(&format!("U+{:04X}", u32::from(character)));
        } else {
            shown.push(character);
        }
    }
    shown
}

fn list(items: &[String]) -> String {
    match items.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => items.concat(),
    }
}

impl ExpressionProblem {
    /// Returns what the problem demands; empty for one of the text at a position, whose parser knows what is possible there.
    fn expected(&self) -> Vec<String> {
        let expected = match self {
            Self::TooLong => format!("at most {MAX_CHARACTERS} characters"),
            Self::TooManyComparisons => format!("at most {MAX_COMPARISONS} comparisons"),
            Self::TooManyNumbers => format!("at most {MAX_NUMBERS_OF_COMPARISON} numbers and metrics"),
            Self::TooManySymbols => format!("at most {MAX_SYMBOLS} symbols"),
            Self::TooDeep => format!("at most {MAX_DEPTH} levels"),
            Self::Timeframe => "a metric without a timeframe".to_owned(),
            Self::MalformedSymbol(_) => "a symbol".to_owned(),
            Self::UnknownSymbol(_) => "the symbol of a known stock".to_owned(),
            Self::ArgumentCount(usage) => usage.clone(),
            Self::ConstantComparison => "a metric".to_owned(),
            Self::ComparedCondition | Self::ArithmeticOnCondition => return vec!["and".to_owned(), "or".to_owned()],
            _ => return Vec::new(),
        };
        vec![expected]
    }

    /// Returns the problem and the fix; the latter is empty if expected texts or suggestions say it.
    fn describe(&self) -> (String, String) {
        let (problem, fix) = match self {
            Self::Unsuitable(part, fix) => return (format!("unsuitable `{}`", shown(part)), fix.clone()),
            Self::TooLong => (
                "the expression is too long",
                format!("at most {MAX_CHARACTERS} characters are allowed"),
            ),
            Self::TooManyComparisons => ("too many comparisons", format!("at most {MAX_COMPARISONS} are allowed")),
            Self::TooManyNumbers => (
                "too many numbers and metrics in a comparison",
                format!("at most {MAX_NUMBERS_OF_COMPARISON} are allowed"),
            ),
            Self::TooManySymbols => ("too many symbols", format!("at most {MAX_SYMBOLS} are allowed")),
            Self::TooDeep => (
                "the expression is nested too deeply",
                format!("at most {MAX_DEPTH} levels of parentheses, `not` and minus signs are allowed"),
            ),
            Self::UnexpectedEnd => ("unexpected end", String::new()),
            Self::Unexpected(text) => return (format!("unexpected `{}`", shown(text)), String::new()),
            Self::UnknownCharacter('%') => ("unexpected `%`", "write a percentage as a plain number".to_owned()),
            Self::UnknownCharacter('$') => ("unexpected `$`", "write an amount as a plain number".to_owned()),
            Self::UnknownCharacter(character) => {
                return (format!("unexpected `{}`", shown(&character.to_string())), String::new());
            }
            Self::Equality => ("numbers are not compared for equality", "use <, <=, > or >=".to_owned()),
            Self::Timeframe => (
                "timeframes such as `@5m` are reserved",
                "metrics count sessions".to_owned(),
            ),
            Self::UnclosedQuote => (
                "the quote is not closed",
                "write a symbol such as \"BF-B\".price".to_owned(),
            ),
            Self::MalformedNumber(problem) => ("malformed number", problem.fix().to_owned()),
            Self::UnknownMetric(name) => return (format!("unknown metric `{name}`"), String::new()),
            Self::MalformedSymbol(fix) => ("malformed symbol", fix.clone()),
            Self::UnknownSymbol(symbol) => return (format!("unknown symbol {symbol}"), String::new()),
            Self::UnknownPhrase(words) => return (format!("`{words}` does not name a metric"), String::new()),
            Self::MissingArguments(usage) => ("missing arguments", format!("write {usage}")),
            Self::ArgumentCount(usage) => ("wrong number of arguments", format!("write {usage}")),
            Self::Argument(usage, name, allowed) => {
                return (
                    format!("wrong argument of {usage}"),
                    format!("{name} must be {allowed}"),
                );
            }
            Self::ConstantComparison => (
                "a comparison of numbers only",
                "one side must contain a metric".to_owned(),
            ),
            Self::ComparedCondition => (
                "a comparison cannot be compared",
                "combine comparisons with `and`, or use `between`".to_owned(),
            ),
            Self::ArithmeticOnCondition => (
                "arithmetic on a condition",
                "combine conditions with `and`, `or` and `not`".to_owned(),
            ),
        };
        (problem.to_owned(), fix)
    }
}

impl NumberProblem {
    const fn fix(self) -> &'static str {
        match self {
            Self::TooManyDecimals => "at most six decimals are allowed",
            Self::TooLarge => "the limit is 9000000000000",
            Self::Suffix => {
                "write it without exponent and separators, such as 1250.5; a symbol that begins with a digit needs quotes"
            }
            Self::MissingDecimals => "a digit must follow the point",
        }
    }
}
