//! Questions to the engine about rules.

use alerts::engine::{AlertAction, EvaluationIssue as Issue, EvaluationStatus, Event, Feed};
use alerts::metrics::{FundamentalFigures, required_sessions};
use alerts::{Alert, Revision};

use serde_json::{Value, json};

use super::market::{NOW, RuleMarket, blind, firings, rule, symbol, waiting};
use crate::common::{alert, at, id, price};

const NONE: Value = Value::Null;

#[test]
fn rules_are_counted_with_the_other_alerts() {
    let mut market = RuleMarket::new();
    let (own, other) = (symbol("ACME"), symbol("BBB"));
    assert!(!market.engine.has_price_alerts(other));
    let bytes = market.engine.index_bytes();
    let condition = alerts::Condition::NewExtreme {
        side: alerts::condition::Side::Above,
    };
    market.arm(&alert(1, own, condition, at(NOW)), NOW);
    market.arm(&rule(2, "price > 5 and BBB.price > 6", &NONE), NOW);
    let only_other = Alert {
        revision: Revision(7),
        ..rule(3, "BBB.price > 6", &NONE)
    };
    market.arm(&only_other, NOW);
    let engine = &market.engine;
    assert_eq!(engine.armed_alerts(), 3);
    let mut ids: Vec<_> = engine.armed_ids().collect();
    ids.sort_unstable();
    assert_eq!(ids, [id(1), id(2), id(3)]);
    let mut counts = engine.armed_per_stock();
    counts.sort_unstable();
    assert_eq!(counts, [(own, 2), (other, 2)]);
    assert_eq!(engine.revision(id(3)), Some(Revision(7)));
    assert_eq!(engine.revision(id(4)), None);
    assert!(engine.has_price_alerts(other));
    assert!(engine.index_bytes() > bytes);
    for number in 1..=3 {
        market.process(Event::Disarmed(id(number)), NOW);
    }
    assert_eq!(market.engine.armed_alerts(), 0);
    assert_eq!(market.engine.armed_per_stock(), []);
    assert!(!market.engine.has_price_alerts(other));
}

#[test]
fn next_moment_includes_those_of_rules() {
    let mut market = RuleMarket::new();
    assert_eq!(market.engine.next_moment(), None);
    let (expiry, snooze) = ("2024-07-03T10:00:00Z", "2024-07-02T10:00:00Z");
    market.arm(&rule(1, "price > 5", &json!({"expires_at": expiry})), NOW);
    assert_eq!(market.engine.next_moment(), Some(at(expiry)));
    market.arm(&rule(2, "price > 5", &json!({"snoozed_until": snooze})), NOW);
    assert_eq!(market.engine.next_moment(), Some(at(snooze)));
    market.process(Event::Disarmed(id(2)), NOW);
    assert_eq!(market.engine.next_moment(), Some(at(expiry)));
}

#[test]
fn rule_that_awaits_an_observation_expires_in_time() {
    let (snooze, expiry) = ("2024-07-06T10:00:00Z", "2024-07-07T10:00:00Z");
    let mut market = RuleMarket::new();
    let options = json!({"snoozed_until": snooze, "expires_at": expiry});
    market.arm(&rule(1, "price > 5", &options), NOW);
    assert_eq!(market.process(Event::Clock, snooze), []);
    assert_eq!(market.engine.next_moment(), Some(at(expiry)));
    let decisions = market.process(Event::Clock, expiry);
    let action = AlertAction::Expire { at: at(expiry) };
    assert_eq!(
        decisions
            .into_iter()
            .map(|decision| decision.action)
            .collect::<Vec<_>>(),
        [action]
    );
    assert_eq!(market.engine.armed_alerts(), 0);
}

#[test]
fn first_metric_without_data_gives_the_issue() {
    let mut market = RuleMarket::new().with_closes("ACME", 1..=10);
    let price_missing = market.status_of("price > 5", NOW);
    assert_eq!(price_missing, waiting(Issue::NoPrice));
    market.observe("ACME", "11", NOW);
    let too_little = |have, need| waiting(Issue::TooLittleHistory { have, need });
    for (text, status) in [
        ("price > 500", EvaluationStatus::Ok),
        ("sma(11) > 500", EvaluationStatus::Ok),
        ("sma(12) > 500", too_little(10, 11)),
        ("price > 500 and sma(20) > 5 and rsi > 5", too_little(10, 19)),
        ("rsi > 5 and sma(20) > 5", too_little(10, 14)),
        ("BBB.high(3) > 5", too_little(0, 3)),
        ("BBB.price > 5", waiting(Issue::NoPrice)),
        ("change_pct(creation) > 500", waiting(Issue::NoInitialPrice)),
        ("change_pct > 500", waiting(Issue::NoInitialPrice)),
        ("change_pct(prev_close) > 500", EvaluationStatus::Ok),
        ("pe < 1", blind(Issue::NoEarningsPerShare)),
        ("bid > 500", blind(Issue::NoSourceOfMetric("bid"))),
        ("market_cap > 500", blind(Issue::NoSourceOfMetric("market_cap"))),
        ("dividend_yield > 5", blind(Issue::NoSourceOfMetric("dividend_yield"))),
        ("mentions > 500", blind(Issue::NeverDelivered(Feed::Mentions))),
        ("insider_buys > 500", blind(Issue::NeverDelivered(Feed::Insiders))),
        ("days_to_earnings < 1", blind(Issue::NeverDelivered(Feed::Earnings))),
        ("days_to_payment < 1", blind(Issue::NeverDelivered(Feed::Dividends))),
        ("volume > 500", EvaluationStatus::Ok),
    ] {
        assert_eq!(market.status_of(text, NOW), status, "{text}");
    }
    let with_initial = Alert {
        initial_price: Some(price("10")),
        ..rule(5, "change_pct > 500", &NONE)
    };
    market.arm(&with_initial, NOW);
    assert_eq!(market.status(5, NOW), EvaluationStatus::Ok);
}

/// The completed sessions do not stand in for the price.
#[test]
fn indicator_of_a_bid_that_no_source_delivers_is_unknown() {
    let mut market = RuleMarket::new().with_closes("ACME", 1..=60);
    market.observe("ACME", "61", NOW);
    let metrics = [
        "sma(5)",
        "ema(5)",
        "rsi(5)",
        "macd",
        "macd_signal",
        "bb_upper",
        "bb_lower",
        "stdev(5)",
    ];
    for (number, metric) in (1..).zip(metrics) {
        let text = format!("{metric} > 0");
        market.arm(&rule(number, &text, &json!({"trigger": "bid"})), NOW);
        let fired = firings(&market.observe("ACME", "61.5", NOW));
        let status = market.status(number, NOW);
        assert_eq!(
            (fired, status),
            (vec![], blind(Issue::NoSourceOfMetric("bid"))),
            "{text}"
        );
    }
}

#[test]
fn facts_of_rules_have_the_issues_of_other_alerts() {
    let mut market = RuleMarket::new();
    let acme = symbol("ACME");
    let dates = ["2024-06-30".parse().unwrap()];
    market.process(
        Event::Earnings {
            symbol: acme,
            dates: &dates,
        },
        NOW,
    );
    assert_eq!(
        market.status_of("days_to_earnings < 1", NOW),
        waiting(Issue::NoDateKnown)
    );
    let dates = ["2024-07-01".parse().unwrap()];
    market.process(
        Event::Earnings {
            symbol: acme,
            dates: &dates,
        },
        NOW,
    );
    assert_eq!(market.status_of("days_to_earnings > 1", NOW), EvaluationStatus::Ok);
    for (eps, status) in [
        ("-1", blind(Issue::EarningsNotPositive)),
        ("1", waiting(Issue::NoPrice)),
    ] {
        let figures = FundamentalFigures {
            trailing_eps: eps.parse().ok(),
            ..FundamentalFigures::default()
        };
        let facts = Event::Fundamentals { symbol: acme, figures };
        market.process(facts, NOW);
        assert_eq!(market.status_of("pe < 1", NOW), status, "{eps}");
        assert_eq!(market.status_of("eps > 100", NOW), EvaluationStatus::Ok, "{eps}");
    }
    let lost = |feed| Event::Feed { feed, lost: true };
    market.process(lost(Feed::Fundamentals), NOW);
    assert_eq!(
        market.status_of("eps > 100", NOW),
        blind(Issue::NoSource(Feed::Fundamentals))
    );
    market.process(lost(Feed::Quotes), NOW);
    assert_eq!(
        market.status_of("price > 100", NOW),
        blind(Issue::NoSource(Feed::Quotes))
    );
    assert_eq!(market.status_of("days_to_earnings > 1", NOW), EvaluationStatus::Ok);
}

#[test]
fn stale_quotes_of_any_stock_make_a_rule_blind() {
    let mut market = RuleMarket::new();
    market.observe("BBB", "5", NOW);
    market.observe("ACME", "5", "2024-07-01T15:10:00Z");
    market.arm(&rule(1, "price > 50 or BBB.price > 50", &NONE), NOW);
    // The limit is 15 minutes, and the limit itself is not stale.
    assert_eq!(market.status(1, "2024-07-01T15:15:00Z"), EvaluationStatus::Ok);
    let later = at("2024-07-01T15:15:01Z");
    let found = market.engine.evaluation(id(1), later).unwrap();
    assert_eq!(found.state, blind(Issue::StaleQuotes));
    assert_eq!(found.since, at("2024-07-01T15:15:00Z"));
    let counts = market.engine.evaluation_counts(later);
    assert_eq!((counts.ok, counts.waiting, counts.blind), (0, 0, 1));
    // No quotes are due while the market is closed.
    assert_eq!(market.status(1, "2024-07-01T20:30:00Z"), EvaluationStatus::Ok);
}

#[test]
fn required_sessions_are_exactly_those_without_which_a_metric_has_no_value() {
    for text in [
        "prev_close",
        "gap_pct",
        "high(7)",
        "low(7)",
        "high_52w",
        "low_52w",
        "drawdown(7)",
        "sma(7)",
        "ema(7)",
        "rsi(7)",
        "rsi(14)",
        "macd(3,6,4)",
        "macd(6,3,4)",
        "macd_signal(3,6,4)",
        "bb_upper(7,2)",
        "bb_lower(7,2)",
        "atr(7)",
        "stdev(7)",
        "avg_volume(7)",
        "rvol(7)",
        "change_pct(7)",
        "change_pct(prev_close)",
        "sma(1)",
    ] {
        let when = format!("{text} > -1000000");
        let expression: alerts::expression::Expression = when.parse().unwrap();
        let metric = alerts::expression::shape::metrics(&expression)[0].metric;
        let need = i64::from(required_sessions(metric));
        for have in [need - 1, need] {
            if have < 0 {
                continue;
            }
            let mut market = RuleMarket::new().with_closes("ACME", (0..have).map(|place| 100 + place * place % 7));
            market.arm(&rule(1, &when, &NONE), NOW);
            let quote = alerts::engine::Quote::new(market.engine.stock(symbol("ACME")), price("101")).with_volume(500);
            let decisions = market.process(Event::Snapshot(&[quote]), NOW);
            let fired = !super::market::firings(&decisions).is_empty();
            assert_eq!(fired, have == need, "{text} with {have} sessions");
        }
    }
}
