//! Evaluation: relations, exactness and unknown values.

use alerts::expression::Truth::{self, False, True, Unknown};

use super::support::{ValueTable, truth};

fn with(metric: &str, value: &str) -> ValueTable {
    ValueTable::default().set(metric, "?", value)
}

#[test]
fn strict_relations_exclude_the_level_and_others_include_it() {
    for (text, below, at, above) in [
        ("price < 180", True, False, False),
        ("price <= 180", True, True, False),
        ("price > 180", False, False, True),
        ("price >= 180", False, True, True),
    ] {
        for (price, expected) in [("179.999999", below), ("180", at), ("180.000001", above)] {
            assert_eq!(truth(text, &with("price", price)), expected, "{text} at {price}");
        }
    }
}

#[test]
fn between_includes_both_ends() {
    for (price, expected) in [
        ("169.999999", False),
        ("170", True),
        ("175", True),
        ("180", True),
        ("180.000001", False),
    ] {
        assert_eq!(
            truth("price between 170 and 180", &with("price", price)),
            expected,
            "{price}"
        );
    }
}

#[test]
fn operators_bind_as_usual() {
    for (text, expected) in [
        ("price > 1 + 2 * 3", False),
        ("price > (1 + 2) * 2", True),
        ("price > 10 - 2 - 1", False),
        ("price > 10 - (2 + 2)", True),
        ("price * -1 < -6", True),
        ("-price < -6 and price / 2 > 3", True),
        // `and` binds tighter than `or`, `not` tighter than `and`.
        ("price > 1 or price > 100 and price > 100", True),
        ("(price > 1 or price > 100) and price > 100", False),
        ("not price > 100 and price > 100", False),
        ("not (price > 100 and price > 100)", True),
    ] {
        assert_eq!(truth(text, &with("price", "7")), expected, "{text}");
    }
}

#[test]
fn logic_has_three_values() {
    let values = with("price", "7");
    for (text, expected) in [
        ("pe < 5", Unknown),
        ("not pe < 5", Unknown),
        ("pe < 5 and price > 100", False),
        ("pe < 5 and price > 1", Unknown),
        ("pe < 5 or price > 1", True),
        ("pe < 5 or price > 100", Unknown),
        ("pe between 1 and 2 or price > 1", True),
        ("price between 8 and pe", False),
        ("price between 6 and pe", Unknown),
        ("price < pe + 1", Unknown),
        ("price * 0 < pe * 0", Unknown),
        ("pe crosses above 5", Unknown),
    ] {
        assert_eq!(truth(text, &values.clone().observed()), expected, "{text}");
    }
}

#[test]
fn truth_tables_are_those_of_kleene() {
    for (left, right, and, or) in [
        (True, True, True, True),
        (True, False, False, True),
        (True, Unknown, Unknown, True),
        (False, False, False, False),
        (False, Unknown, False, Unknown),
        (Unknown, Unknown, Unknown, Unknown),
    ] {
        assert_eq!((left.and(right), right.and(left)), (and, and));
        assert_eq!((left.or(right), right.or(left)), (or, or));
        assert_eq!(!left.and(right), (!left).or(!right));
    }
    assert_eq!(!Unknown, Unknown);
    assert_eq!(Truth::from(None::<bool>), Unknown);
}

#[test]
fn division_by_zero_has_no_value() {
    assert_eq!(truth("price / 0 > 1", &with("price", "7")), Unknown);
    assert_eq!(
        truth("price / pe > 1", &with("price", "7").set("pe", "?", "0")),
        Unknown
    );
    assert_eq!(
        truth("price / pe > 1", &with("price", "7").set("pe", "?", "0~")),
        Unknown
    );
    assert_eq!(
        truth("price / pe > 1", &with("price", "0").set("pe", "?", "0~")),
        Unknown
    );
}

#[test]
fn exact_values_have_no_tolerance() {
    // A float would find that 189.20 × 1.05 misses 198.66.
    assert_eq!(truth("price >= 189.2 * 1.05", &with("price", "198.66")), True);
    assert_eq!(truth("price >= 189.2 * 1.05", &with("price", "198.659999")), False);
    assert_eq!(truth("price / 3 * 3 >= 0.1", &with("price", "0.1")), True);
    assert_eq!(truth("price + 0.2 > 0.3", &with("price", "0.1")), False);
    // One millionth of a billion is 1e-15 relative.
    assert_eq!(truth("price > 1000000000", &with("price", "1000000000.000001")), True);
    // Numbers beyond 128 bits stay exact.
    let cube = "price * price * price * price * price * price * price";
    let product = with("price", "1000000000.000001");
    assert_eq!(
        truth(&format!("{cube} > {}", cube.replace("price", "1000000000")), &product),
        True
    );
    assert_eq!(truth(&format!("{cube} / 7 * 7 > {cube}"), &product), False);
}

#[test]
fn approximate_sides_within_1e_9_are_equal() {
    for (ema, less, at_most) in [
        ("99.9999998~", True, True),
        ("99.99999995~", False, True),
        ("100~", False, True),
        ("100.00000005~", False, True),
        ("100.0000002~", False, False),
    ] {
        let values = with("ema(9)", ema);
        assert_eq!(truth("ema(9) < 100", &values), less, "{ema}");
        assert_eq!(truth("ema(9) <= 100", &values), at_most, "{ema}");
        assert_eq!(truth("ema(9) > 100", &values), !at_most, "{ema}");
        assert_eq!(truth("ema(9) >= 100", &values), !less, "{ema}");
    }
    // The tolerance is relative: near zero, numbers differ.
    assert_eq!(truth("macd > 0", &with("macd", "0.0000000000001~")), True);
}

#[test]
fn floats_that_are_not_finite_are_no_values() {
    for value in ["inf~", "-inf~", "NaN~"] {
        assert_eq!(truth("ema(9) < 100", &with("ema(9)", value)), Unknown);
    }
    assert_eq!(truth("ema(9) * ema(9) > 1", &with("ema(9)", "1e300~")), Unknown);
}
