//! Judgements because of facts and dates.

use alerts::engine::{Decision, Event, InsiderTrade};
use alerts::metrics::FundamentalFigures;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::market::{NOW, RuleMarket, firings, rule, symbol};
use crate::common::{at, decimal};

/// Saturday, 2024-07-06, 11:00 in New York.
const SATURDAY: &str = "2024-07-06T15:00:00Z";

/// The first instant of Sunday, 2024-07-07, in New York.
const SUNDAY: &str = "2024-07-07T04:00:00Z";

fn eps(market: &mut RuleMarket, stock: &str, eps: &str, now: &str) -> Vec<Timestamp> {
    let facts = Event::Fundamentals {
        symbol: symbol(stock),
        figures: FundamentalFigures {
            trailing_eps: Some(decimal(eps)),
            ..FundamentalFigures::default()
        },
    };
    firings(&market.process(facts, now))
}

fn fundamentals(market: &mut RuleMarket, figures: FundamentalFigures, now: &str) -> Vec<Timestamp> {
    let symbol = symbol("ACME");
    firings(&market.process(Event::Fundamentals { symbol, figures }, now))
}

fn earnings(market: &mut RuleMarket, date: &str, now: &str) -> Vec<Decision> {
    let dates = [date.parse().unwrap()];
    let symbol = symbol("ACME");
    market.process(Event::Earnings { symbol, dates: &dates }, now)
}

fn purchase(market: &mut RuleMarket, filed_on: &str, value: &str, now: &str) -> Vec<Timestamp> {
    let trade = InsiderTrade {
        filed_on: filed_on.parse().unwrap(),
        insider: "A".to_owned(),
        bought: true,
        open_market: true,
        value_usd: decimal(value),
    };
    let symbol = symbol("ACME");
    firings(&market.process(
        Event::InsiderTrades {
            symbol,
            trades: &[trade],
        },
        now,
    ))
}

#[test]
fn rule_of_facts_alone_fires_at_the_fact_while_the_market_is_closed() {
    let mut market = RuleMarket::new();
    market.arm(&rule(1, "eps >= 3", &Value::Null), NOW);
    assert_eq!(eps(&mut market, "ACME", "2.999999", SATURDAY), []);
    assert_eq!(eps(&mut market, "BBB", "3", SATURDAY), []);
    assert_eq!(eps(&mut market, "ACME", "3", SATURDAY), [at(SATURDAY)]);
    market.arm(&rule(2, "insider_buys(30) >= 500", &Value::Null), SATURDAY);
    assert_eq!(purchase(&mut market, "2024-07-05", "499", SATURDAY), []);
    assert_eq!(purchase(&mut market, "2024-07-05", "1", SATURDAY), [at(SATURDAY)]);
}

#[test]
fn market_capitalization_and_dividend_yield_fire_as_they_are_reported() {
    let mut market = RuleMarket::new();
    market.arm(&rule(1, "market_cap >= 2000000000", &Value::Null), NOW);
    market.arm(&rule(2, "dividend_yield >= 4.5", &Value::Null), NOW);
    let figures = |market_cap: &str, dividend_yield: &str| FundamentalFigures {
        market_cap: Some(decimal(market_cap)),
        dividend_yield: Some(decimal(dividend_yield)),
        ..FundamentalFigures::default()
    };
    let below = figures("1999999999.999999", "4.499999");
    assert_eq!(fundamentals(&mut market, below, SATURDAY), []);
    assert_eq!(fundamentals(&mut market, FundamentalFigures::default(), SATURDAY), []);
    let reached = figures("2000000000", "4.5");
    assert_eq!(fundamentals(&mut market, reached, SATURDAY), [at(SATURDAY); 2]);
}

#[test]
fn rule_with_a_price_waits_for_its_next_judgement() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "10", NOW);
    market.arm(&rule(1, "eps >= 3 and price > 5", &Value::Null), NOW);
    assert_eq!(firings(&market.observe("ACME", "10", "2024-07-01T15:01:00Z")), []);
    assert_eq!(eps(&mut market, "ACME", "3", "2024-07-01T15:02:00Z"), []);
    let evaluated = market.process(Event::Evaluate, "2024-07-01T15:03:00Z");
    assert_eq!(firings(&evaluated), [at("2024-07-01T15:03:00Z")]);
    market.arm(&rule(2, "eps >= 4 and price > 5", &Value::Null), NOW);
    market.observe("ACME", "10", "2024-07-01T15:04:00Z");
    assert_eq!(eps(&mut market, "ACME", "4", SATURDAY), []);
    assert_eq!(firings(&market.process(Event::Evaluate, SATURDAY)), []);
    let monday = "2024-07-08T14:00:00Z";
    assert_eq!(firings(&market.observe("ACME", "10", monday)), [at(monday)]);
}

#[test]
fn fact_of_another_stock_makes_the_own_stock_due() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "10", NOW);
    market.arm(&rule(1, "BBB.eps >= 3 and price > 5", &Value::Null), NOW);
    market.observe("ACME", "10", "2024-07-01T15:01:00Z");
    assert_eq!(eps(&mut market, "BBB", "3", "2024-07-01T15:02:00Z"), []);
    let next = "2024-07-01T15:03:00Z";
    assert_eq!(firings(&market.observe("ACME", "10", next)), [at(next)]);
}

#[test]
fn rule_of_facts_alone_that_is_true_when_armed_fires_at_the_next_clock_or_evaluation() {
    for event in [Event::Clock, Event::Evaluate] {
        let mut market = RuleMarket::new();
        eps(&mut market, "ACME", "3", NOW);
        market.arm(&rule(1, "eps >= 3", &Value::Null), SATURDAY);
        assert_eq!(firings(&market.process(event, SATURDAY)), [at(SATURDAY)]);
    }
}

#[test]
fn dates_are_judged_when_the_date_in_new_york_changes() {
    let mut market = RuleMarket::new();
    earnings(&mut market, "2024-07-10", SATURDAY);
    market.arm(&rule(1, "days_to_earnings <= 3", &Value::Null), SATURDAY);
    assert_eq!(firings(&market.process(Event::Clock, SATURDAY)), []);
    assert_eq!(market.engine.next_moment(), Some(at(SUNDAY)));
    assert_eq!(firings(&market.process(Event::Clock, "2024-07-07T03:59:59Z")), []);
    assert_eq!(firings(&market.process(Event::Clock, SUNDAY)), [at(SUNDAY)]);
    // A later date is another fact.
    market.arm(
        &rule(2, "days_to_earnings <= 3", &json!({"repeat": "each_time"})),
        SUNDAY,
    );
    assert_eq!(firings(&market.process(Event::Clock, SUNDAY)).len(), 1);
    assert_eq!(firings(&earnings(&mut market, "2024-07-20", SUNDAY)), []);
    let later = "2024-07-07T05:00:00Z";
    assert_eq!(firings(&earnings(&mut market, "2024-07-10", later)), [at(later)]);
}

#[test]
fn filings_leave_their_window_when_the_date_changes() {
    let mut market = RuleMarket::new();
    purchase(&mut market, "2024-07-06", "500", SATURDAY);
    market.arm(&rule(1, "insider_buys(1) < 500", &Value::Null), SATURDAY);
    assert_eq!(firings(&market.process(Event::Clock, "2024-07-07T03:59:59Z")), []);
    assert_eq!(firings(&market.process(Event::Clock, SUNDAY)), [at(SUNDAY)]);
}

#[test]
fn facts_make_crossings() {
    let mut market = RuleMarket::new();
    eps(&mut market, "ACME", "2", NOW);
    market.arm(&rule(1, "eps crosses above 3", &json!({"repeat": "each_time"})), NOW);
    assert_eq!(firings(&market.process(Event::Clock, NOW)), []);
    for (value, minute, fires) in [
        ("2.999999", 1, false),
        ("3", 2, true),
        ("4", 3, false),
        ("2", 4, false),
        ("5", 5, true),
    ] {
        let now = format!("2024-07-06T15:{minute:02}:00Z");
        assert_eq!(!eps(&mut market, "ACME", value, &now).is_empty(), fires, "{value}");
    }
}
