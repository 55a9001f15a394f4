//! Properties: printing and parsing are inverse, and no text makes the parser panic.

use alerts::expression::conversion::{from_condition, to_condition};
use alerts::expression::shape::{family, metric_level, price_effect, price_levels, requires_crossing};
use alerts::expression::{Expression, MAX_CHARACTERS};
use proptest::prelude::*;
use proptest::sample::select;

use super::generator::expression;

const TOKENS: &[&str] = &[
    "price",
    "rsi",
    "sma",
    "(",
    ")",
    "14",
    ".5",
    "1.5",
    ",",
    "<",
    "<=",
    ">",
    ">=",
    "and",
    "or",
    "not",
    "between",
    "crosses",
    "above",
    "below",
    "at",
    "most",
    "least",
    "falls",
    "to",
    "rises",
    "is",
    "its",
    "'s",
    "AAPL",
    ".",
    "-",
    "+",
    "*",
    "/",
    "\"BF-B\"",
    "AAPL.price",
    "while",
    "under",
    "more",
    "than",
    "macd(12,26,9)",
    "14-day RSI",
    "P/E",
    ":",
    "@5m",
    "#",
    "=",
    "é",
    " ",
    "change_pct(open)",
    "percentage change since the open",
    "does not cross",
    "5 sessions ago",
];

/// Generates texts that are close to expressions.
fn near_misses() -> impl Strategy<Value = String> {
    let separator = select(vec![" ", " ", " ", ""]);
    prop::collection::vec((select(TOKENS), separator), 0..25).prop_map(|parts| {
        parts
            .into_iter()
            .flat_map(|(token, separator)| [token, separator])
            .collect()
    })
}

fn check_text(text: &str) -> Result<(), TestCaseError> {
    let length = text.chars().count();
    match Expression::parse(text, None) {
        Ok(parsed) => {
            let again = parsed.expression.to_string().parse();
            prop_assert_eq!(again, Ok(parsed.expression));
        }
        Err(error) => {
            prop_assert!((1..=length + 1).contains(&error.position), "{}", error);
            prop_assert!(!error.to_string().is_empty());
        }
    }
    match Expression::parse_text(text) {
        Ok(parsed) => {
            let sentence = parsed.expression.sentence(parsed.symbol);
            let again = Expression::parse_text(&sentence).unwrap();
            prop_assert_eq!((again.symbol, again.expression), (parsed.symbol, parsed.expression));
            prop_assert!(text.ends_with(parsed.rest));
        }
        Err(error) => prop_assert!((1..=length + 1).contains(&error.position), "{}", error),
    }
    Ok(())
}

proptest! {
    #[test]
    fn canonical_text_parses_to_the_same_expression(expression in expression(i64::MAX)) {
        let text = expression.to_string();
        prop_assert!(text.chars().count() <= MAX_CHARACTERS);
        prop_assert_eq!(text.parse(), Ok(expression), "{}", text);
    }

    #[test]
    fn sentence_parses_to_the_same_alert(expression in expression(i64::MAX), own in select(vec!["MSFT", "AN-Y", "7D", "A.PE", "OR"])) {
        let own = own.parse().unwrap();
        let sentence = expression.sentence(own);
        let parsed = Expression::parse_text(&sentence);
        prop_assert!(parsed.is_ok(), "{}: {}", sentence, parsed.unwrap_err());
        let parsed = parsed.unwrap();
        prop_assert_eq!((parsed.symbol, parsed.rest), (own, ""));
        prop_assert_eq!(parsed.expression, expression, "{}", sentence);
    }

    #[test]
    fn any_text_is_parsed_or_refused_with_a_position(text in prop_oneof![".{0,60}", "[a-z0-9(). <>=\"'@-]{0,60}", near_misses()]) {
        check_text(&text)?;
    }

    #[test]
    fn damaged_text_is_parsed_or_refused_with_a_position(expression in expression(i64::MAX), at in 0_usize..200, with in select(TOKENS)) {
        let text = expression.to_string();
        let damaged: String = text.chars().take(at).chain(with.chars()).chain(text.chars().skip(at + 1)).collect();
        check_text(&damaged)?;
    }

    #[test]
    fn analyses_accept_every_expression(expression in expression(i64::MAX)) {
        let _ = (family(&expression), requires_crossing(&expression), price_effect(&expression, None));
        let _ = (metric_level(&expression), price_levels(&expression));
        if let Some(condition) = to_condition(&expression) {
            let again = from_condition(&condition).and_then(|expression| to_condition(&expression));
            prop_assert_eq!(again, Some(condition));
        }
    }
}
