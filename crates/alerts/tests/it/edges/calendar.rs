//! Sessions, days and moments.

use alerts::condition::{Condition, DeliveryTime, Side};
use alerts::engine::{Dividend, EventError};
use jiff::Timestamp;
use jiff::civil::date;
use market::Calendar;

use super::fixture::{Fixture, NOTHING, flat};
use crate::common::{at, price, process_event};
use crate::oracle::OwnedEvent;

const PRICE_ABOVE_TEN: fn() -> Condition = || Condition::Price {
    side: Side::Above,
    threshold: price("10"),
};

#[test]
fn observation_counts_up_to_the_early_close() {
    // The day after Thanksgiving closes at 13:00 in New York.
    let mut fixture = Fixture::new();
    fixture.arm(1, PRICE_ABOVE_TEN(), "2024-11-29T15:00:00Z");
    let late = fixture.quote("10", None);
    assert_eq!(
        fixture.try_process(&late, at("2024-11-29T18:00:01Z")),
        Err(EventError::MarketClosed)
    );
    assert_eq!(
        fixture.observe("10", "2024-12-02T21:00:00Z"),
        [1],
        "the close of a full day counts"
    );

    let mut fixture = Fixture::new();
    fixture.arm(1, PRICE_ABOVE_TEN(), "2024-11-29T15:00:00Z");
    assert_eq!(fixture.observe("10", "2024-11-29T18:00:00Z"), [1]);
}

#[test]
fn observation_counts_from_the_open() {
    let mut fixture = Fixture::new();
    fixture.arm(1, PRICE_ABOVE_TEN(), "2024-11-29T10:00:00Z");
    let early = fixture.quote("10", None);
    assert_eq!(
        fixture.try_process(&early, at("2024-11-29T14:29:59Z")),
        Err(EventError::MarketClosed)
    );
    assert_eq!(fixture.observe("10", "2024-11-29T14:30:00Z"), [1]);
}

/// Returns the instants of a daily reminder up to `until`. The clock advances only to scheduled moments.
fn reminders(delivery: DeliveryTime, from: &str, until: &str) -> Vec<String> {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::DailyReminder(delivery), from);
    let mut instants = Vec::new();
    while let Some(moment) = fixture.engine.next_moment().filter(|&moment| moment <= at(until)) {
        let decisions = process_event(&mut fixture.engine, &OwnedEvent::Clock, moment).0;
        assert_eq!(decisions.len(), 1);
        instants.extend(decisions.iter().map(|decision| decision.at.to_string()));
    }
    instants
}

#[test]
fn reminder_after_an_early_close_is_sent_at_13_15() {
    let found = reminders(
        DeliveryTime::AfterMarketClose,
        "2024-11-27T12:00:00Z",
        "2024-12-02T23:00:00Z",
    );
    assert_eq!(
        found,
        ["2024-11-27T21:15:00Z", "2024-11-29T18:15:00Z", "2024-12-02T21:15:00Z"]
    );
}

#[test]
fn reminder_at_the_open_follows_the_start_of_daylight_saving_time() {
    let found = reminders(DeliveryTime::MarketOpen, "2024-03-08T00:00:00Z", "2024-03-12T00:00:00Z");
    assert_eq!(found, ["2024-03-08T14:30:00Z", "2024-03-11T13:30:00Z"]);
}

#[test]
fn reminder_at_the_open_follows_the_end_of_daylight_saving_time() {
    let found = reminders(DeliveryTime::MarketOpen, "2024-11-01T00:00:00Z", "2024-11-05T00:00:00Z");
    assert_eq!(found, ["2024-11-01T13:30:00Z", "2024-11-04T14:30:00Z"]);
}

#[test]
fn reminder_created_at_its_delivery_time_is_first_sent_the_next_day() {
    let found = reminders(
        DeliveryTime::AfterMarketClose,
        "2024-03-08T21:15:00Z",
        "2024-03-12T00:00:00Z",
    );
    assert_eq!(found, ["2024-03-11T20:15:00Z"]);
}

/// Returns the instants at which a dividend alert fires. The clock advances to every scheduled moment.
fn dividend_alert(condition: Condition, dividend: Dividend) -> Vec<Timestamp> {
    let mut fixture = Fixture::new();
    fixture.process(
        &OwnedEvent::Dividends(fixture.symbol, vec![dividend]),
        "2024-03-20T12:00:00Z",
    );
    fixture.arm(1, condition, "2024-03-20T12:00:00Z");
    let mut instants = Vec::new();
    while let Some(moment) = fixture.engine.next_moment() {
        instants.extend(
            process_event(&mut fixture.engine, &OwnedEvent::Clock, moment)
                .0
                .iter()
                .map(|decision| decision.at),
        );
    }
    instants
}

#[test]
fn date_on_a_holiday_is_evaluated_at_09_30_in_new_york() {
    let good_friday = date(2024, 3, 29);
    let dividend = Dividend {
        ex_date: good_friday,
        payment_date: Some(date(2024, 3, 31)),
        amount: None,
    };
    let ex_date = |days_ahead| dividend_alert(Condition::DividendExDate { days_ahead }, dividend);
    assert_eq!(ex_date(0), [at("2024-03-29T13:30:00Z")]);
    assert_eq!(ex_date(1), [at("2024-03-28T13:30:00Z")]);
    // The alert was created at 08:00 in New York, nine days before.
    assert_eq!(ex_date(9), [at("2024-03-20T13:30:00Z")]);
    assert_eq!(ex_date(365), [at("2024-03-20T13:30:00Z")]);
    let payment = dividend_alert(Condition::DividendPayment { shares: None }, dividend);
    assert_eq!(payment, [at("2024-03-31T13:30:00Z")], "a Sunday");
}

#[test]
fn past_date_does_not_fire() {
    let dividend = Dividend {
        ex_date: date(2024, 3, 19),
        payment_date: None,
        amount: None,
    };
    assert_eq!(
        dividend_alert(Condition::DividendExDate { days_ahead: 365 }, dividend),
        []
    );
}

#[test]
fn always_open_market_accepts_observations_at_any_hour() {
    let mut fixture = Fixture::on(Calendar::nyse().always_open());
    fixture.arm(1, PRICE_ABOVE_TEN(), "2024-03-09T01:00:00Z");
    assert_eq!(
        fixture.observe("10", "2024-03-09T08:00:00Z"),
        [1],
        "Saturday, three in the morning"
    );
}

#[test]
fn weekend_day_of_an_always_open_market_is_a_session() {
    // Saturday, 23:59 and Sunday, 00:01 in New York.
    let mut fixture = Fixture::on(Calendar::nyse().always_open());
    fixture.observe("10", "2024-03-08T15:00:00Z");
    fixture.observe("20", "2024-03-10T04:59:00Z");
    fixture.observe("15", "2024-03-10T05:01:00Z");
    let days: Vec<_> = fixture
        .engine
        .history(fixture.symbol)
        .unwrap()
        .bars()
        .map(|bar| bar.date.to_string())
        .collect();
    assert_eq!(days, ["2024-03-08", "2024-03-09"]);
}

#[test]
fn bar_is_accepted_after_its_session_has_closed() {
    let mut fixture = Fixture::new();
    let bar = |day| OwnedEvent::Bar("ACME".parse().unwrap(), flat(day, price("10")));
    let friday = date(2024, 3, 8);
    let not_taken = Err(EventError::NoCompletedSession { date: friday });
    assert_eq!(fixture.try_process(&bar(friday), at("2024-03-08T20:59:59Z")), not_taken);
    assert_eq!(
        fixture.try_process(&bar(friday), at("2024-03-08T21:00:00Z")),
        Ok(Vec::new())
    );
    let saturday = date(2024, 3, 9);
    let no_session = Err(EventError::NoCompletedSession { date: saturday });
    assert_eq!(
        fixture.try_process(&bar(saturday), at("2024-03-12T21:00:00Z")),
        no_session
    );
}

#[test]
fn bar_of_an_always_open_market_is_accepted_after_its_new_york_day() {
    let mut fixture = Fixture::on(Calendar::nyse().always_open());
    let saturday = date(2024, 3, 9);
    let bar = OwnedEvent::Bar(fixture.symbol, flat(saturday, price("10")));
    let not_taken = Err(EventError::NoCompletedSession { date: saturday });
    assert_eq!(fixture.try_process(&bar, at("2024-03-10T04:59:59Z")), not_taken);
    assert_eq!(fixture.try_process(&bar, at("2024-03-10T05:00:00Z")), Ok(Vec::new()));
}

#[test]
fn rejects_observation_of_a_completed_session() {
    let mut fixture = Fixture::new();
    fixture.arm(1, PRICE_ABOVE_TEN(), "2024-03-08T15:00:00Z");
    fixture.bar("2024-03-08", "9", "2024-03-08T21:00:00Z");
    let late = fixture.quote("10", None);
    assert_eq!(
        fixture.try_process(&late, at("2024-03-08T21:00:00Z")),
        Err(EventError::SessionCompleted { count: 1 })
    );
}

#[test]
fn reminder_fires_exactly_at_its_instant() {
    let mut fixture = Fixture::new();
    fixture.arm(
        1,
        Condition::Reminder {
            at: at("2024-03-09T03:00:00Z"),
        },
        "2024-03-08T15:00:00Z",
    );
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-09T02:59:59Z"), NOTHING);
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-09T03:00:00Z"), [1]);
}

#[test]
fn daily_reminder_is_sent_once_after_an_outage() {
    let mut fixture = Fixture::new();
    fixture.arm(
        1,
        Condition::DailyReminder(DeliveryTime::MarketOpen),
        "2024-03-01T20:00:00Z",
    );
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-06T17:00:00Z"), [1]);
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-07T14:29:59Z"), NOTHING);
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-07T14:30:00Z"), [1]);
}
