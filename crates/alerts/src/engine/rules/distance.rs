//! The distance of a whole condition from being true.

use market::Decimal;

use super::explanation::ExplainedTerm;
use crate::expression::ast::BooleanExpression;

/// Returns the distance of a condition from being true in percent, from its terms in the order of the text.
///
/// A comparison that is as it must be has the distance 0; otherwise it is that of its sides. Of `a or b` the smaller distance counts,
/// of `a and b` the larger one. `None` if it is unknown.
pub(super) fn distance(condition: &BooleanExpression, terms: &[ExplainedTerm]) -> Option<Decimal> {
    walk(condition, true, &mut terms.iter())
}

/// Returns the distance of a condition that is true if all its terms are; `None` without terms.
pub(super) fn distance_of_all(terms: &[ExplainedTerm]) -> Option<Decimal> {
    let distances = terms.iter().map(|term| distance_of(term, true));
    distances.reduce(larger).flatten()
}

fn distance_of(term: &ExplainedTerm, wanted: bool) -> Option<Decimal> {
    match term.holds {
        Some(holds) if holds == wanted => Some(Decimal::ZERO),
        Some(_) => term.distance_pct,
        None => None,
    }
}

fn larger(one: Option<Decimal>, other: Option<Decimal>) -> Option<Decimal> {
    one.zip(other).map(|(one, other)| one.max(other))
}

/// Returns the distance of a condition from having the truth `wanted`.
fn walk(
    condition: &BooleanExpression,
    wanted: bool,
    terms: &mut std::slice::Iter<'_, ExplainedTerm>,
) -> Option<Decimal> {
    let (left, right, needs_both) = match condition {
        BooleanExpression::Comparison(_) => {
            return distance_of(terms.next()?, wanted);
        }
        BooleanExpression::Not(inner) => return walk(inner, !wanted, terms),
        BooleanExpression::And(left, right) => (left, right, wanted),
        BooleanExpression::Or(left, right) => (left, right, !wanted),
    };
    let (left, right) = (walk(left, wanted, terms), walk(right, wanted, terms));
    if needs_both {
        larger(left, right)
    } else {
        left.into_iter().chain(right).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Expression;

    fn term(holds: Option<bool>, distance: &str) -> ExplainedTerm {
        ExplainedTerm {
            text: String::new(),
            left: None,
            right: None,
            holds,
            distance_pct: distance.parse().ok(),
            as_of: None,
            sources: Vec::new(),
        }
    }

    fn of(text: &str, terms: &[ExplainedTerm]) -> Option<String> {
        let expression: Expression = text.parse().unwrap();
        distance(expression.condition(), terms).map(|distance| distance.to_string())
    }

    #[test]
    fn largest_distance_counts_if_all_must_be_true_and_smallest_if_one_must() {
        let terms = [term(Some(false), "3"), term(Some(false), "5")];
        for (text, expected) in [
            ("price > 1 and open > 1", "5"),
            ("price > 1 or open > 1", "3"),
            ("not (price > 1 or open > 1)", "0"),
        ] {
            assert_eq!(of(text, &terms).as_deref(), Some(expected), "{text}");
        }
        let both_hold = [term(Some(true), "3"), term(Some(true), "5")];
        for (text, expected) in [
            ("not (price > 1 and open > 1)", "3"),
            ("not (price > 1 or open > 1)", "5"),
            ("price > 1 and open > 1", "0"),
        ] {
            assert_eq!(of(text, &both_hold).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn unknown_term_matters_only_if_it_decides() {
        let terms = [term(None, "3"), term(Some(false), "5")];
        assert_eq!(of("pe > 1 or open > 1", &terms).as_deref(), Some("5"));
        assert_eq!(of("pe > 1 and open > 1", &terms), None);
    }
}
