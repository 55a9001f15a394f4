//! A checked expression.

use std::fmt;
use std::str::FromStr;

use market::Symbol;

use super::ast::BooleanExpression;
use super::check::check;
use super::error::{ExpressionError, ExpressionProblem};
use super::limits::{MAX_CHARACTERS, MAX_CHARACTERS_IN_WORDS};
use super::parser::{ParserOptions, parse_condition};
use super::print::{PrintStyle, print, symbol_before_metric};
use super::sentence::sentence;

/// An expression within the limits. It is displayed in its canonical form, which parses to the same expression.
///
/// ```
/// use alerts::expression::Expression;
/// let expression: Expression = "RSI < 30 AND (price>sma(200))".parse().unwrap();
/// assert_eq!(expression.to_string(), "rsi(14) < 30 and price > sma(200)");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Expression {
    condition: BooleanExpression,
}

/// An expression with the facts about its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParsedExpression {
    /// The expression.
    pub expression: Expression,
    /// The symbols that the text names, with their positions in characters from 1.
    pub symbols: Vec<(Symbol, usize)>,
    /// The error of the first metric that no new alert can have.
    unsuitable: Option<ExpressionError>,
}

impl ParsedExpression {
    /// Returns the expression, if a new alert can have it.
    ///
    /// # Errors
    /// [`ExpressionError`] at a metric of another stock that is known of the alert's own only, or a MACD whose fast average is not the
    /// faster one.
    pub(crate) fn for_new_alert(self) -> Result<Expression, ExpressionError> {
        self.unsuitable.map_or(Ok(self.expression), Err)
    }
}

/// A symbol with an expression, as typed by a person: `AAPL < 180 and rsi under 30`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParsedText<'a> {
    /// The alert's own symbol.
    pub symbol: Symbol,
    /// The expression.
    pub expression: Expression,
    /// The symbols that the text names, with their positions in characters from 1; the first is the alert's own.
    pub symbols: Vec<(Symbol, usize)>,
    /// The text after the expression.
    pub rest: &'a str,
    /// The position of `rest` in characters, from 1.
    pub rest_position: usize,
    /// The error of the first metric that no new alert can have.
    pub(crate) unsuitable: Option<ExpressionError>,
}

impl Expression {
    /// Returns the condition as an expression.
    ///
    /// # Errors
    /// The limit that it exceeds, or a comparison without a metric.
    pub fn new(condition: BooleanExpression) -> Result<Self, ExpressionProblem> {
        check(&condition)?;
        Ok(Self { condition })
    }

    /// Parses the text of `parameters.when`. Metrics that name the alert's `own` symbol are those without a symbol.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position, the expected texts and suggestions.
    pub fn parse(text: &str, own: Option<Symbol>) -> Result<ParsedExpression, ExpressionError> {
        let options = ParserOptions {
            own,
            max_characters: MAX_CHARACTERS,
            may_omit_price: false,
            may_continue: false,
        };
        let parsed = parse_condition(text, options)?;
        Ok(ParsedExpression {
            expression: Self::checked(parsed.condition)?,
            symbols: parsed.symbols,
            unsuitable: parsed.unsuitable,
        })
    }

    /// Parses a symbol and an expression, in operators or in words: also the output of [`Self::sentence`]. Other text may follow.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position, the expected texts and suggestions.
    pub fn parse_text(text: &str) -> Result<ParsedText<'_>, ExpressionError> {
        let (symbol, start) = leading_symbol(text)?;
        let symbol_position = text[..start.symbol].chars().count() + 1;
        let skipped = text[..start.expression].chars().count();
        let options = ParserOptions {
            own: Some(symbol),
            max_characters: MAX_CHARACTERS_IN_WORDS,
            may_omit_price: start.may_omit_price,
            may_continue: true,
        };
        let moved = |mut error: ExpressionError| {
            error.position += skipped;
            error
        };
        let mut parsed = parse_condition(&text[start.expression..], options).map_err(moved)?;
        for (_, position) in &mut parsed.symbols {
            *position += skipped;
        }
        let mut symbols = vec![(symbol, symbol_position)];
        symbols.append(&mut parsed.symbols);
        let (offset, position) = parsed.end;
        Ok(ParsedText {
            symbol,
            expression: Self::checked(parsed.condition)?,
            symbols,
            rest: &text[start.expression + offset..],
            rest_position: position + skipped,
            unsuitable: parsed.unsuitable.map(moved),
        })
    }

    fn checked(condition: BooleanExpression) -> Result<Self, ExpressionError> {
        Self::new(condition).map_err(|problem| ExpressionError::new(problem, 1))
    }

    /// Returns the condition.
    #[must_use]
    pub const fn condition(&self) -> &BooleanExpression {
        &self.condition
    }

    /// Returns a plain sentence. [`Self::parse_text`] reads it as the same symbol and expression.
    ///
    /// ```
    /// use alerts::expression::Expression;
    /// let expression: Expression = "price <= 180 and rsi < 30".parse().unwrap();
    /// let sentence = expression.sentence("AAPL".parse().unwrap());
    /// assert_eq!(sentence, "AAPL falls to 180.00 or below while its 14-day RSI is under 30");
    /// ```
    #[must_use]
    pub fn sentence(&self, own: Symbol) -> String {
        sentence(&self.condition, Some(own))
    }

    /// Returns a plain sentence about every stock of an alert with many: `its price is under 180.00`.
    #[must_use]
    pub fn sentence_without_symbol(&self) -> String {
        sentence(&self.condition, None)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (canonical, _) = print(&self.condition, PrintStyle::Canonical);
        if canonical.chars().count() <= MAX_CHARACTERS {
            return f.write_str(&canonical);
        }
        f.write_str(&print(&self.condition, PrintStyle::Compact).0)
    }
}

impl FromStr for Expression {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Self::parse(text, None).map(|parsed| parsed.expression)
    }
}

/// The parts of a text that begins with a symbol, in bytes.
pub(crate) struct TextStart {
    pub(crate) symbol: usize,
    pub(crate) expression: usize,
    may_omit_price: bool,
}

/// Reads the symbol at the beginning of a text. In `AAPL.price < 180` the expression begins with it.
pub(crate) fn leading_symbol(text: &str) -> Result<(Symbol, TextStart), ExpressionError> {
    let symbol_at = text.len() - text.trim_start().len();
    let rest = &text[symbol_at..];
    let is_symbol_character = |next: char| next.is_ascii_alphanumeric() || matches!(next, '.' | '-');
    let quoted = rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"'));
    let (name, length, metric_of_own_symbol) = match quoted {
        Some((name, after)) => (name, name.len() + 2, after.starts_with('.').then_some(name)),
        None => {
            let length = rest.find(|next| !is_symbol_character(next)).unwrap_or(rest.len());
            let name = &rest[..length];
            (name, length, symbol_before_metric(name))
        }
    };
    let symbol = metric_of_own_symbol
        .unwrap_or(name)
        .parse::<Symbol>()
        .map_err(|error| {
            let position = text[..symbol_at].chars().count() + 1;
            let problem = ExpressionProblem::MalformedSymbol(error.to_string());
            ExpressionError::new(problem, position).expecting(["a symbol"])
        })?;
    if metric_of_own_symbol.is_some() || rest[length..].starts_with(['\'', '’']) {
        let start = TextStart {
            symbol: symbol_at,
            expression: symbol_at,
            may_omit_price: false,
        };
        return Ok((symbol, start));
    }
    let after = &rest[length..];
    let trimmed = after.trim_start();
    let body = trimmed.strip_prefix(':').unwrap_or(trimmed);
    let start = TextStart {
        symbol: symbol_at,
        expression: text.len() - body.len(),
        may_omit_price: body.len() == trimmed.len(),
    };
    Ok((symbol, start))
}
