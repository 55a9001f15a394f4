//! Arbitrary text as an expression: the parser returns an expression or a position, and never panics. The canonical text and the
//! sentence of an expression parse to the same expression.
#![no_main]

use alerts::expression::Expression;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let characters = text.chars().count();
    match Expression::parse(text, None) {
        Ok(parsed) => {
            let again: Expression = parsed.expression.to_string().parse().unwrap();
            assert_eq!(again, parsed.expression);
        }
        Err(error) => assert!((1..=characters + 1).contains(&error.position)),
    }
    if let Ok(parsed) = Expression::parse_text(text) {
        let sentence = parsed.expression.sentence(parsed.symbol);
        let again = Expression::parse_text(&sentence).unwrap();
        assert_eq!((again.symbol, again.expression), (parsed.symbol, parsed.expression));
    }
});
