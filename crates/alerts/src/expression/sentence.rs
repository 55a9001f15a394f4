//! An expression as a plain sentence.
//!
//! The parser reads the sentence as the same expression: `AAPL falls to 180.00 or below while its 14-day RSI is under 30`.

use market::{Decimal, Symbol};

use super::ast::{BooleanExpression, Comparison, CrossingDirection, MetricReference, NumericExpression, Relation};
use super::metric::{Argument, ChangeBase, Metric, MetricUnit};
use super::print::{PrintStyle, Printer, symbol_before_metric, symbol_text};
use super::words::relation_in_words;

/// Returns the sentence of a condition. Without the alert's own symbol, it begins with the first comparison.
pub(super) fn sentence(condition: &BooleanExpression, own: Option<Symbol>) -> String {
    let mut printer = Printer::new(PrintStyle::Words);
    if let Some(own) = own {
        // `A.PE` would be read as the P/E of A.
        let text = match symbol_before_metric(own.as_str()) {
            Some(_) => format!("\"{own}\""),
            None => symbol_text(own),
        };
        printer.text.push_str(&text);
        printer.may_omit_price = begins_with_own_price(condition);
        printer.text.push_str(if printer.may_omit_price { " " } else { ": " });
    }
    printer.condition(condition, 0);
    printer.text
}

/// Returns whether the first comparison compares the alert's own price, and nothing stands before it.
fn begins_with_own_price(condition: &BooleanExpression) -> bool {
    match condition {
        BooleanExpression::Comparison(comparison) => {
            matches!(comparison.operands().first(), Some(NumericExpression::Metric(metric)) if is_own_price(metric))
        }
        BooleanExpression::Not(_) => false,
        // An `or` within an `and` stands in parentheses.
        BooleanExpression::And(left, _) if matches!(**left, BooleanExpression::Or(..)) => false,
        BooleanExpression::And(left, _) | BooleanExpression::Or(left, _) => begins_with_own_price(left),
    }
}

const fn is_own_price(reference: &MetricReference) -> bool {
    matches!(
        reference,
        MetricReference {
            symbol: None,
            metric: Metric::Price
        }
    )
}

impl Printer {
    pub(super) fn comparison_in_words(&mut self, comparison: &Comparison, is_negated: bool) {
        let operands = comparison.operands();
        let unit = operands
            .iter()
            .find_map(|operand| metric_of(operand))
            .map(|metric| metric.spec().unit);
        let verb = operands
            .first()
            .and_then(|left| metric_of(left))
            .map_or("is", |metric| metric.spec().verb);
        let is_plural = verb == "are";
        let omitted_price = std::mem::take(&mut self.may_omit_price);
        let verb: &[&str] = if is_negated { &[verb, "not"] } else { &[verb] };
        if let Some(left) = operands.first()
            && !omitted_price
        {
            self.side_in_words(left, unit);
            self.text.push(' ');
        }
        match comparison {
            Comparison::Relation(_, relation, right) if omitted_price => {
                let (movement, suffix) = movement(*relation);
                self.words(&[movement]);
                self.side_in_words(right, unit);
                self.text.push_str(suffix);
            }
            Comparison::Relation(_, relation, right) => {
                self.words(verb);
                self.words(&[relation_in_words(*relation)]);
                self.side_in_words(right, unit);
            }
            Comparison::Between { low, high, .. } => {
                self.words(verb);
                self.words(&["between"]);
                self.side_in_words(low, unit);
                self.text.push(' ');
                self.words(&["and"]);
                self.side_in_words(high, unit);
            }
            Comparison::Crosses(_, direction, right) => {
                self.words(match (is_negated, is_plural) {
                    (true, true) => &["do", "not", "cross"],
                    (true, false) => &["does", "not", "cross"],
                    (false, true) => &["cross"],
                    (false, false) => &["crosses"],
                });
                self.words(match direction {
                    CrossingDirection::Above => &["above"],
                    CrossingDirection::Below => &["below"],
                    CrossingDirection::Either => &[],
                });
                self.side_in_words(right, unit);
            }
        }
    }

    /// Writes words with a space after each.
    fn words(&mut self, words: &[&str]) {
        for word in words {
            self.text.push_str(word);
            self.text.push(' ');
        }
    }

    /// Writes a side of a comparison, a plain amount of US dollars with cents.
    fn side_in_words(&mut self, number: &NumericExpression, unit: Option<MetricUnit>) {
        match number {
            NumericExpression::Constant(constant)
                if matches!(unit, Some(MetricUnit::UsdPerShare | MetricUnit::Usd)) =>
            {
                self.text.push_str(&with_cents(constant.get()));
            }
            _ => self.side(number),
        }
    }

    pub(super) fn metric_in_words(&mut self, reference: &MetricReference) {
        match reference.symbol {
            Some(symbol) => self.text.push_str(&format!("{}'s ", symbol_text(symbol))),
            None => self.text.push_str("its "),
        }
        let spec = reference.metric.spec();
        let arguments = match reference.metric {
            Metric::ChangePct(base) => vec![Argument::Base(base)],
            metric => metric.arguments(),
        };
        let mut texts = arguments.iter().map(argument_in_words);
        for (index, part) in spec.phrase.split('#').enumerate() {
            if index > 0 {
                self.text.push_str(&texts.next().unwrap_or_default());
            }
            self.text.push_str(part);
        }
    }
}

/// Returns the verb and the words after the right side of a price that reaches a level.
const fn movement(relation: Relation) -> (&'static str, &'static str) {
    match relation {
        Relation::Below => ("falls below", ""),
        Relation::AtMost => ("falls to", " or below"),
        Relation::Above => ("rises above", ""),
        Relation::AtLeast => ("rises to", " or above"),
    }
}

/// Returns the metric, if a number is only a metric.
const fn metric_of(number: &NumericExpression) -> Option<Metric> {
    match number {
        NumericExpression::Metric(reference) => Some(reference.metric),
        _ => None,
    }
}

/// Returns an amount with two decimals, or with all its decimals if it has more.
fn with_cents(amount: Decimal) -> String {
    const MICROS_PER_CENT: i64 = 10_000;
    if amount.micros() % MICROS_PER_CENT != 0 {
        return amount.to_string();
    }
    let cents = amount.micros() / MICROS_PER_CENT;
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn argument_in_words(argument: &Argument) -> String {
    match argument {
        Argument::Base(ChangeBase::OfAlert) => "its base".to_owned(),
        Argument::Base(ChangeBase::Creation) => "creation".to_owned(),
        Argument::Base(ChangeBase::PrevClose) => "the previous close".to_owned(),
        Argument::Base(ChangeBase::Open) => "the open".to_owned(),
        Argument::Base(ChangeBase::Sessions(period)) if period.get() == 1 => "1 session ago".to_owned(),
        Argument::Base(ChangeBase::Sessions(period)) => format!("{} sessions ago", period.get()),
        other => other.to_string(),
    }
}
