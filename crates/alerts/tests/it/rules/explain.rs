//! Explanations of armed alerts.

use alerts::engine::{AlertAction, Event, ExplainedTerm, QuoteDetails, TermSource};
use alerts::expression::Truth;
use alerts::lifecycle::WaitReason;
use alerts::{Alert, Condition};
use serde_json::{Value, json};

use super::market::{NOW, RuleMarket, rule, symbol};
use crate::common::{alert, at, decimal, id, price};

const LATER: &str = "2024-07-01T15:05:00Z";

fn explained(market: &RuleMarket, number: u32) -> alerts::engine::Explanation {
    market.engine.explain(id(number), at(LATER)).unwrap()
}

#[test]
fn terms_have_the_order_of_the_text() {
    let mut market = RuleMarket::new().with_closes("ACME", 1..=5);
    market.observe("ACME", "100", NOW);
    market.observe("BBB", "50", LATER);
    let when = "price >= 110 and BBB.price < 60 or sma(20) > 5 and price crosses above 90";
    market.arm(&rule(1, when, &Value::Null), LATER);
    let found = explained(&market, 1);
    assert_eq!(found.truth, Truth::False);
    let price_term = ExplainedTerm {
        text: "price >= 110".to_owned(),
        left: Some(decimal("100")),
        right: Some(decimal("110")),
        holds: Some(false),
        distance_pct: Some(decimal("10")),
        as_of: Some(at(NOW)),
        sources: vec![TermSource::Quotes],
    };
    assert_eq!(found.terms[0], price_term);
    let texts: Vec<_> = found
        .terms
        .iter()
        .map(|term| (term.text.as_str(), term.holds))
        .collect();
    assert_eq!(
        texts[1..],
        [
            ("BBB.price < 60", Some(true)),
            ("sma(20) > 5", None),
            ("price crosses above 90", Some(false)),
        ]
    );
    assert_eq!(
        (found.terms[1].as_of, found.terms[1].distance_pct),
        (Some(at(LATER)), Some(decimal("20")))
    );
    assert_eq!((found.terms[2].left, found.terms[2].distance_pct), (None, None));
}

#[test]
fn both_sides_of_a_level_and_of_a_range_are_explained() {
    for (text, when, holds, right) in [
        ("99.999999", "price >= 100", false, "100"),
        ("100", "price >= 100", true, "100"),
        ("9.99", "price between 10 and 20", false, "10"),
        ("10", "price between 10 and 20", true, "10"),
        ("20.01", "price between 10 and 20", false, "20"),
    ] {
        let mut market = RuleMarket::new();
        market.observe("ACME", text, NOW);
        market.arm(&rule(1, when, &Value::Null), NOW);
        let term = explained(&market, 1).terms.remove(0);
        assert_eq!(
            (term.holds, term.right),
            (Some(holds), Some(decimal(right))),
            "{text} {when}"
        );
    }
}

#[test]
fn explanation_has_the_reason_to_wait_and_the_next_check() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "100", NOW);
    let until = "2024-07-02T10:00:00Z";
    market.arm(&rule(1, "price > 5", &json!({"snoozed_until": until})), NOW);
    let found = explained(&market, 1);
    assert_eq!(found.next_check, Some(at(until)));
    assert!(
        matches!(found.wait, Some(WaitReason::Snoozed { .. })),
        "{:?}",
        found.wait
    );
    market.arm(&rule(2, "price > 500", &Value::Null), NOW);
    let found = explained(&market, 2);
    assert_eq!(found.next_check, None);
    assert!(found.wait.is_some());
}

#[test]
fn conditions_without_options_are_explained_through_their_expressions() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "100", NOW);
    let change = Condition::PriceChange {
        side: alerts::condition::Side::Above,
        percent: decimal("30"),
    };
    let with_initial = Alert {
        initial_price: Some(price("80")),
        ..alert(1, symbol("ACME"), change, at(NOW))
    };
    market.arm(&with_initial, NOW);
    let found = explained(&market, 1);
    let term = &found.terms[0];
    assert_eq!(
        (term.left, term.right, term.holds),
        (Some(decimal("25")), Some(decimal("30")), Some(false))
    );
    let reminder = Condition::Reminder {
        at: at("2030-01-01T00:00:00Z"),
    };
    market.arm(&alert(2, symbol("ACME"), reminder, at(NOW)), NOW);
    let found = explained(&market, 2);
    assert_eq!(
        (found.terms.len(), found.next_check),
        (0, Some(at("2030-01-01T00:00:00Z")))
    );
    assert_eq!(market.engine.explain(id(3), at(LATER)), None);
}

#[test]
fn cooldown_and_re_arming_are_explained_while_the_condition_is_false() {
    for (when, options, next, expected) in [
        (
            "price crosses above 105",
            json!({"repeat": "each_time", "cooldown": "1h"}),
            "107",
            "cooldown",
        ),
        (
            "price > 105",
            json!({"repeat": "each_time", "cooldown": "1h"}),
            "100",
            "cooldown",
        ),
        (
            "price > 105",
            json!({"repeat": "each_time", "rearm": {"at": 90}}),
            "100",
            "waiting_to_rearm",
        ),
        (
            "price > 105",
            json!({"repeat": "each_time", "rearm": {"at": 90}}),
            "90",
            "not_true",
        ),
    ] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "100", NOW);
        market.arm(&rule(1, when, &options), NOW);
        market.observe("ACME", "106", "2024-07-01T15:01:00Z");
        market.observe("ACME", next, "2024-07-01T15:02:00Z");
        let found = explained(&market, 1);
        let wait = found.wait.map(WaitReason::name);
        assert_eq!(
            (found.truth, wait),
            (Truth::False, Some(expected)),
            "{when} {options} {next}"
        );
    }
}

#[test]
fn reason_of_a_firing_has_the_exact_price() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "100", NOW);
    market.arm(&rule(1, "price < 99.99996", &Value::Null), NOW);
    let decisions = market.observe("ACME", "99.999951", LATER);
    let reason = decisions.iter().find_map(|decision| match &decision.action {
        alerts::engine::AlertAction::FireRule { reason, .. } => Some(reason.to_string()),
        _ => None,
    });
    assert_eq!(reason.unwrap(), "price < 99.99996: price is 99.999951");
}

#[test]
fn alert_that_is_not_armed_is_explained_with_the_present_values() {
    let mut market = RuleMarket::new().with_closes("ACME", 1..=5);
    market.observe("ACME", "100", NOW);
    let paused = rule(1, "price >= 110 and sma(2) > 5", &Value::Null);
    assert_eq!(market.engine.explain(paused.id, at(LATER)), None);
    let found = market.engine.explain_unarmed(&paused, at(LATER)).unwrap();
    assert_eq!(found.truth, Truth::False);
    assert_eq!(found.terms[0].left, Some(decimal("100")));
    assert_eq!(found.terms[1].left, Some(decimal("52.5")));
    let elsewhere = rule(2, "NOSUCH.price > 1", &Value::Null);
    assert_eq!(market.engine.explain_unarmed(&elsewhere, at(LATER)), None);
}

#[test]
fn reason_names_the_price_that_was_judged() {
    for (options, expected) in [
        (json!({"trigger": "bid"}), "price < 97: bid is 96"),
        (json!({"trigger": "ask"}), "price < 97: ask is 96.5"),
        (json!({"trigger": "mid"}), "price < 97: mid is 96.25"),
        (json!({}), "price < 97: price is 96.75"),
    ] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "100", NOW);
        market.arm(&rule(1, "price < 97", &options), NOW);
        let stock = market.engine.stock(symbol("ACME"));
        let details = QuoteDetails {
            stock,
            bid: Some(price("96")),
            ask: Some(price("96.5")),
            vwap: None,
        };
        let fired = [
            market.process(Event::QuoteDetails(&[details]), LATER),
            market.observe("ACME", "96.75", LATER),
        ]
        .concat();
        let reasons: Vec<String> = fired
            .iter()
            .filter_map(|decision| match &decision.action {
                AlertAction::FireRule { reason, .. } => Some(reason.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(reasons, [expected], "{options}");
    }
}
