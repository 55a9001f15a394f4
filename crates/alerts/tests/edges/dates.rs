//! Date alerts: judged at each day's instant, at once when they are armed or their facts arrive after it, and late when the
//! instant was missed.

use alerts::condition::Condition;
use alerts::engine::Dividend;
use jiff::Timestamp;
use jiff::civil::date;

use super::stage::{NOTHING, Stage};
use crate::common::{at, tell};
use crate::oracle::Told;

const PAYMENT: Condition = Condition::DividendPayment { shares: None };

/// A dividend whose ex-date and payment are on that day of March 2024.
fn dividend(day: i8) -> Dividend {
    Dividend {
        ex_date: date(2024, 3, day),
        payment_date: Some(date(2024, 3, day)),
        amount: None,
    }
}

fn dividends(stage: &Stage, days: &[i8]) -> Told {
    Told::Dividends(stage.symbol, days.iter().copied().map(dividend).collect())
}

/// The instants of the firings when the clock strikes at `now`.
fn fired_at(stage: &mut Stage, now: &str) -> Vec<Timestamp> {
    let decisions = tell(&mut stage.engine, &Told::Clock, at(now)).0;
    decisions.iter().map(|decision| decision.at).collect()
}

#[test]
fn payment_alert_set_at_ten_on_the_payment_date_fires_at_once() {
    let mut stage = Stage::new();
    stage.tell(&dividends(&stage, &[8]), "2024-03-01T20:00:00Z");
    stage.tell(&Told::Clock, "2024-03-08T15:00:00Z");
    stage.arm(1, PAYMENT, "2024-03-08T15:00:00Z");
    assert_eq!(
        fired_at(&mut stage, "2024-03-08T15:00:01Z"),
        [at("2024-03-08T15:00:00Z")]
    );
    assert_eq!(
        stage.engine.armed_alerts(),
        0,
        "it cannot fire again at the next instant"
    );
    assert_eq!(stage.engine.next_moment(), None);
}

#[test]
fn date_alert_set_before_the_open_waits_for_the_open() {
    let mut stage = Stage::new();
    stage.tell(&dividends(&stage, &[8]), "2024-03-01T20:00:00Z");
    stage.arm(1, PAYMENT, "2024-03-08T14:29:59Z");
    assert_eq!(stage.tell(&Told::Clock, "2024-03-08T14:29:59Z"), NOTHING);
    assert_eq!(
        fired_at(&mut stage, "2024-03-08T14:30:00Z"),
        [at("2024-03-08T14:30:00Z")]
    );
}

#[test]
fn date_alert_set_at_the_instant_itself_fires_at_once() {
    let mut stage = Stage::new();
    stage.tell(&dividends(&stage, &[8]), "2024-03-01T20:00:00Z");
    stage.arm(1, PAYMENT, "2024-03-08T14:30:00Z");
    assert_eq!(
        fired_at(&mut stage, "2024-03-08T14:30:01Z"),
        [at("2024-03-08T14:30:00Z")]
    );
}

#[test]
fn fact_that_arrives_after_the_instant_is_judged_at_once() {
    let mut stage = Stage::new();
    stage.arm(
        1,
        Condition::EarningsAnnouncement { days_ahead: 3 },
        "2024-03-07T12:00:00Z",
    );
    stage.tell(&Told::Clock, "2024-03-08T16:00:00Z");
    let far = Told::Earnings(stage.symbol, vec![date(2024, 3, 12)]);
    assert_eq!(stage.tell(&far, "2024-03-08T16:00:00Z"), NOTHING);
    assert_eq!(stage.tell(&Told::Clock, "2024-03-08T16:00:01Z"), NOTHING);
    let near = Told::Earnings(stage.symbol, vec![date(2024, 3, 11)]);
    assert_eq!(stage.tell(&near, "2024-03-08T17:00:00Z"), NOTHING);
    assert_eq!(
        fired_at(&mut stage, "2024-03-08T17:00:01Z"),
        [at("2024-03-08T17:00:00Z")]
    );
}

#[test]
fn fact_that_arrives_before_the_instant_waits_for_it() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::DividendExDate { days_ahead: 1 }, "2024-03-07T12:00:00Z");
    stage.tell(&Told::Clock, "2024-03-08T13:00:00Z");
    stage.tell(&dividends(&stage, &[8]), "2024-03-08T13:00:00Z");
    assert_eq!(stage.tell(&Told::Clock, "2024-03-08T14:29:59Z"), NOTHING);
    assert_eq!(stage.tell(&Told::Clock, "2024-03-08T14:30:00Z"), [1]);
}

#[test]
fn date_alert_that_does_not_hold_at_once_fires_at_the_first_daily_instant_at_which_it_does() {
    let mut stage = Stage::new();
    stage.tell(&dividends(&stage, &[11]), "2024-03-01T20:00:00Z");
    stage.arm(1, Condition::DividendExDate { days_ahead: 1 }, "2024-03-08T16:00:00Z");
    // A closed day is judged at half past nine; on Saturday the date is two days ahead, on Sunday one.
    assert_eq!(stage.tell(&Told::Clock, "2024-03-09T15:00:00Z"), NOTHING);
    assert_eq!(
        fired_at(&mut stage, "2024-03-10T16:00:00Z"),
        [at("2024-03-10T13:30:00Z")]
    );
}

#[test]
fn fact_that_is_withdrawn_before_it_was_judged_fires_nothing() {
    let mut stage = Stage::new();
    stage.tell(&Told::Clock, "2024-03-08T15:00:00Z");
    stage.arm(1, PAYMENT, "2024-03-08T15:00:00Z");
    stage.tell(&dividends(&stage, &[8]), "2024-03-08T16:00:00Z");
    stage.tell(&dividends(&stage, &[]), "2024-03-08T16:00:00Z");
    assert_eq!(stage.tell(&Told::Clock, "2024-03-08T16:00:01Z"), NOTHING);
}

#[test]
fn instants_that_were_missed_are_judged_late_each_by_its_own_day() {
    let mut stage = Stage::new();
    stage.tell(&dividends(&stage, &[5, 8]), "2024-03-01T20:00:00Z");
    stage.arm(1, Condition::DividendExDate { days_ahead: 2 }, "2024-03-01T20:00:00Z");
    stage.arm(2, PAYMENT, "2024-03-01T20:00:00Z");
    // On the 3rd the first date is two days ahead; the payment of the 5th is over when the clock strikes again.
    let decisions = tell(&mut stage.engine, &Told::Clock, at("2024-03-06T17:00:00Z")).0;
    let instants: Vec<_> = decisions.iter().map(|decision| decision.at).collect();
    assert_eq!(instants, [at("2024-03-03T14:30:00Z"), at("2024-03-05T14:30:00Z")]);
}

#[test]
fn date_that_was_over_before_the_alert_was_set_is_not_judged_late() {
    let mut stage = Stage::new();
    stage.tell(&dividends(&stage, &[5]), "2024-03-01T20:00:00Z");
    stage.tell(&Told::Clock, "2024-03-04T20:00:00Z");
    stage.arm(1, PAYMENT, "2024-03-06T05:00:00Z");
    assert_eq!(stage.tell(&Told::Clock, "2024-03-06T17:00:00Z"), NOTHING);
}

#[test]
fn payment_alert_set_just_before_midnight_fires_though_facts_arrive_after_midnight() {
    let mut stage = Stage::new();
    stage.tell(&dividends(&stage, &[8]), "2024-03-01T20:00:00Z");
    let armed_at = "2024-03-09T04:59:59.5Z";
    stage.tell(&Told::Clock, "2024-03-09T04:59:59Z");
    stage.arm(1, PAYMENT, armed_at);
    stage.tell(&dividends(&stage, &[8, 20]), "2024-03-09T05:00:00.2Z");
    assert_eq!(fired_at(&mut stage, "2024-03-09T05:00:01Z"), [at(armed_at)]);
}

#[test]
fn payment_alert_does_not_fire_if_the_date_is_withdrawn_before_it_is_judged() {
    let mut stage = Stage::new();
    stage.tell(&dividends(&stage, &[8]), "2024-03-01T20:00:00Z");
    stage.tell(&Told::Clock, "2024-03-09T04:59:59Z");
    stage.arm(1, PAYMENT, "2024-03-09T04:59:59.5Z");
    stage.tell(&dividends(&stage, &[20]), "2024-03-09T05:00:00.2Z");
    assert_eq!(fired_at(&mut stage, "2024-03-09T05:00:01Z"), []);
    assert_eq!(stage.engine.armed_alerts(), 1);
}
