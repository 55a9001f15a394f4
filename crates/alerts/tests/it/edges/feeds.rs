//! Alerts on data that no source has delivered.

use alerts::condition::{BuzzDirection, Condition, InsiderCriteria, InsiderDirection};
use alerts::engine::{Dividend, EvaluationIssue, EvaluationStatus, Event, Feed, InsiderTrade};
use jiff::ToSpan;
use jiff::civil::date;

use super::fixture::Fixture;
use crate::common::{at, decimal};

const NOW: &str = "2024-03-15T14:00:00Z";

const INSIDERS: Condition = Condition::InsiderTransactions(InsiderCriteria {
    threshold_usd: market::Decimal::from_micros(100_000_000_000),
    direction: InsiderDirection::Both,
    min_executives: 1,
    window_days: 7,
    open_market_only: true,
});
const BUZZ: Condition = Condition::SocialBuzz(BuzzDirection::Rising);
const EARNINGS: Condition = Condition::EarningsAnnouncement { days_ahead: 3 };
const EX_DATE: Condition = Condition::DividendExDate { days_ahead: 1 };

/// Returns a fixture with an alert on ACME.
fn fixture(condition: Condition) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.arm(1, condition, NOW);
    fixture
}

fn process(fixture: &mut Fixture, event: Event<'_>) {
    fixture.engine.process(event, at(NOW), &mut Vec::new()).expect("taken");
}

/// Delivers data for a stock on which the alert on ACME does not fire.
fn deliver(fixture: &mut Fixture, feed: Feed, symbol: &str) {
    let symbol = symbol.parse().expect("a symbol");
    let filed = [InsiderTrade {
        filed_on: date(2024, 3, 14),
        insider: "A".to_owned(),
        bought: true,
        open_market: true,
        value_usd: decimal("1"),
    }];
    let paid = [Dividend {
        ex_date: date(2024, 6, 14),
        payment_date: None,
        amount: None,
    }];
    let event = match feed {
        Feed::Insiders => Event::InsiderTrades { symbol, trades: &filed },
        Feed::Earnings => Event::Earnings {
            symbol,
            dates: &[date(2024, 6, 14)],
        },
        Feed::Dividends => Event::Dividends {
            symbol,
            dividends: &paid,
        },
        other => panic!("{other:?}"),
    };
    process(fixture, event);
}

fn mention(fixture: &mut Fixture, symbol: &str, hours_ago: i64) {
    let event = Event::Mentions {
        symbol: symbol.parse().expect("a symbol"),
        hour: at(NOW) - hours_ago.hours(),
        count: 1,
    };
    process(fixture, event);
}

#[test]
fn alerts_are_blind_while_no_source_has_delivered_their_data() {
    for (condition, feed) in [
        (INSIDERS, Feed::Insiders),
        (BUZZ, Feed::Mentions),
        (EARNINGS, Feed::Earnings),
        (EX_DATE, Feed::Dividends),
        (Condition::DividendPayment { shares: None }, Feed::Dividends),
    ] {
        let state = fixture(condition).state(1, NOW);
        assert_eq!(state, EvaluationStatus::Blind(EvaluationIssue::NeverDelivered(feed)));
    }
}

#[test]
fn insider_alert_is_evaluated_after_a_delivery_for_any_stock() {
    let mut fixture = fixture(INSIDERS);
    deliver(&mut fixture, Feed::Insiders, "OTHER");
    assert_eq!(fixture.state(1, NOW), EvaluationStatus::Ok);
}

#[test]
fn date_alert_is_waiting_after_a_delivery_for_any_stock() {
    for (condition, feed) in [(EARNINGS, Feed::Earnings), (EX_DATE, Feed::Dividends)] {
        let mut fixture = fixture(condition);
        deliver(&mut fixture, feed, "OTHER");
        assert_eq!(
            fixture.state(1, NOW),
            EvaluationStatus::Waiting(EvaluationIssue::NoDateKnown)
        );
        deliver(&mut fixture, feed, "ACME");
        assert_eq!(fixture.state(1, NOW), EvaluationStatus::Ok);
    }
}

#[test]
fn earnings_delivery_does_not_count_for_dividends() {
    let mut fixture = fixture(EX_DATE);
    deliver(&mut fixture, Feed::Earnings, "ACME");
    let blind = EvaluationStatus::Blind(EvaluationIssue::NeverDelivered(Feed::Dividends));
    assert_eq!(fixture.state(1, NOW), blind);
}

#[test]
fn delivery_without_dates_does_not_count() {
    let mut fixture = fixture(EARNINGS);
    let symbol = fixture.symbol;
    process(&mut fixture, Event::Earnings { symbol, dates: &[] });
    let blind = EvaluationStatus::Blind(EvaluationIssue::NeverDelivered(Feed::Earnings));
    assert_eq!(fixture.state(1, NOW), blind);
}

#[test]
fn buzz_alert_is_blind_without_mentions_of_its_stock() {
    let mut fixture = fixture(BUZZ);
    mention(&mut fixture, "OTHER", 1);
    let blind = EvaluationStatus::Blind(EvaluationIssue::NeverDelivered(Feed::Mentions));
    assert_eq!(fixture.state(1, NOW), blind);
    mention(&mut fixture, "ACME", 1);
    assert_eq!(
        fixture.state(1, NOW),
        EvaluationStatus::Waiting(EvaluationIssue::TooFewMentions)
    );
}

#[test]
fn mentions_count_for_eight_days() {
    for (hours_ago, expected) in [
        (192, EvaluationStatus::Waiting(EvaluationIssue::TooFewMentions)),
        (
            193,
            EvaluationStatus::Blind(EvaluationIssue::NeverDelivered(Feed::Mentions)),
        ),
    ] {
        let mut fixture = fixture(BUZZ);
        mention(&mut fixture, "ACME", hours_ago);
        assert_eq!(fixture.state(1, NOW), expected, "{hours_ago}");
    }
}

#[test]
fn lost_feed_is_restored_by_a_delivery() {
    let mut fixture = fixture(INSIDERS);
    deliver(&mut fixture, Feed::Insiders, "ACME");
    let lost = Event::Feed {
        feed: Feed::Insiders,
        lost: true,
    };
    process(&mut fixture, lost);
    let no_source = EvaluationStatus::Blind(EvaluationIssue::NoSource(Feed::Insiders));
    assert_eq!(fixture.state(1, NOW), no_source);
    deliver(&mut fixture, Feed::Insiders, "ACME");
    assert_eq!(fixture.state(1, NOW), EvaluationStatus::Ok);
}
