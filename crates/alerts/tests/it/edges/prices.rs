//! Levels, touches and extremes.

use alerts::condition::{Condition, RsiDirection, Side};
use alerts::engine::{EvaluationIssue, EvaluationStatus};

use super::fixture::{Fixture, NOTHING, flat};
use crate::common::{decimal, price};
use crate::oracle::OwnedEvent;

const MORNING: &str = "2024-03-08T14:00:00Z";
const AT_TEN: &str = "2024-03-08T15:00:00Z";
const AT_ELEVEN: &str = "2024-03-08T16:00:00Z";
const AT_NOON: &str = "2024-03-08T17:00:00Z";

fn at_or_beyond(side: Side, threshold: &str) -> Condition {
    Condition::Price {
        side,
        threshold: price(threshold),
    }
}

fn change(side: Side, percent: &str) -> Condition {
    Condition::PriceChange {
        side,
        percent: decimal(percent),
    }
}

const fn touch(side: Side) -> Condition {
    Condition::MaTouch { side, period: 3 }
}

#[test]
fn price_alert_fires_exactly_at_its_threshold() {
    let mut fixture = Fixture::new();
    fixture.arm(1, at_or_beyond(Side::Above, "200"), MORNING);
    fixture.arm(2, at_or_beyond(Side::Below, "150"), MORNING);
    assert_eq!(fixture.observe("199.999999", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("150.000001", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("200", AT_ELEVEN), [1]);
    assert_eq!(fixture.observe("150", AT_NOON), [2]);
}

#[test]
fn five_percent_above_189_20_is_198_66_and_not_198_65() {
    let mut fixture = Fixture::new();
    fixture.arm_with_initial_price(1, change(Side::Above, "5"), Some("189.20"), MORNING);
    assert_eq!(fixture.observe("198.65", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("198.659999", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("198.66", AT_NOON), [1]);
}

#[test]
fn five_percent_below_189_20_is_179_74_and_not_179_75() {
    let mut fixture = Fixture::new();
    fixture.arm_with_initial_price(1, change(Side::Below, "5"), Some("189.20"), MORNING);
    assert_eq!(fixture.observe("179.75", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("179.740001", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("179.74", AT_NOON), [1]);
}

#[test]
fn percent_change_without_an_initial_price_does_not_fire() {
    let mut fixture = Fixture::new();
    fixture.arm(1, change(Side::Above, "5"), MORNING);
    assert_eq!(fixture.observe("1", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("1000", AT_ELEVEN), NOTHING);
    assert_eq!(
        fixture.state(1, AT_ELEVEN),
        EvaluationStatus::Waiting(EvaluationIssue::NoInitialPrice)
    );
}

#[test]
fn touch_from_below_requires_a_previous_price_below_the_average() {
    // The average of 3 with a price p is (10 + 10 + p) / 3. It equals p at 10.
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10", "10"]);
    fixture.arm(1, touch(Side::Above), MORNING);
    assert_eq!(fixture.observe("11", AT_TEN), NOTHING, "there is no observation before");
    assert_eq!(fixture.observe("10", AT_TEN), NOTHING, "it came from above");
    assert_eq!(
        fixture.observe("12", AT_TEN),
        NOTHING,
        "it was at the average and not below"
    );
    assert_eq!(fixture.observe("9.999999", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("10", AT_NOON), [1]);
}

#[test]
fn touch_from_above_requires_a_previous_price_above_the_average() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10", "10"]);
    fixture.arm(1, touch(Side::Below), MORNING);
    assert_eq!(fixture.observe("9", AT_TEN), NOTHING, "there is no observation before");
    assert_eq!(fixture.observe("10", AT_TEN), NOTHING, "it came from below");
    assert_eq!(
        fixture.observe("8", AT_TEN),
        NOTHING,
        "it was at the average and not above"
    );
    assert_eq!(fixture.observe("10.000001", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("8", AT_NOON), [1], "beyond the average is a touch, too");
}

#[test]
fn previous_observation_of_a_touch_may_be_older_than_the_alert() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10", "10"]);
    fixture.observe("9", AT_TEN);
    fixture.arm(1, touch(Side::Above), AT_ELEVEN);
    assert_eq!(fixture.observe("10", AT_NOON), [1]);
}

#[test]
fn previous_observation_is_compared_with_the_average_of_its_day() {
    // On Thursday 9.5 is below the average with 10 and 10. Thursday closes at 8, so Friday's average is reached at 9.
    let mut fixture = Fixture::new().after_closes("2024-03-07", &["10", "10"]);
    fixture.arm(1, touch(Side::Above), "2024-03-07T14:00:00Z");
    assert_eq!(fixture.observe("9.5", "2024-03-07T15:00:00Z"), NOTHING);
    fixture.bar("2024-03-07", "8", "2024-03-07T21:00:00Z");
    assert_eq!(fixture.observe("9.2", AT_TEN), [1]);
}

#[test]
fn new_extremes_are_strict() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"]);
    fixture.arm(1, Condition::NewExtreme { side: Side::Above }, MORNING);
    fixture.arm(2, Condition::NewExtreme { side: Side::Below }, MORNING);
    assert_eq!(fixture.observe("10", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("10.000001", AT_ELEVEN), [1]);
    assert_eq!(fixture.observe("9.999999", AT_NOON), [2]);
}

#[test]
fn new_high_exceeds_earlier_observations_of_the_day() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"]);
    fixture.observe("12", AT_TEN);
    fixture.arm(1, Condition::NewExtreme { side: Side::Above }, AT_TEN);
    assert_eq!(fixture.observe("12", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("12.01", AT_NOON), [1]);
}

#[test]
fn first_price_is_no_extreme() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::NewExtreme { side: Side::Above }, MORNING);
    assert_eq!(fixture.observe("10", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("10.01", AT_ELEVEN), [1]);
}

#[test]
fn extreme_window_is_364_days() {
    let mut fixture = Fixture::new();
    for (day, close) in [("2023-03-09", "20"), ("2023-03-10", "15"), ("2024-03-07", "10")] {
        let bar = flat(day.parse().unwrap(), price(close));
        fixture.process(&OwnedEvent::Bar(fixture.symbol, bar), "2024-03-07T22:00:00Z");
    }
    fixture.arm(1, Condition::NewExtreme { side: Side::Above }, MORNING);
    assert_eq!(fixture.observe("15", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("15.01", AT_ELEVEN), [1]);
}

#[test]
fn condition_that_holds_at_creation_fires_at_the_next_evaluation() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10", "10"]);
    fixture.process(&fixture.quote("11", Some(5000)), AT_TEN);
    let soon = "2024-03-08T15:15:00Z";
    fixture.arm(1, at_or_beyond(Side::Above, "11"), soon);
    fixture.arm_with_initial_price(2, change(Side::Above, "10"), Some("10"), soon);
    fixture.arm(3, Condition::NewExtreme { side: Side::Above }, soon);
    fixture.arm(4, touch(Side::Below), soon);
    assert_eq!(
        fixture.process(&OwnedEvent::Evaluate, soon),
        [1, 2],
        "an edge waits for a new observation"
    );
    assert_eq!(fixture.observe("10", AT_NOON), [4]);
}

#[test]
fn stale_observation_does_not_fire_a_newly_armed_alert() {
    let mut fixture = Fixture::new();
    fixture.observe("11", AT_TEN);
    // 15 minutes and one second later.
    fixture.arm(1, at_or_beyond(Side::Above, "11"), "2024-03-08T15:15:01Z");
    assert_eq!(fixture.process(&OwnedEvent::Evaluate, "2024-03-08T15:15:01Z"), NOTHING);
    assert_eq!(fixture.observe("10.99", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("11", AT_NOON), [1]);
}

#[test]
fn price_of_a_past_session_does_not_fire() {
    let mut fixture = Fixture::new().after_closes("2024-03-07", &["10"]);
    fixture.observe("11", "2024-03-07T15:00:00Z");
    fixture.arm(1, at_or_beyond(Side::Above, "11"), MORNING);
    assert_eq!(fixture.process(&OwnedEvent::Evaluate, MORNING), NOTHING);
    assert_eq!(
        fixture.process(&OwnedEvent::Evaluate, AT_TEN),
        NOTHING,
        "today there was no observation yet"
    );
    assert_eq!(fixture.observe("11", AT_ELEVEN), [1]);
}

/// Returns a fixture with fifteen alternating closes: the RSI is near 50.
fn to_and_fro() -> Fixture {
    let closes: Vec<_> = (0..15).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    Fixture::new().after_closes("2024-03-08", &closes)
}

fn rsi(direction: RsiDirection, threshold: &str) -> Condition {
    Condition::Rsi {
        direction,
        threshold: decimal(threshold),
    }
}

#[test]
fn rsi_alert_for_both_waits_for_the_opposite_side() {
    let mut fixture = to_and_fro();
    fixture.arm(1, rsi(RsiDirection::Both, "60"), MORNING);
    fixture.arm(2, rsi(RsiDirection::Both, "40"), MORNING);
    assert_eq!(fixture.observe("10", AT_TEN), NOTHING);
    assert_eq!(
        fixture.observe("20", AT_ELEVEN),
        [1],
        "it was below 60, so 60 or more is the other side"
    );
    assert_eq!(fixture.observe("2", AT_NOON), [2]);
}

#[test]
fn rsi_alert_fires_exactly_at_its_threshold() {
    // Seven gains and seven losses of equal size: the RSI of the completed sessions, and of an unchanged price, is 50.
    let mut fixture = to_and_fro();
    fixture.arm(1, rsi(RsiDirection::Above, "50.000001"), MORNING);
    fixture.arm(2, rsi(RsiDirection::Above, "50"), MORNING);
    fixture.arm(3, rsi(RsiDirection::Below, "50"), MORNING);
    fixture.arm(4, rsi(RsiDirection::Below, "49.999999"), MORNING);
    assert_eq!(fixture.observe("10", AT_TEN), [2, 3]);
}

#[test]
fn rsi_alert_for_both_uses_the_first_available_rsi() {
    let closes: Vec<_> = (0..13).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    let mut fixture = Fixture::new().after_closes("2024-03-07", &closes);
    fixture.arm(1, rsi(RsiDirection::Both, "60"), "2024-03-07T14:00:00Z");
    assert_eq!(
        fixture.observe("30", "2024-03-07T15:00:00Z"),
        NOTHING,
        "13 closes and a price are no 14 changes"
    );
    fixture.bar("2024-03-07", "11", "2024-03-07T21:00:00Z");
    assert_eq!(fixture.observe("30", AT_TEN), NOTHING, "the first RSI is above 60");
    assert_eq!(fixture.observe("31", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("10", AT_NOON), [1]);
}

#[test]
fn percent_change_without_an_initial_price_is_blind_when_quotes_have_stopped() {
    let mut fixture = Fixture::new();
    fixture.arm(1, change(Side::Above, "5"), MORNING);
    let waits = EvaluationStatus::Waiting(EvaluationIssue::NoInitialPrice);
    assert_eq!(fixture.state(1, AT_TEN), waits, "no price was ever seen");
    assert_eq!(fixture.observe("1", AT_TEN), NOTHING);
    assert_eq!(fixture.state(1, AT_TEN), waits);
    assert_eq!(
        fixture.state(1, AT_ELEVEN),
        EvaluationStatus::Blind(EvaluationIssue::StaleQuotes)
    );
}
