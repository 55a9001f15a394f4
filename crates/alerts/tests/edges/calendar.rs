//! Sessions, days and moments.

use alerts::condition::{Condition, DeliveryTime, Side};
use alerts::engine::{Dividend, NotTaken};
use jiff::Timestamp;
use jiff::civil::date;
use market::Calendar;

use super::stage::{NOTHING, Stage, flat};
use crate::common::{at, price, tell};
use crate::oracle::Told;

const PRICE_ABOVE_TEN: fn() -> Condition = || Condition::Price {
    side: Side::Above,
    threshold: price("10"),
};

#[test]
fn an_observation_at_the_early_close_counts_and_one_a_second_later_does_not() {
    // The day after Thanksgiving closes at 13:00 in New York.
    let mut stage = Stage::new();
    stage.arm(1, PRICE_ABOVE_TEN(), "2024-11-29T15:00:00Z");
    let late = stage.quote("10", None);
    assert_eq!(
        stage.taken(&late, at("2024-11-29T18:00:01Z")),
        Err(NotTaken::MarketClosed)
    );
    assert_eq!(
        stage.see("10", "2024-12-02T21:00:00Z"),
        [1],
        "the close of a full day counts"
    );

    let mut stage = Stage::new();
    stage.arm(1, PRICE_ABOVE_TEN(), "2024-11-29T15:00:00Z");
    assert_eq!(stage.see("10", "2024-11-29T18:00:00Z"), [1]);
}

#[test]
fn an_observation_before_the_open_does_not_count_and_one_at_the_open_does() {
    let mut stage = Stage::new();
    stage.arm(1, PRICE_ABOVE_TEN(), "2024-11-29T10:00:00Z");
    let early = stage.quote("10", None);
    assert_eq!(
        stage.taken(&early, at("2024-11-29T14:29:59Z")),
        Err(NotTaken::MarketClosed)
    );
    assert_eq!(stage.see("10", "2024-11-29T14:30:00Z"), [1]);
}

/// The instants at which a daily reminder comes up to `until`, the clock striking only when something waits for it.
fn reminders(delivery: DeliveryTime, from: &str, until: &str) -> Vec<String> {
    let mut stage = Stage::new();
    stage.arm(1, Condition::DailyReminder(delivery), from);
    let mut instants = Vec::new();
    while let Some(moment) = stage.engine.next_moment().filter(|&moment| moment <= at(until)) {
        let decisions = tell(&mut stage.engine, &Told::Clock, moment).0;
        assert_eq!(decisions.len(), 1);
        instants.extend(decisions.iter().map(|decision| decision.at.to_string()));
    }
    instants
}

#[test]
fn a_reminder_after_an_early_close_comes_at_a_quarter_past_one() {
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
fn a_reminder_at_the_open_follows_new_york_into_daylight_saving_time() {
    let found = reminders(DeliveryTime::MarketOpen, "2024-03-08T00:00:00Z", "2024-03-12T00:00:00Z");
    assert_eq!(found, ["2024-03-08T14:30:00Z", "2024-03-11T13:30:00Z"]);
}

#[test]
fn a_reminder_at_the_open_follows_new_york_out_of_daylight_saving_time() {
    let found = reminders(DeliveryTime::MarketOpen, "2024-11-01T00:00:00Z", "2024-11-05T00:00:00Z");
    assert_eq!(found, ["2024-11-01T13:30:00Z", "2024-11-04T14:30:00Z"]);
}

#[test]
fn a_reminder_after_the_close_that_is_made_at_that_instant_comes_the_next_day() {
    let found = reminders(
        DeliveryTime::AfterMarketClose,
        "2024-03-08T21:15:00Z",
        "2024-03-12T00:00:00Z",
    );
    assert_eq!(found, ["2024-03-11T20:15:00Z"]);
}

/// When a dividend alert fires, if its clock strikes whenever something waits for it.
fn dividend_alert(condition: Condition, dividend: Dividend) -> Vec<Timestamp> {
    let mut stage = Stage::new();
    stage.tell(&Told::Dividends(stage.symbol, vec![dividend]), "2024-03-20T12:00:00Z");
    stage.arm(1, condition, "2024-03-20T12:00:00Z");
    let mut instants = Vec::new();
    while let Some(moment) = stage.engine.next_moment() {
        instants.extend(
            tell(&mut stage.engine, &Told::Clock, moment)
                .0
                .iter()
                .map(|decision| decision.at),
        );
    }
    instants
}

#[test]
fn a_date_on_a_holiday_is_judged_at_half_past_nine_in_new_york() {
    let good_friday = date(2024, 3, 29);
    let dividend = Dividend {
        ex_date: good_friday,
        payment_date: Some(date(2024, 3, 31)),
        amount: None,
    };
    let ex_date = |days_ahead| dividend_alert(Condition::DividendExDate { days_ahead }, dividend);
    assert_eq!(ex_date(0), [at("2024-03-29T13:30:00Z")]);
    assert_eq!(ex_date(1), [at("2024-03-28T13:30:00Z")]);
    // Made at eight in the morning, nine days before.
    assert_eq!(ex_date(9), [at("2024-03-20T13:30:00Z")]);
    assert_eq!(ex_date(365), [at("2024-03-20T13:30:00Z")]);
    let payment = dividend_alert(Condition::DividendPayment { shares: None }, dividend);
    assert_eq!(payment, [at("2024-03-31T13:30:00Z")], "a Sunday");
}

#[test]
fn a_date_of_yesterday_is_not_ahead() {
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
fn a_market_that_never_closes_takes_observations_at_any_hour() {
    let mut stage = Stage::on(Calendar::nyse().always_open());
    stage.arm(1, PRICE_ABOVE_TEN(), "2024-03-09T01:00:00Z");
    assert_eq!(
        stage.see("10", "2024-03-09T08:00:00Z"),
        [1],
        "Saturday, three in the morning"
    );
}

#[test]
fn a_closed_day_of_a_market_that_never_closes_is_a_session_of_its_own() {
    // Saturday, 23:59 and Sunday, 00:01 in New York.
    let mut stage = Stage::on(Calendar::nyse().always_open());
    stage.see("10", "2024-03-08T15:00:00Z");
    stage.see("20", "2024-03-10T04:59:00Z");
    stage.see("15", "2024-03-10T05:01:00Z");
    let days: Vec<_> = stage
        .engine
        .history(stage.symbol)
        .unwrap()
        .bars()
        .map(|bar| bar.date.to_string())
        .collect();
    assert_eq!(days, ["2024-03-08", "2024-03-09"]);
}

#[test]
fn a_bar_counts_once_its_session_has_closed() {
    let mut stage = Stage::new();
    let bar = |day| Told::Bar("ACME".parse().unwrap(), flat(day, price("10")));
    let friday = date(2024, 3, 8);
    let not_taken = Err(NotTaken::NoCompletedSession { date: friday });
    assert_eq!(stage.taken(&bar(friday), at("2024-03-08T20:59:59Z")), not_taken);
    assert_eq!(stage.taken(&bar(friday), at("2024-03-08T21:00:00Z")), Ok(Vec::new()));
    let saturday = date(2024, 3, 9);
    let no_session = Err(NotTaken::NoCompletedSession { date: saturday });
    assert_eq!(stage.taken(&bar(saturday), at("2024-03-12T21:00:00Z")), no_session);
}

#[test]
fn a_bar_of_a_market_that_never_closes_counts_once_its_day_has_ended_in_new_york() {
    let mut stage = Stage::on(Calendar::nyse().always_open());
    let saturday = date(2024, 3, 9);
    let bar = Told::Bar(stage.symbol, flat(saturday, price("10")));
    let not_taken = Err(NotTaken::NoCompletedSession { date: saturday });
    assert_eq!(stage.taken(&bar, at("2024-03-10T04:59:59Z")), not_taken);
    assert_eq!(stage.taken(&bar, at("2024-03-10T05:00:00Z")), Ok(Vec::new()));
}

#[test]
fn an_observation_of_a_session_that_a_bar_has_completed_is_not_taken() {
    let mut stage = Stage::new();
    stage.arm(1, PRICE_ABOVE_TEN(), "2024-03-08T15:00:00Z");
    stage.bar("2024-03-08", "9", "2024-03-08T21:00:00Z");
    let late = stage.quote("10", None);
    assert_eq!(
        stage.taken(&late, at("2024-03-08T21:00:00Z")),
        Err(NotTaken::SessionCompleted { count: 1 })
    );
}

#[test]
fn a_reminder_fires_at_its_instant_and_not_before() {
    let mut stage = Stage::new();
    stage.arm(
        1,
        Condition::Reminder {
            at: at("2024-03-09T03:00:00Z"),
        },
        "2024-03-08T15:00:00Z",
    );
    assert_eq!(stage.tell(&Told::Clock, "2024-03-09T02:59:59Z"), NOTHING);
    assert_eq!(stage.tell(&Told::Clock, "2024-03-09T03:00:00Z"), [1]);
}

#[test]
fn after_a_standstill_of_days_one_daily_reminder_is_enough() {
    let mut stage = Stage::new();
    stage.arm(
        1,
        Condition::DailyReminder(DeliveryTime::MarketOpen),
        "2024-03-01T20:00:00Z",
    );
    assert_eq!(stage.tell(&Told::Clock, "2024-03-06T17:00:00Z"), [1]);
    assert_eq!(stage.tell(&Told::Clock, "2024-03-07T14:29:59Z"), NOTHING);
    assert_eq!(stage.tell(&Told::Clock, "2024-03-07T14:30:00Z"), [1]);
}
