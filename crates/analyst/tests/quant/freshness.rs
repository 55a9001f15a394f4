//! When alerts of the analyst's are no longer worth waiting for.

use analyst::freshness::Stale;
use analyst::{Analysis, Intention};
use jiff::civil::date;
use jiff::tz::TimeZone;

use crate::support::{Stage, bars, price};

fn stage() -> Stage {
    let closes: Vec<i64> = (0..60).map(|day| 100_000_000 + 1_000_000 * (day % 2)).collect();
    Stage::of(bars(&closes, &[500_000], &[1_000]))
}

fn stale(stage: &Stage, made_on: jiff::civil::Date, made_price: &str) -> Option<Stale> {
    let subject = stage.subject(Intention::Buy);
    let made_at = made_on.at(20, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
    Stale::since(made_at, price(made_price), &subject, &Analysis::of(&subject))
}

#[test]
fn alerts_are_stale_after_twenty_sessions_and_not_after_nineteen() {
    let stage = stage();
    // Sixty sessions from 2021-01-04 end on 2021-03-30, so now is the open of 2021-03-31.
    assert_eq!(stage.history.last().unwrap().date, date(2021, 3, 30));
    assert_eq!(stale(&stage, date(2021, 3, 4), "101"), None);
    assert_eq!(
        stale(&stage, date(2021, 3, 3), "101"),
        Some(Stale::Aged { sessions: 20 })
    );
    assert_eq!(
        stale(&stage, date(2011, 3, 3), "101"),
        Some(Stale::Aged { sessions: 20 })
    );
}

#[test]
fn alerts_are_stale_when_the_price_has_left_their_place() {
    let mut stage = stage();
    // It moves by 1.02 % a day, so by 4.6 % in twenty sessions.
    stage.price = price("104.5");
    assert_eq!(stale(&stage, date(2021, 3, 30), "100"), None);
    stage.price = price("105");
    assert!(matches!(stale(&stage, date(2021, 3, 30), "100"), Some(Stale::PriceMoved { log }) if log > 0.0));
    stage.price = price("95");
    assert!(matches!(stale(&stage, date(2021, 3, 30), "100"), Some(Stale::PriceMoved { log }) if log < 0.0));
}
