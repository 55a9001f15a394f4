//! Errors: position, expected texts, suggestions and message.

use alerts::expression::{Expression, ExpressionError};

fn error(text: &str) -> ExpressionError {
    text.parse::<Expression>().expect_err(text)
}

#[test]
fn messages_name_the_position_and_the_fix() {
    for (text, message) in [
        (
            "price > 1 and smaa(20) > 3",
            "unknown metric `smaa` at 15; did you mean `sma`?",
        ),
        ("VOLUM > 3", "unknown metric `VOLUM` at 1; did you mean `volume`?"),
        ("SPY > 3", "unknown metric `SPY` at 1; did you mean `SPY.price`?"),
        ("GE > 200", "unknown metric `GE` at 1; did you mean `GE.price` or `pe`?"),
        ("AAPL.pric > 3", "unknown metric `pric` at 6; did you mean `price`?"),
        (
            "price < ",
            "unexpected end at 9; expected a number, a metric, `(` or `-`",
        ),
        ("", "unexpected end at 1; expected a number, a metric, `(` or `-`"),
        (
            "price",
            "unexpected end at 6; expected `<`, `<=`, `>`, `>=`, `between` or `crosses`",
        ),
        (
            "price and rsi < 3",
            "unexpected `and` at 7; expected `<`, `<=`, `>`, `>=`, `between` or `crosses`",
        ),
        ("price crosss 5", "unexpected `crosss` at 7; did you mean `crosses`?"),
        ("price < 1 adn rsi < 3", "unexpected `adn` at 11; did you mean `and`?"),
        ("(price < 1", "unexpected end at 11; expected `)`, `and` or `or`"),
        ("price < 1)", "unexpected `)` at 10; expected `and`, `or` or the end"),
        (
            "price = 1",
            "numbers are not compared for equality at 7; use <, <=, > or >=",
        ),
        (
            "price != 1",
            "numbers are not compared for equality at 7; use <, <=, > or >=",
        ),
        (
            "1 < 2",
            "a comparison of numbers only at 1; one side must contain a metric",
        ),
        (
            "price < 1 and 1 < 2",
            "a comparison of numbers only at 15; one side must contain a metric",
        ),
        (
            "1 crosses above 2",
            "a comparison of numbers only at 1; one side must contain a metric",
        ),
        (
            "1 between 2 and 3",
            "a comparison of numbers only at 1; one side must contain a metric",
        ),
        (
            "1 < price < 3",
            "a comparison cannot be compared at 11; combine comparisons with `and`, or use `between`",
        ),
        (
            "price < (rsi < 3)",
            "a comparison cannot be compared at 9; combine comparisons with `and`, or use `between`",
        ),
        (
            "(price < 1) + 2 > 3",
            "arithmetic on a condition at 13; combine conditions with `and`, `or` and `not`",
        ),
        (
            "2 + (price < 1) > 3",
            "arithmetic on a condition at 5; combine conditions with `and`, `or` and `not`",
        ),
        (
            "-(price < 1) > 3",
            "arithmetic on a condition at 2; combine conditions with `and`, `or` and `not`",
        ),
        ("sma > 3", "missing arguments at 5; write sma(n)"),
        (
            "macd(12, 26) > 3",
            "wrong number of arguments at 1; write macd(fast, slow, signal)",
        ),
        ("price(5) > 3", "wrong number of arguments at 1; write price"),
        (
            "sma(500) > 3",
            "wrong argument of sma(n) at 5; n must be a whole number from 1 to 400",
        ),
        (
            "change_pct(opne) > 3",
            "wrong argument of change_pct(base) at 12; base must be creation, prev_close, open or a whole number from 1 to 400; did you mean `open`?",
        ),
        (
            "price@5m > 3",
            "timeframes such as `@5m` are reserved at 6; metrics count sessions",
        ),
        (
            "rsi(14)@5m > 3",
            "timeframes such as `@5m` are reserved at 8; metrics count sessions",
        ),
        (
            "gap_pct > 5%",
            "unexpected `%` at 12; write a percentage as a plain number",
        ),
        ("price > $5", "unexpected `$` at 9; write an amount as a plain number"),
        (
            "price > 1.2345678",
            "malformed number at 9; at most six decimals are allowed",
        ),
        (
            "\"BF-B.price > 3",
            "the quote is not closed at 1; write a symbol such as \"BF-B\".price",
        ),
        (
            "TOOLONGSYMBOL.price > 3",
            "malformed symbol at 1; a symbol has at most 10 characters; give a ticker such as BRK.B",
        ),
        (
            "its shoe size is under 5",
            "`shoe size is` does not name a metric at 5; expected a metric",
        ),
    ] {
        assert_eq!(error(text).to_string(), message, "{text}");
    }
}

#[test]
fn positions_count_characters_and_not_bytes() {
    assert_eq!(error("\u{3000}\u{3000}price < ü").position, 11);
    assert_eq!(error("price < 1 ü").position, 11);
}

#[test]
fn unexpected_tokens_have_expected_texts() {
    let error = error("price < 1 1");
    assert_eq!(error.expected, ["and", "or", "the end"]);
    assert_eq!(error.position, 11);
}

#[test]
fn suggestions_are_the_nearest_names() {
    assert_eq!(error("hihg_52w > 1").suggestions, ["high_52w"]);
    assert_eq!(error("days_to_earning > 1").suggestions, ["days_to_earnings"]);
    assert_eq!(error("qqqqqq > 1").suggestions, [""; 0]);
}

#[test]
fn unknown_symbol_names_the_suggestions() {
    let error = ExpressionError::unknown_symbol("APPL".parse().unwrap(), 4, vec!["AAPL".to_owned()]);
    assert_eq!(error.to_string(), "unknown symbol APPL at 4; did you mean `AAPL`?");
}

#[test]
fn symbol_without_a_metric_suggests_its_price() {
    for (text, position, suggestions) in [
        ("SPY > 500", 1, vec!["SPY.price"]),
        ("price > 5 and SPY > 500", 15, vec!["SPY.price"]),
        ("BF-B.price > 5", 1, vec!["BF.B.price", "\"BF-B\".price"]),
        ("BF - B.price > 5", 1, vec!["BF.price"]),
        ("foo > 5", 1, vec![]),
    ] {
        let error = error(text);
        assert_eq!(
            (error.position, error.suggestions),
            (position, suggestions.into_iter().map(str::to_owned).collect()),
            "{text}"
        );
    }
}

#[test]
fn control_characters_are_shown_by_their_code() {
    assert_eq!(
        error("price < 1 \0").to_string(),
        "unexpected `U+0000` at 11; expected `and`, `or` or the end"
    );
}

#[test]
fn every_error_says_what_is_expected() {
    let nested = format!("{}price < 1", "(".repeat(17));
    let many = vec!["price < 1"; 21].join(" and ");
    let symbols = (0..9)
        .map(|at| format!("S{at}.price < 1"))
        .collect::<Vec<_>>()
        .join(" or ");
    let long = " ".repeat(1_001);
    for text in [
        nested.as_str(),
        many.as_str(),
        symbols.as_str(),
        long.as_str(),
        "price = 1",
        "1 < 2",
        "1 < price < 3",
        "(price < 1) + 2 > 3",
        "sma > 3",
        "macd(1, 2) > 3",
        "sma(500) > 3",
        "price@5m > 3",
        "price > $5",
        "price > 1.2345678",
        "TOOLONGSYMBOL.price > 3",
        "SPY.pric > 3",
    ] {
        let error = error(text);
        assert!(!error.expected.is_empty(), "{text}: {error}");
    }
}
