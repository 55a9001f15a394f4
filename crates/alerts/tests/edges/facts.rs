//! Insiders and discussion.

use alerts::condition::{BuzzDirection, Condition, InsiderDirection, InsiderWatch};
use alerts::engine::{InsiderTrade, NotJudged, State};
use jiff::ToSpan;
use jiff::civil::date;

use super::stage::{NOTHING, Stage};
use crate::common::{at, decimal};
use crate::oracle::Told;

const START: &str = "2024-03-01T00:00:00Z";

/// Tells so many hours of mentions from the hour `first` after the start on; answers what fires.
fn mention(stage: &mut Stage, first: i64, hours: i64, count: u32) -> Vec<u32> {
    let mut fired = Vec::new();
    for hour in first..first + hours {
        let hour = at(START) + hour.hours();
        fired.extend(
            stage
                .taken(&Told::Mentions(stage.symbol, hour, count), hour)
                .expect("taken"),
        );
    }
    fired
}

#[test]
fn discussion_is_judged_once_counts_reach_back_eight_days() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    assert_eq!(mention(&mut stage, 0, 191, 1), NOTHING);
    assert_eq!(stage.state(1, START), State::Waiting(NotJudged::TooFewMentions));
    assert_eq!(mention(&mut stage, 191, 1, 1), NOTHING);
    assert_eq!(stage.state(1, START), State::Ok);
    // 24 a day are usual; at 25 + 23 the last 24 hours have twice as many.
    assert_eq!(mention(&mut stage, 192, 1, 24), NOTHING);
    assert_eq!(
        mention(&mut stage, 192, 1, 25),
        [1],
        "a later count of the same hour takes the place of the earlier one"
    );
}

#[test]
fn a_stock_that_buzzes_when_it_becomes_known_is_no_change() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    assert_eq!(mention(&mut stage, 0, 180, 0), NOTHING);
    assert_eq!(mention(&mut stage, 180, 30, 20), NOTHING);
}

#[test]
fn an_alert_made_while_a_stock_buzzes_waits_for_the_next_time() {
    let mut stage = Stage::new();
    mention(&mut stage, 0, 200, 1);
    mention(&mut stage, 200, 1, 100);
    stage.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    assert_eq!(mention(&mut stage, 201, 10, 5), NOTHING, "it still buzzes");
    assert_eq!(mention(&mut stage, 211, 40, 1), NOTHING, "it calms down");
    assert_eq!(mention(&mut stage, 251, 1, 200), [1]);
}

#[test]
fn fewer_than_twenty_mentions_are_no_buzz_and_twenty_are() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    mention(&mut stage, 0, 200, 0);
    assert_eq!(mention(&mut stage, 200, 1, 19), NOTHING);
    assert_eq!(mention(&mut stage, 201, 1, 1), [1]);
}

#[test]
fn discussion_fades_at_half_of_what_is_usual_if_that_is_twenty_a_day() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::SocialBuzz(BuzzDirection::Falling), START);
    mention(&mut stage, 0, 192, 1);
    assert_eq!(mention(&mut stage, 192, 11, 0), NOTHING, "13 of 24");
    assert_eq!(mention(&mut stage, 203, 1, 0), [1], "12 of 24");
}

/// Tells a running count of the last 24 hours, as it is on a day after the start; answers what fires.
fn running(stage: &mut Stage, day: i64, count: u32) -> Vec<u32> {
    mention(stage, 24 * day, 1, count)
}

#[test]
fn a_count_a_day_at_midnight_is_judged_by_its_newest_state() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    for day in 0..8 {
        assert_eq!(running(&mut stage, day, 30), NOTHING);
        assert_eq!(stage.state(1, START), State::Waiting(NotJudged::TooFewMentions));
    }
    assert_eq!(running(&mut stage, 8, 40), NOTHING);
    assert_eq!(stage.state(1, START), State::Ok);
    // Were the counts of a day added up, this would be 99.
    assert_eq!(running(&mut stage, 8, 59), NOTHING);
    assert_eq!(running(&mut stage, 8, 60), [1]);
}

#[test]
fn a_day_that_a_source_by_the_day_leaves_out_is_no_day_without_mentions() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    for day in (0..10).filter(|day| *day != 7) {
        running(&mut stage, day, 30);
    }
    assert_eq!(stage.state(1, START), State::Waiting(NotJudged::TooFewMentions));
}

#[test]
fn a_source_by_the_hour_that_was_silent_for_a_day_is_not_taken_for_one_by_the_day() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::SocialBuzz(BuzzDirection::Falling), START);
    mention(&mut stage, 0, 200, 10);
    assert_eq!(stage.state(1, START), State::Ok);
    // Hours 200 to 222 are missing, which do not end at midnight.
    assert_eq!(mention(&mut stage, 223, 1, 10), NOTHING);
    assert_eq!(stage.state(1, START), State::Waiting(NotJudged::TooFewMentions));
}

#[test]
fn trades_that_are_told_anew_take_the_place_of_those_before() {
    let mut stage = Stage::new();
    stage.arm(1, Condition::InsiderTransactions(WATCH), "2024-03-15T12:00:00Z");
    let now = "2024-03-15T14:00:00Z";
    let filed = vec![purchase("A", 14), purchase("A", 15)];
    assert_eq!(stage.tell(&Told::Insiders(stage.symbol, filed), now), NOTHING);
    let left = vec![purchase("A", 14)];
    assert_eq!(stage.tell(&Told::InsidersAnew(stage.symbol, left), now), NOTHING);
    let small = InsiderTrade {
        value_usd: decimal("49999"),
        ..purchase("B", 15)
    };
    assert_eq!(stage.tell(&Told::Insiders(stage.symbol, vec![small]), now), NOTHING);
    let enough = InsiderTrade {
        value_usd: decimal("1"),
        ..purchase("B", 15)
    };
    assert_eq!(stage.tell(&Told::Insiders(stage.symbol, vec![enough]), now), [1]);
}

const WATCH: InsiderWatch = InsiderWatch {
    threshold_usd: market::Decimal::from_micros(100_000_000_000),
    direction: InsiderDirection::Buy,
    min_executives: 2,
    window_days: 7,
    open_market_only: true,
};

/// A purchase on the open market worth 50,000 USD, filed on a day of March 2024.
fn purchase(insider: &str, day: i8) -> InsiderTrade {
    InsiderTrade {
        filed_on: date(2024, 3, day),
        insider: insider.to_owned(),
        bought: true,
        open_market: true,
        value_usd: decimal("50000"),
    }
}

#[test]
fn insiders_of_the_window_are_added_up_and_those_of_before_it_are_not() {
    // Seven days up to the 15th begin with the 9th.
    let mut stage = Stage::new();
    stage.arm(1, Condition::InsiderTransactions(WATCH), "2024-03-15T12:00:00Z");
    let told =
        |stage: &mut Stage, trade| stage.tell(&Told::Insiders(stage.symbol, vec![trade]), "2024-03-15T14:00:00Z");
    assert_eq!(told(&mut stage, purchase("A", 8)), NOTHING);
    assert_eq!(told(&mut stage, purchase("A", 15)), NOTHING);
    assert_eq!(
        told(&mut stage, purchase("A", 15)),
        NOTHING,
        "the value is reached, by one insider"
    );
    assert_eq!(
        told(
            &mut stage,
            InsiderTrade {
                bought: false,
                ..purchase("B", 15)
            }
        ),
        NOTHING
    );
    assert_eq!(
        told(
            &mut stage,
            InsiderTrade {
                open_market: false,
                ..purchase("B", 15)
            }
        ),
        NOTHING
    );
    assert_eq!(told(&mut stage, purchase("B", 9)), [1]);
}

#[test]
fn trades_of_before_the_alert_was_made_count_when_the_clock_strikes_next() {
    let mut stage = Stage::new();
    let trades = vec![purchase("A", 14), purchase("B", 14)];
    stage.tell(&Told::Insiders(stage.symbol, trades), "2024-03-14T14:00:00Z");
    stage.arm(1, Condition::InsiderTransactions(WATCH), "2024-03-15T12:00:00Z");
    assert_eq!(stage.tell(&Told::Clock, "2024-03-15T12:01:00Z"), [1]);
}
