//! The limits, on both sides.

use alerts::expression::{Expression, ExpressionProblem as Problem, MAX_CHARACTERS};

fn problem(text: &str) -> Option<(Problem, usize)> {
    text.parse::<Expression>()
        .err()
        .map(|error| (error.problem, error.position))
}

#[test]
fn text_has_at_most_1000_characters() {
    let padded = |characters: usize| format!("price < 1{}", " ".repeat(characters - 9));
    assert_eq!(problem(&padded(1_000)), None);
    assert_eq!(problem(&padded(1_001)), Some((Problem::TooLong, 1_001)));
    // Characters count, not bytes: this space has three.
    let wide = format!("price < 1{}", "\u{3000}".repeat(991));
    assert_eq!(problem(&wide), None);
}

#[test]
fn expression_has_at_most_20_comparisons() {
    let comparisons = |count: usize| vec!["pe < 1"; count].join(" or ");
    assert_eq!(problem(&comparisons(20)), None);
    assert_eq!(problem(&comparisons(21)), Some((Problem::TooManyComparisons, 201)));
}

#[test]
fn expression_has_at_most_8_symbols() {
    let symbols = |names: &str| -> String {
        let terms: Vec<_> = names.chars().map(|name| format!("{name}.pe<1")).collect();
        terms.join(" or ")
    };
    assert_eq!(problem(&symbols("ABCDEFGHHA")), None);
    assert_eq!(problem(&symbols("ABCDEFGHI")), Some((Problem::TooManySymbols, 81)));
    // The own symbol counts if it is used.
    assert_eq!(problem(&format!("{} or pe<1", symbols("ABCDEFG"))), None);
    assert_eq!(
        problem(&format!("{} or pe<1", symbols("ABCDEFGH"))),
        Some((Problem::TooManySymbols, 81))
    );
    let named = Expression::parse(&format!("{} or pe<1", symbols("ABCDEFGH")), Some("A".parse().unwrap()));
    assert!(named.is_ok());
}

#[test]
fn places_are_nested_at_most_16_deep() {
    for opening in ["(", "not ", "(not "] {
        let levels = opening.matches('(').count() + opening.matches("not").count();
        let text = |depth: usize| {
            let count = depth / levels;
            let rest = if depth % levels == 1 { "(" } else { "" };
            let open = format!("{}{rest}", opening.repeat(count));
            format!("{open}pe<1{}", ")".repeat(open.matches('(').count()))
        };
        assert_eq!(problem(&text(16)), None, "{}", text(16));
        assert!(
            matches!(problem(&text(17)), Some((Problem::TooDeep, _))),
            "{}",
            text(17)
        );
    }
    assert_eq!(problem(&format!("pe<{}1", "-".repeat(16))), None);
    assert_eq!(
        problem(&format!("pe<{}1", "-".repeat(17))),
        Some((Problem::TooDeep, 20))
    );
    assert_eq!(
        problem(&format!("{}pe<-1{}", "(".repeat(16), ")".repeat(16))),
        Some((Problem::TooDeep, 20))
    );
    // Parentheses of arguments do not nest.
    assert_eq!(problem(&format!("{}rsi(14)<1{}", "(".repeat(16), ")".repeat(16))), None);
}

#[test]
fn canonical_text_stays_within_the_limit() {
    let comparison = format!("{}<.5", vec!["rsi"; 19].join("+"));
    let longest = vec![comparison; 12].join(" or ");
    let expression: Expression = longest.parse().unwrap();
    let text = expression.to_string();
    assert_eq!(text, longest);
    assert!(text.len() <= MAX_CHARACTERS);
    let sentence = expression.sentence("AAPL".parse().unwrap());
    assert!(sentence.len() > MAX_CHARACTERS);
    assert_eq!(Expression::parse_text(&sentence).unwrap().expression, expression);
}

#[test]
fn sentence_states_no_more_than_an_expression_can() {
    let comparison = format!("{} is under 5", vec!["its P/E"; 18].join(" + "));
    let text = |count: usize| format!("AAPL: {}", vec![comparison.as_str(); count].join(" or "));
    assert!(Expression::parse_text(&text(17)).is_ok());
    let error = Expression::parse_text(&text(18)).unwrap_err();
    assert_eq!(error.problem, Problem::TooLong);
    assert!(Expression::parse_text(&text(250)).is_err());
}

#[test]
fn comparison_has_at_most_20_numbers_and_metrics() {
    let text = |count: usize| format!("pe < 1 and price{} > 2", "/1.000001".repeat(count - 2));
    assert_eq!(problem(&text(20)), None);
    assert_eq!(problem(&text(21)), Some((Problem::TooManyNumbers, 12)));
}
