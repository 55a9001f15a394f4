//! Conditions that can never be true, and others.

use super::*;

fn reasons(text: &str) -> Vec<String> {
    never_true(&text.parse().unwrap(), |_| true)
}

fn is_possible(text: &str) -> bool {
    reasons(text).is_empty()
}

#[test]
fn comparison_beyond_the_bounds_of_its_metric_is_impossible() {
    assert_eq!(
        reasons("rsi(14) > 100"),
        ["rsi(14) > 100 is impossible: rsi(14) is from 0 to 100"]
    );
    assert_eq!(
        reasons("price < 0"),
        ["price < 0 is impossible: price is at least 0.000001"]
    );
    for text in [
        "rsi(14) < 0",
        "price <= 0",
        "volume < 0",
        "drawdown(5) > 100",
        "days_to_earnings < 0",
        "change_pct(prev_close) < -100",
        "not rsi(14) <= 100",
        "rsi(14) crosses above 101",
        "rsi(14) crosses below -1",
        "rsi(14) between 101 and 110",
        "not rsi(14) between 0 and 100",
        "2 * rsi(14) + 1 > 201",
        "-price > 0",
    ] {
        assert!(!is_possible(text), "{text}");
    }
}

#[test]
fn message_names_the_bound_that_is_exceeded() {
    assert_eq!(
        reasons("price > 9000000000000"),
        ["price > 9000000000000 is impossible: price is at most 1000000000"]
    );
    assert_eq!(
        reasons("9000000000000 < price"),
        ["9000000000000 < price is impossible: price is at most 1000000000"]
    );
    assert_eq!(
        reasons("-price > 0"),
        ["-price > 0 is impossible: -price is at most -0.000001"]
    );
    assert_eq!(
        reasons("0 * price > 1"),
        ["0 * price > 1 is impossible: 0 * price is 0"]
    );
    assert_eq!(
        reasons("rsi(14) > 200 - rsi(9)"),
        ["rsi(14) > 200 - rsi(9) is impossible: rsi(14) is from 0 to 100, 200 - rsi(9) is from 100 to 200"]
    );
}

#[test]
fn number_is_not_different_from_itself() {
    assert_eq!(
        reasons("price > price"),
        ["price > price is impossible: both sides are equal"]
    );
    for text in [
        "sma(5) < sma(5)",
        "price crosses price",
        "not price >= price",
        "price + 1 < price + 1",
    ] {
        assert!(!is_possible(text), "{text}");
    }
    for text in ["price >= price", "not price crosses price", "price > SPY.price"] {
        assert!(is_possible(text), "{text}");
    }
}

#[test]
fn division_by_zero_has_no_value() {
    assert_eq!(
        reasons("price / 0 > 1"),
        ["price / 0 > 1 is unknown, because a division by 0 has no value"]
    );
    for text in [
        "not price / 0 > 1",
        "1 + price / (1 - 1) > 1",
        "-(price / 0) < 1",
        "price / (0 * volume) > 1",
    ] {
        assert!(!is_possible(text), "{text}");
    }
    assert!(is_possible("price / volume > 1"));
    assert!(is_possible("price / 0 > 1 or price > 1"));
}

#[test]
fn comparison_at_the_bounds_is_possible() {
    for text in [
        "rsi(14) >= 100",
        "rsi(14) <= 0",
        "price <= 0.000001",
        "volume <= 0",
        "drawdown(5) >= 99.999999",
        "not rsi(14) < 100",
        "rsi(14) crosses above 100",
        "2 * rsi(14) + 1 >= 201",
        "macd < 0",
        "bb_lower < 0",
        "eps < 0",
        "pe > 1000000",
        "price * price < 0.000001",
        "price / rsi(14) > 100",
    ] {
        assert!(is_possible(text), "{text}");
    }
}

#[test]
fn every_way_to_truth_must_be_impossible() {
    assert!(is_possible("rsi(14) > 100 or price < 10"));
    assert!(!is_possible("rsi(14) > 100 and price < 10"));
    assert_eq!(
        reasons("(rsi(14) > 100 or price < 0) and volume > 5"),
        [
            "rsi(14) > 100 is impossible: rsi(14) is from 0 to 100",
            "price < 0 is impossible: price is at least 0.000001",
        ]
    );
    assert!(is_possible("not (rsi(14) > 100 and price < 10)"));
    assert!(!is_possible("not (rsi(14) <= 100 or price < 10)"));
}

#[test]
fn comparisons_of_one_metric_can_exclude_each_other() {
    assert_eq!(
        reasons("price < 10 and price > 20"),
        ["price < 10 and price > 20 exclude each other"]
    );
    assert_eq!(
        reasons("price between 20 and 10"),
        ["price between 20 and 10 is impossible"]
    );
    assert!(!is_possible("price < 10 and price >= 10"));
    assert!(is_possible("price <= 10 and price >= 10"));
    assert!(is_possible("price < 10 and SPY.price > 20"));
    assert!(is_possible("price < 10 or price > 20"));
    assert!(!is_possible("not (price < 10 or price > 5) and volume > 3"));
    assert!(is_possible("price < sma(20) and price > sma(50)"));
    assert!(is_possible("price crosses above 20 and price < 10"));
}

#[test]
fn metric_without_a_value_makes_its_comparison_impossible() {
    let without_pe = |text: &str| {
        let expression = text.parse().unwrap();
        never_true(&expression, |used| used.metric.spec().name != "pe")
    };
    assert_eq!(
        without_pe("price < 10 and pe < 15"),
        ["pe < 15 is unknown, because pe has no value"]
    );
    assert_eq!(
        without_pe("not pe < 15"),
        ["not pe < 15 is unknown, because pe has no value"]
    );
    assert!(without_pe("price < 10 or pe < 15").is_empty());
}

#[test]
fn expression_with_too_many_ways_to_truth_counts_as_possible() {
    let choice = "(rsi(14) > 100 or rsi(14) > 101)";
    assert!(!is_possible(&[choice; 8].join(" and ")));
    assert!(is_possible(&[choice; 9].join(" and ")));
}
