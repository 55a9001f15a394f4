//! The state that survives a restart.

use alerts::condition::{Condition, DeliveryTime, Side, VolumeBaseline};

use super::fixture::{Fixture, NOTHING};
use crate::common::decimal;
use crate::oracle::OwnedEvent;

const AT_TEN: &str = "2024-03-08T15:00:00Z";
const AT_ELEVEN: &str = "2024-03-08T16:00:00Z";
const AT_NOON: &str = "2024-03-08T17:00:00Z";

const TOUCH_FROM_BELOW: Condition = Condition::MaTouch {
    side: Side::Above,
    period: 3,
};

#[test]
fn previous_observation_of_a_touch_survives_a_restart() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10", "10"]);
    fixture.arm(1, TOUCH_FROM_BELOW, AT_TEN);
    assert_eq!(fixture.observe("9", AT_TEN), NOTHING);
    fixture.restart(AT_ELEVEN);
    assert_eq!(fixture.observe("10", AT_NOON), [1]);
}

#[test]
fn previous_observation_of_a_touch_survives_an_overnight_restart() {
    // On Thursday 9.5 was below its average; the session's bar came before the restart.
    let mut fixture = Fixture::new().after_closes("2024-03-07", &["10", "10"]);
    fixture.arm(1, TOUCH_FROM_BELOW, "2024-03-07T14:00:00Z");
    assert_eq!(fixture.observe("9.5", "2024-03-07T15:00:00Z"), NOTHING);
    fixture.bar("2024-03-07", "8", "2024-03-07T21:00:00Z");
    fixture.restart("2024-03-07T22:00:00Z");
    assert_eq!(fixture.observe("9.2", AT_TEN), [1]);
}

#[test]
fn todays_extremes_survive_a_restart() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"]);
    fixture.observe("12", AT_TEN);
    fixture.arm(1, Condition::NewExtreme { side: Side::Above }, AT_TEN);
    fixture.restart(AT_ELEVEN);
    assert_eq!(fixture.observe("11", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("12.01", AT_NOON), [1]);
}

#[test]
fn extremes_of_a_session_are_kept_after_its_bar_and_a_restart() {
    let mut fixture = Fixture::new().after_closes("2024-03-07", &["10"]);
    for price in ["11", "12", "9", "10"] {
        fixture.observe(price, "2024-03-07T15:00:00Z");
    }
    fixture.bar("2024-03-07", "10", "2024-03-07T21:00:00Z");
    for _ in 0..2 {
        let session = fixture.engine.observed_session(fixture.symbol).unwrap();
        let prices = [session.open, session.high, session.low, session.last];
        assert_eq!(prices.map(|price| price.to_string()), ["11", "12", "9", "10"]);
        fixture.restart("2024-03-07T22:00:00Z");
    }
    // The next session starts without that data.
    fixture.observe("10.5", AT_TEN);
    let session = fixture.engine.observed_session(fixture.symbol).unwrap();
    assert_eq!(
        (session.open, session.high, session.low),
        (session.last, session.last, session.last)
    );
}

#[test]
fn todays_volume_survives_a_restart() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"; 20]);
    fixture.process(&fixture.quote("10", Some(1500)), AT_TEN);
    let baseline = VolumeBaseline::Ma20;
    fixture.arm(
        1,
        Condition::VolumeChange {
            baseline,
            percent: decimal("50"),
        },
        AT_TEN,
    );
    fixture.restart("2024-03-08T15:05:00Z");
    assert_eq!(fixture.process(&OwnedEvent::Evaluate, "2024-03-08T15:10:00Z"), [1]);
}

#[test]
fn sent_daily_reminder_is_not_repeated_after_a_restart() {
    let mut fixture = Fixture::new();
    fixture.arm(
        1,
        Condition::DailyReminder(DeliveryTime::MarketOpen),
        "2024-03-07T15:00:00Z",
    );
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-08T14:30:00Z"), [1]);
    fixture.arm(
        1,
        Condition::DailyReminder(DeliveryTime::MarketOpen),
        "2024-03-07T15:00:00Z",
    );
    fixture.restart("2024-03-08T14:30:00Z");
    assert_eq!(fixture.process(&OwnedEvent::Clock, AT_TEN), NOTHING);
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-11T13:30:00Z"), [1]);
}

#[test]
fn session_without_a_bar_gets_a_bar_after_a_restart() {
    let mut fixture = Fixture::new();
    fixture.observe("12", "2024-03-07T15:00:00Z");
    fixture.observe("9", "2024-03-07T16:00:00Z");
    fixture.restart("2024-03-07T22:00:00Z");
    fixture.observe("10", AT_TEN);
    let history = fixture.engine.history(fixture.symbol).unwrap();
    let bars: Vec<_> = history
        .bars()
        .map(|bar| [bar.open, bar.high, bar.low, bar.close].map(|p| p.to_string()))
        .collect();
    assert_eq!(bars, [["12", "12", "9", "9"]]);
}
