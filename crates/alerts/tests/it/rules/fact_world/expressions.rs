//! Rules on facts, and their options.

use alerts::expression::{Expression, Within};
use alerts::options::{AlertOptions, Cooldown, Hold, Repeat, TriggerPrice};
use proptest::prelude::*;
use proptest::sample::select;

/// An expression. If it compares one metric with a number, also the text that is true once the metric has returned to a level, and
/// that level.
#[derive(Clone, Debug)]
pub(crate) struct FactRule {
    pub(crate) expression: Expression,
    pub(crate) rearm: Option<(String, i64)>,
}

/// Metrics with levels about their values. A level is in whole dollars, days, counts or percents.
const METRICS: &[(&str, &[i64])] = &[
    ("eps", &[0, 2, 4, 5]),
    ("pe", &[20, 25, 26, 40, 50]),
    ("forward_pe", &[20, 25, 26, 40, 50]),
    ("market_cap", &[1_000_000, 2_000_000]),
    ("dividend_yield", &[1, 2]),
    ("mentions", &[6, 9, 12, 15]),
    ("mentions_ratio", &[1, 2]),
    ("insider_buys(1)", &[1, 500, 1_000]),
    ("insider_buys(2)", &[1, 500, 1_000]),
    ("insider_buys(7)", &[500, 1_000]),
    ("insider_sells(2)", &[1, 500]),
    ("days_to_earnings", &[0, 1, 2, 3, 5]),
    ("days_to_ex_dividend", &[0, 1, 2, 3]),
    ("days_to_payment", &[0, 1, 2]),
    ("price", &[96, 98, 100, 101, 103]),
    ("change_pct(creation)", &[-3, -1, 1, 3]),
    ("volume", &[200, 400, 1_000]),
];

fn metrics() -> impl Strategy<Value = (String, i64)> {
    let stock = select(vec!["", "", "", "BBB."]);
    (stock, select(METRICS), any::<prop::sample::Index>())
        .prop_map(|(stock, (name, levels), at)| (format!("{stock}{name}"), *at.get(levels)))
}

fn comparisons() -> impl Strategy<Value = FactRule> {
    let relation = select(vec!["<", "<=", ">", ">="]);
    let level = (metrics(), relation, 1..4_i64).prop_map(|((metric, level), relation, away)| {
        let (returned, rearm) = if relation.starts_with('<') {
            (">=", level + away)
        } else {
            ("<=", level - away)
        };
        FactRule {
            expression: format!("{metric} {relation} {level}").parse().unwrap(),
            rearm: Some((format!("{metric} {returned} {rearm}"), rearm)),
        }
    });
    let crossing = (metrics(), select(vec!["above", "below", ""]))
        .prop_map(|((metric, level), side)| rule(&format!("{metric} crosses {side} {level}")));
    let other = select(vec![
        "price < 20 * eps",
        "price crosses above 20 * eps",
        "price crosses 10 * forward_pe * eps / 4",
        "eps crosses BBB.eps",
        "BBB.days_to_earnings < days_to_earnings",
        "days_to_earnings between 1 and 3",
        "insider_buys(2) > insider_sells(2)",
        "price <= 0.97 * high_since_armed",
        "price >= 1.03 * low_since_armed",
        "price crosses below 0.98 * high_since_armed",
        "price > high(2)",
        "price crosses above prev_close",
        "low < prev_close",
        "price > open",
        "price > BBB.price",
        "price crosses BBB.price",
    ]);
    prop_oneof![3 => level, 2 => crossing, 2 => other.prop_map(rule)]
}

fn rule(text: &str) -> FactRule {
    FactRule {
        expression: text.parse().unwrap(),
        rearm: None,
    }
}

/// Returns rules.
pub(super) fn rules() -> impl Strategy<Value = FactRule> {
    comparisons().prop_recursive(3, 5, 2, |inner| {
        let inner = inner.prop_map(|rule| rule.expression.to_string());
        let both = (inner.clone(), select(vec!["and", "or"]), inner.clone())
            .prop_map(|(left, word, right)| format!("({left}) {word} ({right})"));
        // `not` of a `crosses` is true at any further judgement, so it depends on their number.
        let lasting = inner.prop_filter("no crosses", |inner| !inner.contains("crosses"));
        let texts = prop_oneof![3 => both, 1 => lasting.prop_map(|inner| format!("not ({inner})"))];
        texts.prop_filter_map("within the limits", |text| {
            let expression = text.parse().ok()?;
            Some(FactRule {
                expression,
                rearm: None,
            })
        })
    })
}

/// Returns the options of a rule, without `rearm` and `snoozed_until`.
pub(super) fn options() -> impl Strategy<Value = AlertOptions> {
    let repeat = select(vec![
        Repeat::Once,
        Repeat::EachTime,
        Repeat::EachTime,
        Repeat::OncePerDay,
    ]);
    let cooldown = proptest::option::weighted(0.4, select(vec!["1m", "7m", "2h", "3d"]));
    let hold = proptest::option::weighted(0.3, select(vec!["1m", "15m", "2h", "1d"]));
    let trigger = prop_oneof![3 => Just(TriggerPrice::Last), 1 => Just(TriggerPrice::TwoLasts)];
    let max_firings = proptest::option::weighted(0.2, 2..4_u16);
    (repeat, cooldown, hold, trigger, any::<bool>(), max_firings).prop_map(
        |(repeat, cooldown, hold, trigger, cooldown_refire, max_firings)| AlertOptions {
            repeat,
            cooldown: cooldown.map(|text| Cooldown::new(text.parse().unwrap()).unwrap()),
            cooldown_refire,
            hold: hold.map(|text| Hold::new(text.parse().unwrap()).unwrap()),
            trigger,
            max_firings: max_firings.filter(|_| repeat != Repeat::Once),
            ..AlertOptions::default()
        },
    )
}

pub(super) fn within() -> impl Strategy<Value = Option<Within>> {
    let text = proptest::option::weighted(0.3, select(vec!["5m", "90m", "2d", "session"]));
    text.prop_map(|text| text.map(|text| text.parse().unwrap()))
}
