//! Errors of the engine that the oracle found, each in its smallest form.

use alerts::condition::{Condition, RsiDirection, Side};
use alerts::engine::{EvaluationIssue, EvaluationStatus};

use super::fixture::{Fixture, NOTHING};
use crate::common::{decimal, price};
use crate::oracle::OwnedEvent;

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

/// The RSI is 100 when the alert is armed, so it waits for 60 or less. Thursday's bar closes below the last observation, at an
/// RSI of less than 60 that was never observed. If the restarted engine determined the side again, the alert would wait for 60
/// or more.
#[test]
fn rsi_side_survives_a_restart() {
    let closes: Vec<_> = (0..15).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    let run = |restarts: bool| {
        let mut fixture = Fixture::new().after_closes("2024-03-07", &closes);
        assert_eq!(fixture.observe("30", "2024-03-07T20:00:00Z"), NOTHING);
        fixture.arm(1, rsi(RsiDirection::Both, "60"), "2024-03-07T20:00:00Z");
        fixture.bar("2024-03-07", "10", "2024-03-07T21:00:00Z");
        if restarts {
            fixture.restart("2024-03-07T22:00:00Z");
        }
        [fixture.observe("30", AT_TEN), fixture.observe("9", AT_ELEVEN)]
    };
    assert_eq!(run(false), [vec![], vec![1]]);
    assert_eq!(run(true), run(false));
}

/// On Thursday 9.5 is below the average with 10 and 10. Then Wednesday's bar is corrected to 8: with the corrected bar, the
/// average would have been reached at 9, so the price did not come from below. All engines must agree, whether the alert was
/// armed before or after the correction, or the engine restarted.
#[test]
fn corrected_bar_changes_the_average_of_the_previous_observation() {
    let mut fixture = Fixture::new().after_closes("2024-03-07", &["10", "10"]);
    fixture.arm(1, TOUCH_FROM_BELOW, "2024-03-07T14:00:00Z");
    assert_eq!(fixture.observe("9.5", "2024-03-07T15:00:00Z"), NOTHING);
    fixture.bar("2024-03-06", "8", "2024-03-07T16:00:00Z");
    let mut restarted = Fixture::new().after_closes("2024-03-07", &["10", "8"]);
    assert_eq!(restarted.observe("9.5", "2024-03-07T15:00:00Z"), NOTHING);
    restarted.arm(1, TOUCH_FROM_BELOW, "2024-03-07T16:00:00Z");
    for fixture in [&mut restarted, &mut fixture] {
        assert_eq!(fixture.observe("9.4", "2024-03-07T17:00:00Z"), NOTHING);
    }
}

/// The correction of Thursday's bar moves the RSI of the last observation to the threshold.
#[test]
fn condition_met_by_a_corrected_bar_fires_at_the_next_evaluation() {
    let closes: Vec<_> = (0..15).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    let mut fixture = Fixture::new().after_closes("2024-03-08", &closes);
    fixture.arm(1, rsi(RsiDirection::Above, "50.5"), MORNING);
    assert_eq!(fixture.observe("10", AT_TEN), NOTHING);
    assert_eq!(fixture.process(&OwnedEvent::Evaluate, AT_TEN), NOTHING);
    fixture.bar("2024-03-07", "5", SOON_AFTER_TEN);
    assert_eq!(fixture.process(&OwnedEvent::Evaluate, SOON_AFTER_TEN), [1]);
}

/// An alert for 100 in both directions fires at the next evaluation if the RSI is already 100. If no RSI was available at
/// arming, it must fire at the observation, or the evaluation, with the first RSI.
#[test]
fn first_rsi_at_the_threshold_fires() {
    let mut known = Fixture::new().after_closes("2024-03-08", &["10"; 14]);
    assert_eq!(known.observe("11", AT_TEN), NOTHING);
    known.arm(1, rsi(RsiDirection::Both, "100"), SOON_AFTER_TEN);
    assert_eq!(known.process(&OwnedEvent::Evaluate, SOON_AFTER_TEN), [1]);

    let mut unknown = Fixture::new().after_closes("2024-03-08", &["10"; 14]);
    unknown.arm(1, rsi(RsiDirection::Both, "100"), MORNING);
    assert_eq!(unknown.process(&OwnedEvent::Evaluate, MORNING), NOTHING);
    let fired = [
        unknown.observe("11", AT_TEN),
        unknown.process(&OwnedEvent::Evaluate, SOON_AFTER_TEN),
    ]
    .concat();
    assert_eq!(fired, [1]);
}

/// A stock without any movement has no RSI. The evaluation status must report it.
#[test]
fn rsi_alert_without_price_movement_reports_no_movement() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"; 30]);
    fixture.arm(1, rsi(RsiDirection::Above, "0"), MORNING);
    assert_eq!(fixture.observe("10", AT_TEN), NOTHING);
    assert_eq!(
        fixture.state(1, AT_TEN),
        EvaluationStatus::Waiting(EvaluationIssue::NoMovement)
    );
}

/// Five hours of a session without a quote.
#[test]
fn quotes_missing_since_the_open_are_stale() {
    let mut fixture = Fixture::new();
    fixture.arm(
        1,
        Condition::Price {
            side: Side::Above,
            threshold: price("20"),
        },
        "2024-03-07T14:00:00Z",
    );
    fixture.observe("10", "2024-03-07T20:59:00Z");
    assert_eq!(fixture.state(1, MORNING), EvaluationStatus::Ok, "the market is closed");
    assert_eq!(
        fixture.state(1, "2024-03-08T19:30:00Z"),
        EvaluationStatus::Blind(EvaluationIssue::StaleQuotes)
    );
}

/// The stale stocks are those whose alerts report stale quotes.
#[test]
fn stock_is_stale_after_the_limit_during_sessions_only() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.stale_since(AT_NOON), None, "it was never observed");
    let threshold = price("20");
    let side = Side::Above;
    fixture.arm(1, Condition::Price { side, threshold }, MORNING);
    fixture.observe("10", "2024-03-08T20:30:00Z");
    assert_eq!(fixture.stale_since("2024-03-08T20:45:00Z"), None);
    let now = "2024-03-08T20:45:01Z";
    assert_eq!(fixture.stale_since(now), Some("2024-03-08T20:45:00Z".parse().unwrap()));
    assert_eq!(
        fixture.state(1, now),
        EvaluationStatus::Blind(EvaluationIssue::StaleQuotes)
    );
    assert_eq!(
        fixture.stale_since("2024-03-08T21:00:01Z"),
        None,
        "the market is closed"
    );
    // On Monday, the limit counts from the open.
    assert_eq!(fixture.stale_since("2024-03-11T13:45:00Z"), None);
    let monday = fixture.stale_since("2024-03-11T13:45:01Z");
    assert_eq!(monday, Some("2024-03-11T13:45:00Z".parse().unwrap()));
}
