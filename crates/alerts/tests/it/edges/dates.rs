//! Date alerts: evaluated at each day's instant, at once if they are armed or their facts arrive after it, and late if the
//! instant was missed.

use alerts::condition::Condition;
use alerts::engine::Dividend;
use jiff::Timestamp;
use jiff::civil::date;

use super::fixture::{Fixture, NOTHING};
use crate::common::{at, process_event};
use crate::oracle::OwnedEvent;

const PAYMENT: Condition = Condition::DividendPayment { shares: None };

/// Returns a dividend with ex-date and payment date on a day of March 2024.
fn dividend(day: i8) -> Dividend {
    Dividend {
        ex_date: date(2024, 3, day),
        payment_date: Some(date(2024, 3, day)),
        amount: None,
    }
}

fn dividends(fixture: &Fixture, days: &[i8]) -> OwnedEvent {
    OwnedEvent::Dividends(fixture.symbol, days.iter().copied().map(dividend).collect())
}

/// Advances the clock to `now` and returns the instants of the firings.
fn fired_at(fixture: &mut Fixture, now: &str) -> Vec<Timestamp> {
    let decisions = process_event(&mut fixture.engine, &OwnedEvent::Clock, at(now)).0;
    decisions.iter().map(|decision| decision.at).collect()
}

#[test]
fn payment_alert_created_after_the_open_of_the_payment_date_fires_at_once() {
    let mut fixture = Fixture::new();
    fixture.process(&dividends(&fixture, &[8]), "2024-03-01T20:00:00Z");
    fixture.process(&OwnedEvent::Clock, "2024-03-08T15:00:00Z");
    fixture.arm(1, PAYMENT, "2024-03-08T15:00:00Z");
    assert_eq!(
        fired_at(&mut fixture, "2024-03-08T15:00:01Z"),
        [at("2024-03-08T15:00:00Z")]
    );
    assert_eq!(
        fixture.engine.armed_alerts(),
        0,
        "it cannot fire again at the next instant"
    );
    assert_eq!(fixture.engine.next_moment(), None);
}

#[test]
fn date_alert_created_before_the_open_waits_for_the_open() {
    let mut fixture = Fixture::new();
    fixture.process(&dividends(&fixture, &[8]), "2024-03-01T20:00:00Z");
    fixture.arm(1, PAYMENT, "2024-03-08T14:29:59Z");
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-08T14:29:59Z"), NOTHING);
    assert_eq!(
        fired_at(&mut fixture, "2024-03-08T14:30:00Z"),
        [at("2024-03-08T14:30:00Z")]
    );
}

#[test]
fn date_alert_created_at_the_daily_instant_fires_at_once() {
    let mut fixture = Fixture::new();
    fixture.process(&dividends(&fixture, &[8]), "2024-03-01T20:00:00Z");
    fixture.arm(1, PAYMENT, "2024-03-08T14:30:00Z");
    assert_eq!(
        fired_at(&mut fixture, "2024-03-08T14:30:01Z"),
        [at("2024-03-08T14:30:00Z")]
    );
}

#[test]
fn fact_after_the_daily_instant_is_evaluated_at_once() {
    let mut fixture = Fixture::new();
    fixture.arm(
        1,
        Condition::EarningsAnnouncement { days_ahead: 3 },
        "2024-03-07T12:00:00Z",
    );
    fixture.process(&OwnedEvent::Clock, "2024-03-08T16:00:00Z");
    let far = OwnedEvent::Earnings(fixture.symbol, vec![date(2024, 3, 12)]);
    assert_eq!(fixture.process(&far, "2024-03-08T16:00:00Z"), NOTHING);
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-08T16:00:01Z"), NOTHING);
    let near = OwnedEvent::Earnings(fixture.symbol, vec![date(2024, 3, 11)]);
    assert_eq!(fixture.process(&near, "2024-03-08T17:00:00Z"), NOTHING);
    assert_eq!(
        fired_at(&mut fixture, "2024-03-08T17:00:01Z"),
        [at("2024-03-08T17:00:00Z")]
    );
}

#[test]
fn fact_before_the_daily_instant_waits_for_it() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::DividendExDate { days_ahead: 1 }, "2024-03-07T12:00:00Z");
    fixture.process(&OwnedEvent::Clock, "2024-03-08T13:00:00Z");
    fixture.process(&dividends(&fixture, &[8]), "2024-03-08T13:00:00Z");
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-08T14:29:59Z"), NOTHING);
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-08T14:30:00Z"), [1]);
}

#[test]
fn date_alert_fires_at_the_first_daily_instant_at_which_it_holds() {
    let mut fixture = Fixture::new();
    fixture.process(&dividends(&fixture, &[11]), "2024-03-01T20:00:00Z");
    fixture.arm(1, Condition::DividendExDate { days_ahead: 1 }, "2024-03-08T16:00:00Z");
    // A closed day is evaluated at 09:30. On Saturday the date is two days ahead, on Sunday one.
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-09T15:00:00Z"), NOTHING);
    assert_eq!(
        fired_at(&mut fixture, "2024-03-10T16:00:00Z"),
        [at("2024-03-10T13:30:00Z")]
    );
}

#[test]
fn withdrawn_fact_does_not_fire() {
    let mut fixture = Fixture::new();
    fixture.process(&OwnedEvent::Clock, "2024-03-08T15:00:00Z");
    fixture.arm(1, PAYMENT, "2024-03-08T15:00:00Z");
    fixture.process(&dividends(&fixture, &[8]), "2024-03-08T16:00:00Z");
    fixture.process(&dividends(&fixture, &[]), "2024-03-08T16:00:00Z");
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-08T16:00:01Z"), NOTHING);
}

#[test]
fn missed_instants_are_evaluated_late_by_their_own_day() {
    let mut fixture = Fixture::new();
    fixture.process(&dividends(&fixture, &[5, 8]), "2024-03-01T20:00:00Z");
    fixture.arm(1, Condition::DividendExDate { days_ahead: 2 }, "2024-03-01T20:00:00Z");
    fixture.arm(2, PAYMENT, "2024-03-01T20:00:00Z");
    // On the 3rd the first date is two days ahead. The payment date of the 5th has passed when the clock advances again.
    let decisions = process_event(&mut fixture.engine, &OwnedEvent::Clock, at("2024-03-06T17:00:00Z")).0;
    let instants: Vec<_> = decisions.iter().map(|decision| decision.at).collect();
    assert_eq!(instants, [at("2024-03-03T14:30:00Z"), at("2024-03-05T14:30:00Z")]);
}

#[test]
fn date_before_the_alert_was_created_is_not_evaluated_late() {
    let mut fixture = Fixture::new();
    fixture.process(&dividends(&fixture, &[5]), "2024-03-01T20:00:00Z");
    fixture.process(&OwnedEvent::Clock, "2024-03-04T20:00:00Z");
    fixture.arm(1, PAYMENT, "2024-03-06T05:00:00Z");
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-06T17:00:00Z"), NOTHING);
}

#[test]
fn payment_alert_created_before_midnight_fires_after_facts_arrive() {
    let mut fixture = Fixture::new();
    fixture.process(&dividends(&fixture, &[8]), "2024-03-01T20:00:00Z");
    let armed_at = "2024-03-09T04:59:59.5Z";
    fixture.process(&OwnedEvent::Clock, "2024-03-09T04:59:59Z");
    fixture.arm(1, PAYMENT, armed_at);
    fixture.process(&dividends(&fixture, &[8, 20]), "2024-03-09T05:00:00.2Z");
    assert_eq!(fired_at(&mut fixture, "2024-03-09T05:00:01Z"), [at(armed_at)]);
}

#[test]
fn payment_alert_does_not_fire_for_a_withdrawn_date() {
    let mut fixture = Fixture::new();
    fixture.process(&dividends(&fixture, &[8]), "2024-03-01T20:00:00Z");
    fixture.process(&OwnedEvent::Clock, "2024-03-09T04:59:59Z");
    fixture.arm(1, PAYMENT, "2024-03-09T04:59:59.5Z");
    fixture.process(&dividends(&fixture, &[20]), "2024-03-09T05:00:00.2Z");
    assert_eq!(fired_at(&mut fixture, "2024-03-09T05:00:01Z"), []);
    assert_eq!(fixture.engine.armed_alerts(), 1);
}
