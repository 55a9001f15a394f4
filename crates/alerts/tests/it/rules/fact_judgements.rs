//! Crossings, confirmations and extremes at judgements because of facts, dates and time.

use alerts::engine::{AlertAction, Decision, Event, InsiderTrade};
use alerts::lifecycle::Lifecycle;
use alerts::metrics::FundamentalFigures;
use alerts::{Alert, AlertId};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::market::{NOW, RuleMarket, firings, rule, symbol};
use crate::common::{at, decimal, id};

/// Saturday, 2024-07-06, 11:00 in New York.
const SATURDAY: &str = "2024-07-06T15:00:00Z";

/// A second after the first instant of Sunday, 2024-07-07, in New York.
const SUNDAY: &str = "2024-07-07T04:00:01Z";

fn minute(minute: u8) -> String {
    format!("2024-07-01T15:{minute:02}:00Z")
}

fn eps(market: &mut RuleMarket, value: &str, now: &str) -> Vec<Timestamp> {
    let figures = FundamentalFigures {
        trailing_eps: Some(decimal(value)),
        ..FundamentalFigures::default()
    };
    let symbol = symbol("ACME");
    firings(&market.process(Event::Fundamentals { symbol, figures }, now))
}

fn earnings(market: &mut RuleMarket, stock: &str, date: &str, now: &str) -> Vec<Decision> {
    let dates = [date.parse().unwrap()];
    let symbol = symbol(stock);
    market.process(Event::Earnings { symbol, dates: &dates }, now)
}

fn stored(decisions: &[Decision], alert: AlertId) -> Lifecycle {
    let state = decisions.iter().find_map(|decision| match &decision.action {
        AlertAction::SetLifecycle { state } if decision.alert == alert => Some(state.as_ref().clone()),
        _ => None,
    });
    state.unwrap()
}

#[test]
fn crossing_of_a_fact_in_a_rule_with_a_price_fires_at_the_next_evaluation() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "10", NOW);
    eps(&mut market, "2", NOW);
    market.arm(&rule(1, "eps crosses above 3 and price > 5", &Value::Null), NOW);
    assert_eq!(firings(&market.observe("ACME", "10", &minute(1))), []);
    assert_eq!(eps(&mut market, "3", &minute(2)), []);
    assert_eq!(firings(&market.process(Event::Evaluate, &minute(3))), [at(&minute(3))]);
}

#[test]
fn crossing_of_a_date_is_seen_after_a_restart_over_midnight() {
    let alert = rule(1, "days_to_earnings crosses below 3", &Value::Null);
    let mut market = RuleMarket::new();
    earnings(&mut market, "ACME", "2024-07-10", SATURDAY);
    market.arm(&alert, SATURDAY);
    let state = stored(&market.process(Event::Clock, SATURDAY), id(1));
    let mut market = RuleMarket::new();
    earnings(&mut market, "ACME", "2024-07-10", SUNDAY);
    market.process(Event::Clock, SATURDAY);
    let stored = Alert {
        lifecycle: Some(Box::new(state)),
        ..alert
    };
    market.arm(&stored, SUNDAY);
    assert_eq!(firings(&market.process(Event::Clock, SUNDAY)), [at(SUNDAY)]);
}

#[test]
fn fact_between_arming_and_a_restart_is_a_crossing() {
    let alert = rule(1, "eps crosses above 3 and price > 5", &Value::Null);
    let mut market = RuleMarket::new();
    eps(&mut market, "2", SATURDAY);
    let state = market.arm(&alert, SATURDAY).unwrap();
    // The market is closed, so nothing is judged before the restart.
    let mut market = RuleMarket::new();
    eps(&mut market, "3", SUNDAY);
    let stored = Alert {
        lifecycle: Some(Box::new(state)),
        ..alert
    };
    assert_eq!(market.arm(&stored, SUNDAY), None);
    let monday = "2024-07-08T15:00:00Z";
    assert_eq!(firings(&market.observe("ACME", "10", monday)), [at(monday)]);
}

#[test]
fn fact_after_midnight_does_not_hide_the_crossing_of_a_date_of_another_stock() {
    let mut market = RuleMarket::new();
    earnings(&mut market, "BBB", "2024-07-10", SATURDAY);
    eps(&mut market, "2", SATURDAY);
    let when = "BBB.days_to_earnings crosses below 3 and eps > 1";
    market.arm(&rule(1, when, &Value::Null), SATURDAY);
    assert_eq!(firings(&market.process(Event::Clock, SATURDAY)), []);
    assert_eq!(eps(&mut market, "3", SUNDAY), [at(SUNDAY)]);
}

#[test]
fn crossing_of_an_unknown_fact_is_unknown_at_every_judgement() {
    let mut market = RuleMarket::new();
    market.arm(&rule(1, "not eps crosses above 3", &Value::Null), SATURDAY);
    assert_eq!(firings(&market.process(Event::Clock, SATURDAY)), []);
}

#[test]
fn insider_trades_have_no_value_before_a_source_has_delivered_any() {
    let mut market = RuleMarket::new();
    market.arm(&rule(1, "insider_buys(7) < 500", &Value::Null), SATURDAY);
    earnings(&mut market, "ACME", "2024-07-10", SATURDAY);
    assert_eq!(firings(&market.process(Event::Clock, SATURDAY)), []);
    // Then a stock without trades has none.
    let trade = InsiderTrade {
        filed_on: "2024-07-05".parse().unwrap(),
        insider: "A".to_owned(),
        bought: true,
        open_market: true,
        value_usd: decimal("900"),
    };
    let first = Event::InsiderTrades {
        symbol: symbol("BBB"),
        trades: &[trade],
    };
    assert_eq!(firings(&market.process(first, SUNDAY)), [at(SUNDAY)]);
}

#[test]
fn evaluation_after_a_fact_or_another_alert_is_no_second_price() {
    for is_fact in [true, false] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "90", NOW);
        market.arm(&rule(1, "price > 100", &json!({"trigger": "two_lasts"})), NOW);
        assert_eq!(firings(&market.observe("ACME", "101", &minute(1))), []);
        if is_fact {
            eps(&mut market, "2", &minute(1));
        } else {
            market.arm(&rule(2, "price > 500", &Value::Null), &minute(1));
        }
        assert_eq!(firings(&market.process(Event::Evaluate, &minute(2))), []);
        assert_eq!(firings(&market.observe("ACME", "101", &minute(3))), [at(&minute(3))]);
    }
}

#[test]
fn price_crosses_a_trailing_stop_at_the_first_observation_after_arming() {
    for (next, fires) in [("90.01", false), ("90", true)] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "100", NOW);
        market.arm(
            &rule(1, "price crosses below 0.9 * high_since_armed", &Value::Null),
            NOW,
        );
        let fired = firings(&market.observe("ACME", next, &minute(1)));
        assert_eq!(!fired.is_empty(), fires, "{next}");
    }
}

#[test]
fn price_crosses_the_new_trailing_stop_after_each_firing() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "100", NOW);
    let options = json!({"repeat": "each_time"});
    market.arm(&rule(1, "price crosses below 0.9 * high_since_armed", &options), NOW);
    for (price, at_minute, fires) in [("90", 1, true), ("81.01", 3, false), ("81", 4, true), ("81", 6, false)] {
        let fired = firings(&market.observe("ACME", price, &minute(at_minute)));
        assert_eq!(!fired.is_empty(), fires, "{price} at minute {at_minute}");
    }
}

#[test]
fn crossing_during_a_snooze_does_not_fire_after_it() {
    let snoozed = json!({"snoozed_until": minute(10)});
    for (last, fires) in [("105", false), ("99", true)] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "95", NOW);
        market.arm(&rule(1, "price crosses above 100", &snoozed), NOW);
        for (price, at) in [("95", 1), ("105", 3), (last, 5)] {
            assert_eq!(firings(&market.observe("ACME", price, &minute(at))), []);
        }
        let fired = firings(&market.observe("ACME", "107", &minute(11)));
        assert_eq!(!fired.is_empty(), fires, "{last}");
    }
}

#[test]
fn highest_price_after_a_snooze_begins_with_the_newest_price_of_its_end() {
    let snoozed = json!({"snoozed_until": minute(10)});
    for (next, fires) in [("108.01", false), ("108", true)] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "100", NOW);
        market.arm(&rule(1, "price <= 0.9 * high_since_armed", &snoozed), NOW);
        for (price, at) in [("100", 1), ("150", 3), ("120", 5)] {
            assert_eq!(firings(&market.observe("ACME", price, &minute(at))), []);
        }
        let fired = firings(&market.observe("ACME", next, &minute(11)));
        assert_eq!(!fired.is_empty(), fires, "{next}");
    }
}
