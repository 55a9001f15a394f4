//! Crossings, and the option `within`.

use alerts::expression::Truth::{self, False, True, Unknown};
use alerts::expression::{Crossings, Within};
use jiff::SignedDuration;

use super::support::{ValueTable, evaluate_at, parse, truth};

fn moved(from: &str, to: &str) -> ValueTable {
    ValueTable::default().set("price", from, to).observed()
}

#[test]
fn crossing_comes_from_strictly_one_side_and_includes_the_level() {
    for (from, to, above, below) in [
        ("179.999999", "180", True, False),
        ("179.999999", "180.000001", True, False),
        ("180", "180.000001", False, False),
        ("179.999998", "179.999999", False, False),
        ("180.000001", "180", False, True),
        ("180.000001", "179.999999", False, True),
        ("180", "179.999999", False, False),
        ("180.000002", "180.000001", False, False),
    ] {
        let values = moved(from, to);
        assert_eq!(truth("price crosses above 180", &values), above, "{from} to {to}");
        assert_eq!(truth("price crosses below 180", &values), below, "{from} to {to}");
        assert_eq!(truth("price crosses 180", &values), above.or(below), "{from} to {to}");
        assert_eq!(truth("180 crosses below price", &values), above, "{from} to {to}");
    }
}

#[test]
fn each_side_is_read_as_of_its_observation() {
    // The price rises from 99 to 101, but its average from 98 to 102.
    let values = moved("99", "101").set("sma(20)", "98", "102");
    assert_eq!(truth("price crosses below sma(20)", &values), True);
    assert_eq!(truth("price crosses above sma(20)", &values), False);
}

#[test]
fn observation_of_another_symbol_makes_no_crossing() {
    let values = ValueTable::default().set("price", "1", "3").observed_other("SPY");
    assert_eq!(truth("price crosses above 2", &values), False);
    assert_eq!(truth("not price crosses above 2", &values), True);
    let pair = values.set("SPY.price", "2", "2");
    assert_eq!(truth("price crosses above SPY.price", &pair), True);
}

#[test]
fn first_observation_crosses_nothing() {
    let values = ValueTable::default().set("price", "?", "3").observed();
    assert_eq!(truth("price crosses above 2", &values), Unknown);
}

/// Evaluates observations, given as minutes with the previous and the current price.
fn series(within: Option<&str>, text: &str, observations: &[(i64, &str, &str)]) -> Vec<Truth> {
    let mut crossings = Crossings::new(within.map(|text| text.parse().unwrap()));
    let expression = parse(text);
    observations
        .iter()
        .map(|(at, from, to)| evaluate_at(&expression, &moved(from, to), *at, &mut crossings).now)
        .collect()
}

#[test]
fn crossing_counts_for_one_evaluation_without_within() {
    let observations = [
        (0, "1", "3"),
        (1, "3", "4"),
        (2, "4", "1"),
        (3, "1", "3"),
        (4, "1", "3"),
    ];
    assert_eq!(
        series(None, "price crosses above 2", &observations),
        [True, False, False, True, True]
    );
}

#[test]
fn crossing_counts_within_its_duration_inclusive() {
    let observations = [(0, "1", "3"), (15, "3", "1"), (16, "1", "1")];
    assert_eq!(
        series(Some("15m"), "price crosses above 2", &observations),
        [True, True, False]
    );
    // The latest crossing counts.
    let observations = [(0, "1", "3"), (10, "1", "3"), (25, "3", "3"), (26, "3", "3")];
    assert_eq!(
        series(Some("15m"), "price crosses above 2", &observations),
        [True, True, True, False]
    );
}

#[test]
fn crossing_counts_to_the_close_of_its_session() {
    let observations = [(0, "1", "3"), (100, "3", "3"), (101, "3", "3")];
    assert_eq!(
        series(Some("session"), "price crosses above 2", &observations),
        [True, True, False]
    );
}

#[test]
fn within_applies_to_every_crossing_separately() {
    let text = "price crosses above 2 and price crosses above 4";
    let observations = [(0, "1", "3"), (10, "3", "5"), (16, "5", "5")];
    assert_eq!(series(Some("15m"), text, &observations), [False, True, False]);
    // A crossing in a branch that the first comparison decides is recorded too.
    let text = "price < 3 and price crosses above 2";
    assert_eq!(
        series(Some("15m"), text, &[(0, "1", "3"), (1, "3", "2.5")]),
        [False, True]
    );
}

#[test]
fn remembered_crossing_counts_while_values_are_missing() {
    let mut crossings = Crossings::new(Some(Within::Duration(SignedDuration::from_mins(15))));
    let expression = parse("price crosses above 2");
    assert_eq!(evaluate_at(&expression, &moved("1", "3"), 0, &mut crossings).now, True);
    let missing = ValueTable::default().observed();
    assert_eq!(evaluate_at(&expression, &missing, 15, &mut crossings).now, True);
    assert_eq!(evaluate_at(&expression, &missing, 16, &mut crossings).now, Unknown);
}

#[test]
fn within_is_between_one_minute_and_30_days() {
    for text in ["1m", "15m", "2h", "30d", "720h", "43200m", "session"] {
        assert!(text.parse::<Within>().is_ok(), "{text}");
    }
    for text in [
        "0m",
        "31d",
        "721h",
        "43201m",
        "15",
        "m",
        "",
        "-1m",
        "+1m",
        "1.5h",
        "1s",
        "é",
        "99999999999999999999m",
    ] {
        assert!(text.parse::<Within>().is_err(), "{text}");
    }
}
