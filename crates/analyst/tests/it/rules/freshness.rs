//! The rule for stale alerts.

use analyst::freshness::StaleReason;
use analyst::{Analysis, Intention};
use jiff::civil::date;
use jiff::tz::TimeZone;

use crate::support::{Fixture, bars, price};

fn fixture() -> Fixture {
    let closes: Vec<i64> = (0..60).map(|day| 100_000_000 + 1_000_000 * (day % 2)).collect();
    Fixture::of(bars(&closes, &[500_000], &[1_000]))
}

fn stale(fixture: &Fixture, made_on: jiff::civil::Date, made_price: &str) -> Option<StaleReason> {
    let subject = fixture.subject(Intention::Buy);
    let made_at = made_on.at(20, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
    StaleReason::of(made_at, price(made_price), &subject, &Analysis::of(&subject))
}

#[test]
fn alerts_are_stale_after_twenty_sessions() {
    let fixture = fixture();
    // Sixty sessions from 2021-01-04 end on 2021-03-30, so now is the open of 2021-03-31.
    assert_eq!(fixture.history.last().unwrap().date, date(2021, 3, 30));
    assert_eq!(stale(&fixture, date(2021, 3, 4), "101"), None);
    assert_eq!(
        stale(&fixture, date(2021, 3, 3), "101"),
        Some(StaleReason::HorizonPassed { sessions: 20 })
    );
    assert_eq!(
        stale(&fixture, date(2011, 3, 3), "101"),
        Some(StaleReason::HorizonPassed { sessions: 20 })
    );
}

#[test]
fn alerts_are_stale_after_a_large_price_move() {
    let mut fixture = fixture();
    // It moves by 1.02 % a day, so by 4.6 % in twenty sessions.
    fixture.price = price("104.5");
    assert_eq!(stale(&fixture, date(2021, 3, 30), "100"), None);
    fixture.price = price("105");
    assert!(matches!(stale(&fixture, date(2021, 3, 30), "100"), Some(StaleReason::PriceMoved { log }) if log > 0.0));
    fixture.price = price("95");
    assert!(matches!(stale(&fixture, date(2021, 3, 30), "100"), Some(StaleReason::PriceMoved { log }) if log < 0.0));
}
