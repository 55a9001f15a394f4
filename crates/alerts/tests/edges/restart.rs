//! What survives a restart.

use alerts::condition::{Condition, DeliveryTime, Side, VolumeBaseline};

use super::stage::{NOTHING, Stage};
use crate::common::decimal;
use crate::oracle::Told;

const AT_TEN: &str = "2024-03-08T15:00:00Z";
const AT_ELEVEN: &str = "2024-03-08T16:00:00Z";
const AT_NOON: &str = "2024-03-08T17:00:00Z";

const TOUCH_FROM_BELOW: Condition = Condition::MaTouch {
    side: Side::Above,
    period: 3,
};

#[test]
fn the_observation_before_a_touch_survives_a_restart() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10", "10"]);
    stage.arm(1, TOUCH_FROM_BELOW, AT_TEN);
    assert_eq!(stage.see("9", AT_TEN), NOTHING);
    stage.restart(AT_ELEVEN);
    assert_eq!(stage.see("10", AT_NOON), [1]);
}

#[test]
fn the_observation_before_a_touch_survives_a_restart_over_night() {
    // On Thursday 9.5 was below its average; the session's bar came before the restart.
    let mut stage = Stage::new().after_closes("2024-03-07", &["10", "10"]);
    stage.arm(1, TOUCH_FROM_BELOW, "2024-03-07T14:00:00Z");
    assert_eq!(stage.see("9.5", "2024-03-07T15:00:00Z"), NOTHING);
    stage.bar("2024-03-07", "8", "2024-03-07T21:00:00Z");
    stage.restart("2024-03-07T22:00:00Z");
    assert_eq!(stage.see("9.2", AT_TEN), [1]);
}

#[test]
fn todays_extremes_survive_a_restart() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"]);
    stage.see("12", AT_TEN);
    stage.arm(1, Condition::NewExtreme { side: Side::Above }, AT_TEN);
    stage.restart(AT_ELEVEN);
    assert_eq!(stage.see("11", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("12.01", AT_NOON), [1]);
}

#[test]
fn extremes_of_a_session_are_kept_after_its_bar_and_a_restart() {
    let mut stage = Stage::new().after_closes("2024-03-07", &["10"]);
    for price in ["11", "12", "9", "10"] {
        stage.see(price, "2024-03-07T15:00:00Z");
    }
    stage.bar("2024-03-07", "10", "2024-03-07T21:00:00Z");
    for _ in 0..2 {
        let session = stage.engine.session_so_far(stage.symbol).unwrap();
        let prices = [session.open, session.high, session.low, session.last];
        assert_eq!(prices.map(|price| price.to_string()), ["11", "12", "9", "10"]);
        stage.restart("2024-03-07T22:00:00Z");
    }
    // The next session begins with nothing of it.
    stage.see("10.5", AT_TEN);
    let session = stage.engine.session_so_far(stage.symbol).unwrap();
    assert_eq!(
        (session.open, session.high, session.low),
        (session.last, session.last, session.last)
    );
}

#[test]
fn todays_volume_survives_a_restart() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"; 20]);
    stage.tell(&stage.quote("10", Some(1500)), AT_TEN);
    let baseline = VolumeBaseline::Ma20;
    stage.arm(
        1,
        Condition::VolumeChange {
            baseline,
            percent: decimal("50"),
        },
        AT_TEN,
    );
    stage.restart("2024-03-08T15:05:00Z");
    assert_eq!(stage.tell(&Told::Evaluate, "2024-03-08T15:10:00Z"), [1]);
}

#[test]
fn a_daily_reminder_that_was_sent_before_a_restart_is_not_sent_again_that_day() {
    let mut stage = Stage::new();
    stage.arm(
        1,
        Condition::DailyReminder(DeliveryTime::MarketOpen),
        "2024-03-07T15:00:00Z",
    );
    assert_eq!(stage.tell(&Told::Clock, "2024-03-08T14:30:00Z"), [1]);
    stage.arm(
        1,
        Condition::DailyReminder(DeliveryTime::MarketOpen),
        "2024-03-07T15:00:00Z",
    );
    stage.restart("2024-03-08T14:30:00Z");
    assert_eq!(stage.tell(&Told::Clock, AT_TEN), NOTHING);
    assert_eq!(stage.tell(&Told::Clock, "2024-03-11T13:30:00Z"), [1]);
}

#[test]
fn a_session_that_ended_without_a_bar_before_a_restart_gets_one_made_after_it() {
    let mut stage = Stage::new();
    stage.see("12", "2024-03-07T15:00:00Z");
    stage.see("9", "2024-03-07T16:00:00Z");
    stage.restart("2024-03-07T22:00:00Z");
    stage.see("10", AT_TEN);
    let history = stage.engine.history(stage.symbol).unwrap();
    let bars: Vec<_> = history
        .bars()
        .map(|bar| [bar.open, bar.high, bar.low, bar.close].map(|p| p.to_string()))
        .collect();
    assert_eq!(bars, [["12", "12", "9", "9"]]);
}
