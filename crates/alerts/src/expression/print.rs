//! The canonical text of an expression.
//!
//! Parentheses are printed only where the parser needs them to build the same tree.

use std::fmt;

use market::Symbol;

use super::ast::{
    ArithmeticOperator, BooleanExpression, Comparison, Constant, CrossingDirection, MetricReference, NumericExpression,
};
use super::metric::METRICS;

/// The form of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PrintStyle {
    /// With spaces and all arguments: `rsi(14) < 30`.
    Canonical,
    /// The shortest text: `rsi<30`. No text of the same expression is shorter.
    Compact,
    /// In words, after the alert's own symbol: `its 14-day RSI is under 30`.
    Words,
}

/// Writes the text of an expression.
pub(super) struct Printer {
    pub(super) text: String,
    pub(super) style: PrintStyle,
    /// Whether the text so far is only the alert's own symbol, so that its price is omitted on the left side.
    pub(super) may_omit_price: bool,
    depth: usize,
    max_depth: usize,
}

/// The binding strength of operators between conditions, from loose to tight.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;

/// The binding strength of operators between numbers, from loose to tight.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const OPERAND: u8 = 3;

/// Returns the text, and the maximum number of parentheses, `not` and minus signs around a place.
pub(super) fn print(condition: &BooleanExpression, style: PrintStyle) -> (String, usize) {
    let mut printer = Printer::new(style);
    printer.condition(condition, OR);
    (printer.text, printer.max_depth)
}

const fn strength_of_condition(condition: &BooleanExpression) -> u8 {
    match condition {
        BooleanExpression::Or(..) => OR,
        BooleanExpression::And(..) => AND,
        BooleanExpression::Not(_) | BooleanExpression::Comparison(_) => NOT,
    }
}

const fn strength_of_number(number: &NumericExpression) -> u8 {
    match number {
        NumericExpression::Arithmetic(_, operator, _) if operator.is_product() => PRODUCT,
        NumericExpression::Arithmetic(..) => SUM,
        _ => OPERAND,
    }
}

impl Printer {
    pub(super) const fn new(style: PrintStyle) -> Self {
        Self {
            text: String::new(),
            style,
            may_omit_price: false,
            depth: 0,
            max_depth: 0,
        }
    }

    /// Writes a token. In compact style, a space separates it only from a word, if it is one.
    pub(super) fn token(&mut self, token: &str) {
        let is_word = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '.');
        let needs_space =
            self.style == PrintStyle::Compact && self.text.ends_with(is_word) && token.starts_with(is_word);
        if needs_space {
            self.text.push(' ');
        }
        self.text.push_str(token);
    }

    pub(super) fn space(&mut self) {
        if self.style != PrintStyle::Compact {
            self.text.push(' ');
        }
    }

    /// Writes tokens with a space before and after each.
    pub(super) fn spaced(&mut self, tokens: &[&str]) {
        self.space();
        for token in tokens {
            self.token(token);
            self.space();
        }
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        self.max_depth = self.max_depth.max(self.depth);
        write(self);
        self.depth -= 1;
    }

    fn parenthesized(&mut self, write: impl FnOnce(&mut Self)) {
        self.token("(");
        self.nested(write);
        self.token(")");
    }

    /// Writes a condition as an operand of an operator that binds with `strength`.
    pub(super) fn condition(&mut self, condition: &BooleanExpression, strength: u8) {
        if strength_of_condition(condition) < strength {
            return self.parenthesized(|printer| printer.condition(condition, OR));
        }
        match condition {
            BooleanExpression::Comparison(comparison) => self.comparison(comparison, false),
            BooleanExpression::Not(inner) => match (&**inner, self.style) {
                (BooleanExpression::Comparison(comparison), PrintStyle::Words) => {
                    self.nested(|printer| printer.comparison(comparison, true));
                }
                _ => {
                    self.token("not");
                    self.space();
                    self.nested(|printer| printer.condition(inner, NOT));
                }
            },
            BooleanExpression::And(left, right) => {
                let omitted_price = self.may_omit_price && matches!(**left, BooleanExpression::Comparison(_));
                self.condition(left, AND);
                self.spaced(&[if omitted_price { "while" } else { "and" }]);
                self.condition(right, AND + 1);
            }
            BooleanExpression::Or(left, right) => {
                self.condition(left, OR);
                self.spaced(&["or"]);
                self.condition(right, OR + 1);
            }
        }
    }

    fn comparison(&mut self, comparison: &Comparison, is_negated: bool) {
        if self.style == PrintStyle::Words {
            return self.comparison_in_words(comparison, is_negated);
        }
        match comparison {
            Comparison::Relation(left, relation, right) => {
                self.number(left, SUM);
                self.spaced(&[relation.operator()]);
                self.number(right, SUM);
            }
            Comparison::Between { value, low, high } => {
                self.number(value, SUM);
                self.spaced(&["between"]);
                self.number(low, SUM);
                self.spaced(&["and"]);
                self.number(high, SUM);
            }
            Comparison::Crosses(left, direction, right) => {
                self.number(left, SUM);
                self.spaced(direction_words(*direction));
                self.number(right, SUM);
            }
        }
    }

    /// Writes a side of a comparison.
    pub(super) fn side(&mut self, number: &NumericExpression) {
        self.number(number, SUM);
    }

    /// Writes a number as an operand of an operator that binds with `strength`.
    fn number(&mut self, number: &NumericExpression, strength: u8) {
        if strength_of_number(number) < strength {
            return self.parenthesized(|printer| printer.number(number, SUM));
        }
        match number {
            NumericExpression::Constant(constant) => self.constant(*constant),
            NumericExpression::Metric(metric) => self.metric(metric),
            NumericExpression::Negated(inner) => {
                self.token("-");
                self.nested(|printer| printer.number(inner, OPERAND));
            }
            NumericExpression::Arithmetic(left, operator, right) => {
                let strength = strength_of_number(number);
                self.number(left, strength);
                self.operator(*operator);
                self.number(right, strength + 1);
            }
        }
    }

    fn operator(&mut self, operator: ArithmeticOperator) {
        self.spaced(&[operator.operator().encode_utf8(&mut [0; 4])]);
    }

    fn constant(&mut self, constant: Constant) {
        let text = constant.get().to_string();
        match text.strip_prefix('0') {
            Some(fraction) if self.style == PrintStyle::Compact && !fraction.is_empty() => self.token(fraction),
            _ => self.token(&text),
        }
    }

    fn metric(&mut self, reference: &MetricReference) {
        if self.style == PrintStyle::Words {
            return self.metric_in_words(reference);
        }
        let MetricReference { symbol, metric } = reference;
        let name = metric.spec().name;
        match symbol {
            Some(symbol) => self.token(&format!("{}.{name}", symbol_text(*symbol))),
            None => self.token(name),
        }
        let arguments = metric.arguments();
        if arguments.is_empty() || (self.style == PrintStyle::Compact && metric.has_default_arguments()) {
            return;
        }
        let texts: Vec<String> = arguments.iter().map(|argument| self.argument(argument)).collect();
        let separator = if self.style == PrintStyle::Compact { "," } else { ", " };
        self.token(&format!("({})", texts.join(separator)));
    }

    fn argument(&self, argument: &super::metric::Argument) -> String {
        let text = argument.to_string();
        match text.strip_prefix('0') {
            Some(fraction) if self.style == PrintStyle::Compact => fraction.to_owned(),
            _ => text,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(PrintStyle::Canonical);
        printer.comparison(self, false);
        f.write_str(&printer.text)
    }
}

impl fmt::Display for NumericExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(PrintStyle::Canonical);
        printer.number(self, SUM);
        f.write_str(&printer.text)
    }
}

/// Returns the words of a crossing.
const fn direction_words(direction: CrossingDirection) -> &'static [&'static str] {
    match direction {
        CrossingDirection::Above => &["crosses", "above"],
        CrossingDirection::Below => &["crosses", "below"],
        CrossingDirection::Either => &["crosses"],
    }
}

/// Returns a symbol as it stands before a metric: in quotes if a number or a minus would be read instead.
pub(super) fn symbol_text(symbol: Symbol) -> String {
    let text = symbol.as_str();
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) && !text.contains('-') {
        text.to_owned()
    } else {
        format!("\"{text}\"")
    }
}

/// Returns the symbol in `SYMBOL.metric`; `None` if the text is none.
pub(super) fn symbol_before_metric(text: &str) -> Option<&str> {
    let (symbol, name) = text.rsplit_once('.')?;
    let is_metric = METRICS.iter().any(|spec| spec.name.eq_ignore_ascii_case(name));
    is_metric.then_some(symbol)
}
