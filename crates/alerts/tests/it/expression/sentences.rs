//! Sentences and the texts that people type.

use alerts::expression::Expression;

use super::support::parse;

#[test]
fn sentences_are_plain_english() {
    for (expression, expected) in [
        (
            "price <= 180 and rsi(14) < 30",
            "AAPL falls to 180.00 or below while its 14-day RSI is under 30",
        ),
        ("price < 180", "AAPL falls below 180.00"),
        ("price > 180.125", "AAPL rises above 180.125"),
        ("price >= sma(200)", "AAPL rises to its 200-day average or above"),
        ("price between 170 and 180", "AAPL is between 170.00 and 180.00"),
        ("price crosses above sma(50)", "AAPL crosses above its 50-day average"),
        ("price crosses 5", "AAPL crosses 5.00"),
        ("not price < 180", "AAPL: its price is not under 180.00"),
        ("not price crosses 5", "AAPL: its price does not cross 5.00"),
        (
            "rsi(14) <= 30 or pe > 20",
            "AAPL: its 14-day RSI is at or below 30 or its P/E is over 20",
        ),
        (
            "(price < 1 or pe < 2) and pe > 1",
            "AAPL: (its price is under 1.00 or its P/E is under 2) and its P/E is over 1",
        ),
        (
            "price < 1 and pe < 2 and pe > 1",
            "AAPL falls below 1.00 while its P/E is under 2 and its P/E is over 1",
        ),
        (
            "not (pe < 2 and pe > 1)",
            "AAPL: not (its P/E is under 2 and its P/E is over 1)",
        ),
        (
            "change_pct(open) <= -5 and SPY.price < SPY.sma(50)",
            "AAPL: its percentage change since the open is at or below -5 and SPY's price is under SPY's 50-day average",
        ),
        ("days_to_earnings <= 3", "AAPL: its days to earnings are at or below 3"),
        (
            "insider_buys(30) >= 500000",
            "AAPL: its insider purchases of 30 days are at or above 500000.00",
        ),
        ("\"BF-B\".price > price", "AAPL: \"BF-B\"'s price is over its price"),
        (
            "change_pct(5) > 2 * 3",
            "AAPL: its percentage change since 5 sessions ago is over 2 * 3",
        ),
    ] {
        let expression = parse(expression);
        let sentence = expression.sentence("AAPL".parse().unwrap());
        assert_eq!(sentence, expected);
        let parsed = Expression::parse_text(&sentence).unwrap_or_else(|error| panic!("{sentence}: {error}"));
        assert_eq!((parsed.symbol.as_str(), parsed.rest), ("AAPL", ""));
        assert_eq!(parsed.expression, expression, "{sentence}");
    }
}

#[test]
fn sentence_without_symbol_is_parsed_like_an_expression() {
    let expression = parse("price <= 180 and rsi(14) < 30");
    let sentence = expression.sentence_without_symbol();
    assert_eq!(
        sentence,
        "its price is at or below 180.00 and its 14-day RSI is under 30"
    );
    assert_eq!(parse(&sentence), expression);
}

#[test]
fn texts_that_people_type_are_parsed() {
    for (text, symbol, expression, rest) in [
        ("AAPL < 180", "AAPL", "price < 180", ""),
        ("aapl<180", "AAPL", "price < 180", ""),
        ("BF-B < 180", "BF-B", "price < 180", ""),
        ("\"BF-B\" < 180", "BF-B", "price < 180", ""),
        ("3M at or below 90", "3M", "price <= 90", ""),
        ("BRK.B above 400", "BRK.B", "price > 400", ""),
        ("AAPL is 180 or below", "AAPL", "price <= 180", ""),
        ("AAPL.price < 180", "AAPL", "price < 180", ""),
        (
            "BRK.B.rsi < 30 and price < 5",
            "BRK.B",
            "rsi(14) < 30 and price < 5",
            "",
        ),
        ("AAPL rsi under 30", "AAPL", "rsi(14) < 30", ""),
        ("AAPL: rsi under 30", "AAPL", "rsi(14) < 30", ""),
        ("AAPL's 14-day RSI is under 30", "AAPL", "rsi(14) < 30", ""),
        (
            "AAPL < SPY.price and aapl.pe < 3",
            "AAPL",
            "price < SPY.price and pe < 3",
            "",
        ),
        (
            "AAPL below 180 and rsi under 30 each time until 2027-01-31 to telegram",
            "AAPL",
            "price < 180 and rsi(14) < 30",
            "each time until 2027-01-31 to telegram",
        ),
        ("A.pe < 5", "A", "pe < 5", ""),
        ("\"A.pe\" < 5", "A.PE", "price < 5", ""),
        ("\"A.pe\".rsi < 5", "A.PE", "rsi(14) < 5", ""),
        ("NOT < 5", "NOT", "price < 5", ""),
        ("A: NOT's price < ITS's price", "A", "NOT.price < ITS.price", ""),
    ] {
        let parsed = Expression::parse_text(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.symbol.as_str(), symbol, "{text}");
        assert_eq!(parsed.expression.to_string(), expression, "{text}");
        assert_eq!(parsed.rest, rest);
        assert_eq!(parsed.symbols[0], (parsed.symbol, 1));
        assert_eq!(text.chars().skip(parsed.rest_position - 1).collect::<String>(), rest);
    }
}

#[test]
fn errors_in_texts_have_positions_in_the_whole_text() {
    for (text, position) in [
        ("  AAPL < ", 10),
        ("AAPL smaa > 1", 6),
        ("", 1),
        ("? < 5", 1),
        ("AAPL and 5", 6),
        ("AAPL", 5),
    ] {
        assert_eq!(
            Expression::parse_text(text).expect_err(text).position,
            position,
            "{text}"
        );
    }
    assert!(
        Expression::parse_text("AAPL < 180 and > 5").is_err(),
        "only the first price may be omitted"
    );
}
