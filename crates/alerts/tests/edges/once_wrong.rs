//! Faults that the oracle once found in the engine, each in its smallest form.

use alerts::condition::{Condition, RsiDirection, Side};
use alerts::engine::{NotJudged, State};

use super::stage::{NOTHING, Stage};
use crate::common::{decimal, price};
use crate::oracle::Told;

const MORNING: &str = "2024-03-08T14:00:00Z";
const AT_TEN: &str = "2024-03-08T15:00:00Z";
const SOON_AFTER_TEN: &str = "2024-03-08T15:10:00Z";
const AT_ELEVEN: &str = "2024-03-08T16:00:00Z";
const AT_NOON: &str = "2024-03-08T17:00:00Z";

const TOUCH_FROM_BELOW: Condition = Condition::MaTouch {
    side: Side::Above,
    period: 3,
};

fn rsi(direction: RsiDirection, threshold: &str) -> Condition {
    Condition::Rsi {
        direction,
        threshold: decimal(threshold),
    }
}

/// The RSI was 100 when the alert was made, so it waits for 60 or less. Thursday's bar closes lower than what was observed last,
/// at an RSI of less than 60 that nobody observed; armed anew after the restart, the alert waits for 60 or more.
#[test]
fn the_other_side_of_the_rsi_survives_a_restart() {
    let closes: Vec<_> = (0..15).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    let run = |restarts: bool| {
        let mut stage = Stage::new().after_closes("2024-03-07", &closes);
        assert_eq!(stage.see("30", "2024-03-07T20:00:00Z"), NOTHING);
        stage.arm(1, rsi(RsiDirection::Both, "60"), "2024-03-07T20:00:00Z");
        stage.bar("2024-03-07", "10", "2024-03-07T21:00:00Z");
        if restarts {
            stage.restart("2024-03-07T22:00:00Z");
        }
        [stage.see("30", AT_TEN), stage.see("9", AT_ELEVEN)]
    };
    assert_eq!(run(false), [vec![], vec![1]]);
    assert_eq!(run(true), run(false));
}

/// On Thursday 9.5 is below the average with 10 and 10. Then Wednesday's bar is corrected to 8: the average of Thursday's moment
/// would have been met at 9, so the price did not come from below. An alert made after the correction sees it so, as does a
/// restarted engine; one made before does not.
#[test]
fn a_corrected_bar_moves_the_average_of_the_observation_before_a_touch() {
    let mut stage = Stage::new().after_closes("2024-03-07", &["10", "10"]);
    stage.arm(1, TOUCH_FROM_BELOW, "2024-03-07T14:00:00Z");
    assert_eq!(stage.see("9.5", "2024-03-07T15:00:00Z"), NOTHING);
    stage.bar("2024-03-06", "8", "2024-03-07T16:00:00Z");
    let mut restarted = Stage::new().after_closes("2024-03-07", &["10", "8"]);
    assert_eq!(restarted.see("9.5", "2024-03-07T15:00:00Z"), NOTHING);
    restarted.arm(1, TOUCH_FROM_BELOW, "2024-03-07T16:00:00Z");
    for stage in [&mut restarted, &mut stage] {
        assert_eq!(stage.see("9.4", "2024-03-07T17:00:00Z"), NOTHING);
    }
}

/// The correction of Thursday's bar makes the RSI of the last observation reach the threshold.
#[test]
fn what_a_corrected_bar_makes_true_fires_at_the_next_evaluation() {
    let closes: Vec<_> = (0..15).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    let mut stage = Stage::new().after_closes("2024-03-08", &closes);
    stage.arm(1, rsi(RsiDirection::Above, "50.5"), MORNING);
    assert_eq!(stage.see("10", AT_TEN), NOTHING);
    assert_eq!(stage.tell(&Told::Evaluate, AT_TEN), NOTHING);
    stage.bar("2024-03-07", "5", SOON_AFTER_TEN);
    assert_eq!(stage.tell(&Told::Evaluate, SOON_AFTER_TEN), [1]);
}

/// Armed when the RSI is 100 already, an alert for 100 on both sides fires at the next evaluation; armed before there was an
/// RSI, it should do so at the observation, or the evaluation, that finds it there.
#[test]
fn an_rsi_that_begins_at_the_threshold_fires() {
    let mut known = Stage::new().after_closes("2024-03-08", &["10"; 14]);
    assert_eq!(known.see("11", AT_TEN), NOTHING);
    known.arm(1, rsi(RsiDirection::Both, "100"), SOON_AFTER_TEN);
    assert_eq!(known.tell(&Told::Evaluate, SOON_AFTER_TEN), [1]);

    let mut unknown = Stage::new().after_closes("2024-03-08", &["10"; 14]);
    unknown.arm(1, rsi(RsiDirection::Both, "100"), MORNING);
    assert_eq!(unknown.tell(&Told::Evaluate, MORNING), NOTHING);
    let fired = [unknown.see("11", AT_TEN), unknown.tell(&Told::Evaluate, SOON_AFTER_TEN)].concat();
    assert_eq!(fired, [1]);
}

/// A stock without any movement has no RSI, so the alert is not judged, and should say so.
#[test]
fn an_rsi_alert_on_a_stock_that_does_not_move_says_so() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"; 30]);
    stage.arm(1, rsi(RsiDirection::Above, "0"), MORNING);
    assert_eq!(stage.see("10", AT_TEN), NOTHING);
    assert_eq!(stage.state(1, AT_TEN), State::Waiting(NotJudged::NoMovement));
}

/// Five hours into a session without any quote.
#[test]
fn quotes_that_stopped_before_the_open_are_stale_too() {
    let mut stage = Stage::new();
    stage.arm(
        1,
        Condition::Price {
            side: Side::Above,
            threshold: price("20"),
        },
        "2024-03-07T14:00:00Z",
    );
    stage.see("10", "2024-03-07T20:59:00Z");
    assert_eq!(stage.state(1, MORNING), State::Ok, "the market is closed");
    assert_eq!(
        stage.state(1, "2024-03-08T19:30:00Z"),
        State::Blind(NotJudged::StaleQuotes)
    );
}

/// The stocks that are stale are those whose alerts say so.
#[test]
fn a_stock_is_stale_a_moment_after_its_quotes_were_due_and_never_outside_a_session() {
    let mut stage = Stage::new();
    assert_eq!(stage.stale_since(AT_NOON), None, "it was never observed");
    let threshold = price("20");
    let side = Side::Above;
    stage.arm(1, Condition::Price { side, threshold }, MORNING);
    stage.see("10", "2024-03-08T20:30:00Z");
    assert_eq!(stage.stale_since("2024-03-08T20:45:00Z"), None);
    let now = "2024-03-08T20:45:01Z";
    assert_eq!(stage.stale_since(now), Some("2024-03-08T20:45:00Z".parse().unwrap()));
    assert_eq!(stage.state(1, now), State::Blind(NotJudged::StaleQuotes));
    assert_eq!(stage.stale_since("2024-03-08T21:00:01Z"), None, "the market is closed");
    // Monday: it counts from the open.
    assert_eq!(stage.stale_since("2024-03-11T13:45:00Z"), None);
    let monday = stage.stale_since("2024-03-11T13:45:01Z");
    assert_eq!(monday, Some("2024-03-11T13:45:00Z".parse().unwrap()));
}
