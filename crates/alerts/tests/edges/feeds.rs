//! Alerts on data that no source has delivered.

use alerts::condition::{BuzzDirection, Condition, InsiderDirection, InsiderWatch};
use alerts::engine::{Dividend, Event, Feed, InsiderTrade, NotJudged, State};
use jiff::ToSpan;
use jiff::civil::date;

use super::stage::Stage;
use crate::common::{at, decimal};

const NOW: &str = "2024-03-15T14:00:00Z";

const INSIDERS: Condition = Condition::InsiderTransactions(InsiderWatch {
    threshold_usd: market::Decimal::from_micros(100_000_000_000),
    direction: InsiderDirection::Both,
    min_executives: 1,
    window_days: 7,
    open_market_only: true,
});
const BUZZ: Condition = Condition::SocialBuzz(BuzzDirection::Rising);
const EARNINGS: Condition = Condition::EarningsAnnouncement { days_ahead: 3 };
const EX_DATE: Condition = Condition::DividendExDate { days_ahead: 1 };

/// An engine with an alert on ACME.
fn stage(condition: Condition) -> Stage {
    let mut stage = Stage::new();
    stage.arm(1, condition, NOW);
    stage
}

fn process(stage: &mut Stage, event: Event<'_>) {
    stage.engine.process(event, at(NOW), &mut Vec::new()).expect("taken");
}

/// Delivers data that the alert on ACME does not fire on, for a stock.
fn deliver(stage: &mut Stage, feed: Feed, symbol: &str) {
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
    process(stage, event);
}

fn mention(stage: &mut Stage, symbol: &str, hours_ago: i64) {
    let event = Event::Mentions {
        symbol: symbol.parse().expect("a symbol"),
        hour: at(NOW) - hours_ago.hours(),
        count: 1,
    };
    process(stage, event);
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
        let state = stage(condition).state(1, NOW);
        assert_eq!(state, State::Blind(NotJudged::NeverDelivered(feed)));
    }
}

#[test]
fn insider_alert_is_judged_once_trades_of_any_stock_were_delivered() {
    let mut stage = stage(INSIDERS);
    deliver(&mut stage, Feed::Insiders, "OTHER");
    assert_eq!(stage.state(1, NOW), State::Ok);
}

#[test]
fn date_alert_waits_for_its_date_once_dates_of_any_stock_were_delivered() {
    for (condition, feed) in [(EARNINGS, Feed::Earnings), (EX_DATE, Feed::Dividends)] {
        let mut stage = stage(condition);
        deliver(&mut stage, feed, "OTHER");
        assert_eq!(stage.state(1, NOW), State::Waiting(NotJudged::NoDateKnown));
        deliver(&mut stage, feed, "ACME");
        assert_eq!(stage.state(1, NOW), State::Ok);
    }
}

#[test]
fn earnings_do_not_stand_in_for_dividends() {
    let mut stage = stage(EX_DATE);
    deliver(&mut stage, Feed::Earnings, "ACME");
    let blind = State::Blind(NotJudged::NeverDelivered(Feed::Dividends));
    assert_eq!(stage.state(1, NOW), blind);
}

#[test]
fn a_delivery_without_dates_is_none() {
    let mut stage = stage(EARNINGS);
    let symbol = stage.symbol;
    process(&mut stage, Event::Earnings { symbol, dates: &[] });
    let blind = State::Blind(NotJudged::NeverDelivered(Feed::Earnings));
    assert_eq!(stage.state(1, NOW), blind);
}

#[test]
fn buzz_alert_waits_only_if_mentions_of_its_own_stock_are_delivered() {
    let mut stage = stage(BUZZ);
    mention(&mut stage, "OTHER", 1);
    let blind = State::Blind(NotJudged::NeverDelivered(Feed::Mentions));
    assert_eq!(stage.state(1, NOW), blind);
    mention(&mut stage, "ACME", 1);
    assert_eq!(stage.state(1, NOW), State::Waiting(NotJudged::TooFewMentions));
}

#[test]
fn mentions_of_eight_days_ago_still_count_and_older_ones_do_not() {
    for (hours_ago, expected) in [
        (192, State::Waiting(NotJudged::TooFewMentions)),
        (193, State::Blind(NotJudged::NeverDelivered(Feed::Mentions))),
    ] {
        let mut stage = stage(BUZZ);
        mention(&mut stage, "ACME", hours_ago);
        assert_eq!(stage.state(1, NOW), expected, "{hours_ago}");
    }
}

#[test]
fn a_feed_that_is_not_set_up_is_lost_until_it_delivers() {
    let mut stage = stage(INSIDERS);
    deliver(&mut stage, Feed::Insiders, "ACME");
    let lost = Event::Feed {
        feed: Feed::Insiders,
        lost: true,
    };
    process(&mut stage, lost);
    let no_source = State::Blind(NotJudged::NoSource(Feed::Insiders));
    assert_eq!(stage.state(1, NOW), no_source);
    deliver(&mut stage, Feed::Insiders, "ACME");
    assert_eq!(stage.state(1, NOW), State::Ok);
}
