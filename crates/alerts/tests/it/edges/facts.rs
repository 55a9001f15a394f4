//! Insider trades and mentions.

use alerts::condition::{BuzzDirection, Condition, InsiderCriteria, InsiderDirection};
use alerts::engine::{EvaluationIssue, EvaluationStatus, InsiderTrade};
use jiff::ToSpan;
use jiff::civil::date;

use super::fixture::{Fixture, NOTHING};
use crate::common::{at, decimal};
use crate::oracle::OwnedEvent;

const START: &str = "2024-03-01T00:00:00Z";

/// Processes hourly counts of mentions from the hour `first` after the start. Returns the alerts that fire.
fn mention(fixture: &mut Fixture, first: i64, hours: i64, count: u32) -> Vec<u32> {
    let mut fired = Vec::new();
    for hour in first..first + hours {
        let hour = at(START) + hour.hours();
        fired.extend(
            fixture
                .try_process(&OwnedEvent::Mentions(fixture.symbol, hour, count), hour)
                .expect("taken"),
        );
    }
    fired
}

#[test]
fn buzz_requires_counts_of_eight_days() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    assert_eq!(mention(&mut fixture, 0, 191, 1), NOTHING);
    assert_eq!(
        fixture.state(1, START),
        EvaluationStatus::Waiting(EvaluationIssue::TooFewMentions)
    );
    assert_eq!(mention(&mut fixture, 191, 1, 1), NOTHING);
    assert_eq!(fixture.state(1, START), EvaluationStatus::Ok);
    // The usual number is 24 per day. With 25 + 23 the last 24 hours have twice as many.
    assert_eq!(mention(&mut fixture, 192, 1, 24), NOTHING);
    assert_eq!(
        mention(&mut fixture, 192, 1, 25),
        [1],
        "a later count of the same hour takes the place of the earlier one"
    );
}

#[test]
fn first_known_buzz_state_does_not_fire() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    assert_eq!(mention(&mut fixture, 0, 180, 0), NOTHING);
    assert_eq!(mention(&mut fixture, 180, 30, 20), NOTHING);
}

#[test]
fn alert_created_during_rising_buzz_waits_for_the_next_rise() {
    let mut fixture = Fixture::new();
    mention(&mut fixture, 0, 200, 1);
    mention(&mut fixture, 200, 1, 100);
    fixture.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    assert_eq!(mention(&mut fixture, 201, 10, 5), NOTHING, "it still buzzes");
    assert_eq!(mention(&mut fixture, 211, 40, 1), NOTHING, "it calms down");
    assert_eq!(mention(&mut fixture, 251, 1, 200), [1]);
}

#[test]
fn rising_buzz_requires_20_mentions() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    mention(&mut fixture, 0, 200, 0);
    assert_eq!(mention(&mut fixture, 200, 1, 19), NOTHING);
    assert_eq!(mention(&mut fixture, 201, 1, 1), [1]);
}

#[test]
fn falling_buzz_requires_half_of_at_least_20_usual_mentions() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::SocialBuzz(BuzzDirection::Falling), START);
    mention(&mut fixture, 0, 192, 1);
    assert_eq!(mention(&mut fixture, 192, 11, 0), NOTHING, "13 of 24");
    assert_eq!(mention(&mut fixture, 203, 1, 0), [1], "12 of 24");
}

/// Processes a running 24-hour count for a day after the start. Returns the alerts that fire.
fn running(fixture: &mut Fixture, day: i64, count: u32) -> Vec<u32> {
    mention(fixture, 24 * day, 1, count)
}

#[test]
fn latest_running_daily_count_replaces_earlier_ones() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    for day in 0..8 {
        assert_eq!(running(&mut fixture, day, 30), NOTHING);
        assert_eq!(
            fixture.state(1, START),
            EvaluationStatus::Waiting(EvaluationIssue::TooFewMentions)
        );
    }
    assert_eq!(running(&mut fixture, 8, 40), NOTHING);
    assert_eq!(fixture.state(1, START), EvaluationStatus::Ok);
    // If the counts of a day were added up, this would be 99.
    assert_eq!(running(&mut fixture, 8, 59), NOTHING);
    assert_eq!(running(&mut fixture, 8, 60), [1]);
}

#[test]
fn missing_daily_count_is_a_gap() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::SocialBuzz(BuzzDirection::Rising), START);
    for day in (0..10).filter(|day| *day != 7) {
        running(&mut fixture, day, 30);
    }
    assert_eq!(
        fixture.state(1, START),
        EvaluationStatus::Waiting(EvaluationIssue::TooFewMentions)
    );
}

#[test]
fn daylong_gap_not_ending_at_midnight_is_a_gap() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::SocialBuzz(BuzzDirection::Falling), START);
    mention(&mut fixture, 0, 200, 10);
    assert_eq!(fixture.state(1, START), EvaluationStatus::Ok);
    // Hours 200 to 222 are missing. The gap does not end at midnight.
    assert_eq!(mention(&mut fixture, 223, 1, 10), NOTHING);
    assert_eq!(
        fixture.state(1, START),
        EvaluationStatus::Waiting(EvaluationIssue::TooFewMentions)
    );
}

#[test]
fn replaced_insider_trades_drop_the_previous_ones() {
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::InsiderTransactions(WATCH), "2024-03-15T12:00:00Z");
    let now = "2024-03-15T14:00:00Z";
    let filed = vec![purchase("A", 14), purchase("A", 15)];
    assert_eq!(
        fixture.process(&OwnedEvent::Insiders(fixture.symbol, filed), now),
        NOTHING
    );
    let left = vec![purchase("A", 14)];
    assert_eq!(
        fixture.process(&OwnedEvent::InsiderTradesReplaced(fixture.symbol, left), now),
        NOTHING
    );
    let small = InsiderTrade {
        value_usd: decimal("49999"),
        ..purchase("B", 15)
    };
    assert_eq!(
        fixture.process(&OwnedEvent::Insiders(fixture.symbol, vec![small]), now),
        NOTHING
    );
    let enough = InsiderTrade {
        value_usd: decimal("1"),
        ..purchase("B", 15)
    };
    assert_eq!(
        fixture.process(&OwnedEvent::Insiders(fixture.symbol, vec![enough]), now),
        [1]
    );
}

const WATCH: InsiderCriteria = InsiderCriteria {
    threshold_usd: market::Decimal::from_micros(100_000_000_000),
    direction: InsiderDirection::Buy,
    min_executives: 2,
    window_days: 7,
    open_market_only: true,
};

/// Returns a purchase on the open market worth 50,000 USD, filed on a day of March 2024.
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
fn insider_trades_within_the_window_are_added_up() {
    // The window of seven days up to the 15th begins on the 9th.
    let mut fixture = Fixture::new();
    fixture.arm(1, Condition::InsiderTransactions(WATCH), "2024-03-15T12:00:00Z");
    let report = |fixture: &mut Fixture, trade| {
        fixture.process(
            &OwnedEvent::Insiders(fixture.symbol, vec![trade]),
            "2024-03-15T14:00:00Z",
        )
    };
    assert_eq!(report(&mut fixture, purchase("A", 8)), NOTHING);
    assert_eq!(report(&mut fixture, purchase("A", 15)), NOTHING);
    assert_eq!(
        report(&mut fixture, purchase("A", 15)),
        NOTHING,
        "the value is reached, by one insider"
    );
    assert_eq!(
        report(
            &mut fixture,
            InsiderTrade {
                bought: false,
                ..purchase("B", 15)
            }
        ),
        NOTHING
    );
    assert_eq!(
        report(
            &mut fixture,
            InsiderTrade {
                open_market: false,
                ..purchase("B", 15)
            }
        ),
        NOTHING
    );
    assert_eq!(report(&mut fixture, purchase("B", 9)), [1]);
}

#[test]
fn earlier_trades_count_at_the_next_clock_event() {
    let mut fixture = Fixture::new();
    let trades = vec![purchase("A", 14), purchase("B", 14)];
    fixture.process(&OwnedEvent::Insiders(fixture.symbol, trades), "2024-03-14T14:00:00Z");
    fixture.arm(1, Condition::InsiderTransactions(WATCH), "2024-03-15T12:00:00Z");
    assert_eq!(fixture.process(&OwnedEvent::Clock, "2024-03-15T12:01:00Z"), [1]);
}
