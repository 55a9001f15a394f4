//! Evaluation.

use alerts::expression::Truth;

use super::support::{ValueTable, truth};

#[test]
fn strict_relations_exclude_the_level_and_others_include_it() {
    for (text, below, at, above) in [
        ("price < 180", Truth::True, Truth::False, Truth::False),
        ("price <= 180", Truth::True, Truth::True, Truth::False),
        ("price > 180", Truth::False, Truth::False, Truth::True),
        ("price >= 180", Truth::False, Truth::True, Truth::True),
    ] {
        for (price, expected) in [("179.999999", below), ("180", at), ("180.000001", above)] {
            assert_eq!(
                truth(text, &ValueTable::default().set("price", "?", price)),
                expected,
                "{text} at {price}"
            );
        }
    }
}
