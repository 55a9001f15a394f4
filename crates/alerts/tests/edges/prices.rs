//! Levels, touches and extremes.

use alerts::condition::{Condition, RsiDirection, Side};
use alerts::engine::{NotJudged, State};

use super::stage::{NOTHING, Stage, flat};
use crate::common::{decimal, price};
use crate::oracle::Told;

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
fn a_price_at_the_threshold_fires_and_a_millionth_before_it_does_not() {
    let mut stage = Stage::new();
    stage.arm(1, at_or_beyond(Side::Above, "200"), MORNING);
    stage.arm(2, at_or_beyond(Side::Below, "150"), MORNING);
    assert_eq!(stage.see("199.999999", AT_TEN), NOTHING);
    assert_eq!(stage.see("150.000001", AT_TEN), NOTHING);
    assert_eq!(stage.see("200", AT_ELEVEN), [1]);
    assert_eq!(stage.see("150", AT_NOON), [2]);
}

#[test]
fn five_percent_above_189_20_is_198_66_and_not_198_65() {
    let mut stage = Stage::new();
    stage.arm_from(1, change(Side::Above, "5"), Some("189.20"), MORNING);
    assert_eq!(stage.see("198.65", AT_TEN), NOTHING);
    assert_eq!(stage.see("198.659999", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("198.66", AT_NOON), [1]);
}

#[test]
fn five_percent_below_189_20_is_179_74_and_not_179_75() {
    let mut stage = Stage::new();
    stage.arm_from(1, change(Side::Below, "5"), Some("189.20"), MORNING);
    assert_eq!(stage.see("179.75", AT_TEN), NOTHING);
    assert_eq!(stage.see("179.740001", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("179.74", AT_NOON), [1]);
}

#[test]
fn percent_change_without_an_initial_price_waits_for_it_and_does_not_fire() {
    let mut stage = Stage::new();
    stage.arm(1, change(Side::Above, "5"), MORNING);
    assert_eq!(stage.see("1", AT_TEN), NOTHING);
    assert_eq!(stage.see("1000", AT_ELEVEN), NOTHING);
    assert_eq!(stage.state(1, AT_ELEVEN), State::Waiting(NotJudged::NoInitialPrice));
}

#[test]
fn a_touch_from_below_needs_an_observation_strictly_below_the_average_before() {
    // The average of 3 with a price p is (10 + 10 + p) / 3: p is at it at 10.
    let mut stage = Stage::new().after_closes("2024-03-08", &["10", "10"]);
    stage.arm(1, touch(Side::Above), MORNING);
    assert_eq!(stage.see("11", AT_TEN), NOTHING, "there is no observation before");
    assert_eq!(stage.see("10", AT_TEN), NOTHING, "it came from above");
    assert_eq!(stage.see("12", AT_TEN), NOTHING, "it was at the average and not below");
    assert_eq!(stage.see("9.999999", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("10", AT_NOON), [1]);
}

#[test]
fn a_touch_from_above_needs_an_observation_strictly_above_the_average_before() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10", "10"]);
    stage.arm(1, touch(Side::Below), MORNING);
    assert_eq!(stage.see("9", AT_TEN), NOTHING, "there is no observation before");
    assert_eq!(stage.see("10", AT_TEN), NOTHING, "it came from below");
    assert_eq!(stage.see("8", AT_TEN), NOTHING, "it was at the average and not above");
    assert_eq!(stage.see("10.000001", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("8", AT_NOON), [1], "beyond the average is a touch, too");
}

#[test]
fn the_observation_before_a_touch_may_be_older_than_the_alert() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10", "10"]);
    stage.see("9", AT_TEN);
    stage.arm(1, touch(Side::Above), AT_ELEVEN);
    assert_eq!(stage.see("10", AT_NOON), [1]);
}

#[test]
fn the_observation_before_a_touch_is_compared_with_the_average_of_its_own_day() {
    // On Thursday 9.5 is below the average with 10 and 10; Thursday then closes at 8 and Friday's average is met at 9.
    let mut stage = Stage::new().after_closes("2024-03-07", &["10", "10"]);
    stage.arm(1, touch(Side::Above), "2024-03-07T14:00:00Z");
    assert_eq!(stage.see("9.5", "2024-03-07T15:00:00Z"), NOTHING);
    stage.bar("2024-03-07", "8", "2024-03-07T21:00:00Z");
    assert_eq!(stage.see("9.2", AT_TEN), [1]);
}

#[test]
fn a_new_high_is_strictly_above_and_a_new_low_strictly_below_what_there_was() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"]);
    stage.arm(1, Condition::NewExtreme { side: Side::Above }, MORNING);
    stage.arm(2, Condition::NewExtreme { side: Side::Below }, MORNING);
    assert_eq!(stage.see("10", AT_TEN), NOTHING);
    assert_eq!(stage.see("10.000001", AT_ELEVEN), [1]);
    assert_eq!(stage.see("9.999999", AT_NOON), [2]);
}

#[test]
fn a_new_high_is_above_todays_earlier_observations_too() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"]);
    stage.see("12", AT_TEN);
    stage.arm(1, Condition::NewExtreme { side: Side::Above }, AT_TEN);
    assert_eq!(stage.see("12", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("12.01", AT_NOON), [1]);
}

#[test]
fn the_first_price_ever_is_no_extreme() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::NewExtreme { side: Side::Above }, MORNING);
    assert_eq!(stage.see("10", AT_TEN), NOTHING);
    assert_eq!(stage.see("10.01", AT_ELEVEN), [1]);
}

#[test]
fn the_day_exactly_364_days_ago_counts_and_the_day_before_it_does_not() {
    let mut stage = Stage::new();
    for (day, close) in [("2023-03-09", "20"), ("2023-03-10", "15"), ("2024-03-07", "10")] {
        let bar = flat(day.parse().unwrap(), price(close));
        stage.tell(&Told::Bar(stage.symbol, bar), "2024-03-07T22:00:00Z");
    }
    stage.arm(1, Condition::NewExtreme { side: Side::Above }, MORNING);
    assert_eq!(stage.see("15", AT_TEN), NOTHING);
    assert_eq!(stage.see("15.01", AT_ELEVEN), [1]);
}

#[test]
fn a_condition_that_holds_when_it_is_made_fires_at_the_next_evaluation() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10", "10"]);
    stage.tell(&stage.quote("11", Some(5000)), AT_TEN);
    let soon = "2024-03-08T15:15:00Z";
    stage.arm(1, at_or_beyond(Side::Above, "11"), soon);
    stage.arm_from(2, change(Side::Above, "10"), Some("10"), soon);
    stage.arm(3, Condition::NewExtreme { side: Side::Above }, soon);
    stage.arm(4, touch(Side::Below), soon);
    assert_eq!(
        stage.tell(&Told::Evaluate, soon),
        [1, 2],
        "an edge waits for a new observation"
    );
    assert_eq!(stage.see("10", AT_NOON), [4]);
}

#[test]
fn stale_observation_does_not_fire_an_alert_that_was_armed_after_it() {
    let mut stage = Stage::new();
    stage.see("11", AT_TEN);
    // Fifteen minutes and a second later.
    stage.arm(1, at_or_beyond(Side::Above, "11"), "2024-03-08T15:15:01Z");
    assert_eq!(stage.tell(&Told::Evaluate, "2024-03-08T15:15:01Z"), NOTHING);
    assert_eq!(stage.see("10.99", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("11", AT_NOON), [1]);
}

#[test]
fn nothing_is_evaluated_by_the_price_of_a_session_that_is_over() {
    let mut stage = Stage::new().after_closes("2024-03-07", &["10"]);
    stage.see("11", "2024-03-07T15:00:00Z");
    stage.arm(1, at_or_beyond(Side::Above, "11"), MORNING);
    assert_eq!(stage.tell(&Told::Evaluate, MORNING), NOTHING);
    assert_eq!(
        stage.tell(&Told::Evaluate, AT_TEN),
        NOTHING,
        "today there was no observation yet"
    );
    assert_eq!(stage.see("11", AT_ELEVEN), [1]);
}

/// Fifteen closes that rise and fall in turn: the RSI is near 50.
fn to_and_fro() -> Stage {
    let closes: Vec<_> = (0..15).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    Stage::new().after_closes("2024-03-08", &closes)
}

fn rsi(direction: RsiDirection, threshold: &str) -> Condition {
    Condition::Rsi {
        direction,
        threshold: decimal(threshold),
    }
}

#[test]
fn an_rsi_alert_for_both_waits_for_the_side_on_which_the_rsi_was_not() {
    let mut stage = to_and_fro();
    stage.arm(1, rsi(RsiDirection::Both, "60"), MORNING);
    stage.arm(2, rsi(RsiDirection::Both, "40"), MORNING);
    assert_eq!(stage.see("10", AT_TEN), NOTHING);
    assert_eq!(
        stage.see("20", AT_ELEVEN),
        [1],
        "it was below 60, so 60 or more is the other side"
    );
    assert_eq!(stage.see("2", AT_NOON), [2]);
}

#[test]
fn the_rsi_fires_at_the_threshold_exactly() {
    // Gains and losses of equal size, seven of each: the RSI of the completed sessions, and of an unchanged price, is 50.
    let mut stage = to_and_fro();
    stage.arm(1, rsi(RsiDirection::Above, "50.000001"), MORNING);
    stage.arm(2, rsi(RsiDirection::Above, "50"), MORNING);
    stage.arm(3, rsi(RsiDirection::Below, "50"), MORNING);
    stage.arm(4, rsi(RsiDirection::Below, "49.999999"), MORNING);
    assert_eq!(stage.see("10", AT_TEN), [2, 3]);
}

#[test]
fn an_rsi_alert_for_both_of_before_there_was_an_rsi_waits_for_the_other_side_of_the_first_one() {
    let closes: Vec<_> = (0..13).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    let mut stage = Stage::new().after_closes("2024-03-07", &closes);
    stage.arm(1, rsi(RsiDirection::Both, "60"), "2024-03-07T14:00:00Z");
    assert_eq!(
        stage.see("30", "2024-03-07T15:00:00Z"),
        NOTHING,
        "13 closes and a price are no 14 changes"
    );
    stage.bar("2024-03-07", "11", "2024-03-07T21:00:00Z");
    assert_eq!(stage.see("30", AT_TEN), NOTHING, "the first RSI is above 60");
    assert_eq!(stage.see("31", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("10", AT_NOON), [1]);
}

#[test]
fn percent_change_without_an_initial_price_is_blind_when_quotes_have_stopped() {
    let mut stage = Stage::new();
    stage.arm(1, change(Side::Above, "5"), MORNING);
    let waits = State::Waiting(NotJudged::NoInitialPrice);
    assert_eq!(stage.state(1, AT_TEN), waits, "no price was ever seen");
    assert_eq!(stage.see("1", AT_TEN), NOTHING);
    assert_eq!(stage.state(1, AT_TEN), waits);
    assert_eq!(stage.state(1, AT_ELEVEN), State::Blind(NotJudged::StaleQuotes));
}
