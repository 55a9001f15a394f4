//! The options that fit each condition.

use alerts::condition::ConditionKind;
use alerts::expression::{Expression, MetricValue};
use alerts::options::{ConditionLevel, TriggerPrice, check_fit, restore_options};
use alerts::{Condition, NewAlert};
use serde_json::{Value, json};

use crate::expression::support::exact;
use crate::requests::support::create;

/// Returns the errors of options for a condition; empty if they fit.
fn errors(condition: &Condition, options: &Value) -> String {
    let options = restore_options(options).unwrap();
    check_fit(&options, condition)
        .err()
        .map_or_else(String::new, |errors| errors.to_string())
}

/// Returns the errors for an expression with its parameter `within`.
pub(super) fn of_expression(text: &str, within: Option<&str>, options: &Value) -> String {
    let expression: Expression = text.parse().unwrap();
    let within = within.map(|text| text.parse().unwrap());
    errors(&Condition::expression(expression, within), options)
}

/// Returns the condition of a kind's example.
fn example(kind: ConditionKind) -> Condition {
    let mut body: Value = serde_json::from_str(kind.spec().example).unwrap();
    if kind == ConditionKind::Reminder {
        body["parameters"] = json!({"date": "2030-01-31"});
    }
    create(&body).unwrap().condition
}

fn named(condition: &str, threshold: f64) -> Condition {
    let body = json!({"symbol": "AAPL", "condition": condition, "threshold": threshold});
    let NewAlert { condition, .. } = create(&body).unwrap();
    condition
}

/// Returns the names of the conditions that an option does not fit.
pub(super) fn refused(options: &Value) -> Vec<&'static str> {
    let kinds = ConditionKind::ALL.iter().copied();
    let refuses = |kind: &ConditionKind| !errors(&example(*kind), options).is_empty();
    kinds.filter(refuses).map(ConditionKind::name).collect()
}

#[test]
fn change_of_another_stock_needs_a_base_besides_the_creation() {
    for (text, options, fits) in [
        ("SPY.change_pct > -99", json!({}), false),
        ("SPY.change_pct > -99", json!({"base": "open"}), true),
        ("SPY.change_pct(open) > -99", json!({}), true),
        ("change_pct > -99", json!({}), true),
    ] {
        let errors = of_expression(text, None, &options);
        assert_eq!(errors.is_empty(), fits, "{text} with {options}: {errors}");
        assert!(fits || errors.contains("SPY.change_pct(prev_close)"), "{errors}");
    }
}

#[test]
fn default_options_fit_every_condition() {
    assert_eq!(refused(&json!({})), [] as [&str; 0]);
    let general = json!({"repeat": "each_time", "cooldown": "1d", "expires_at": "2030-01-31", "max_firings": 3});
    assert_eq!(refused(&general), ["reminder"]);
}

#[test]
fn reminder_takes_a_snooze_and_nothing_else() {
    let reminder = example(ConditionKind::Reminder);
    assert_eq!(errors(&reminder, &json!({"snoozed_until": "2030-01-31T15:00:00Z"})), "");
    for (options, message) in [
        (
            json!({"repeat": "each_time"}),
            "options.repeat: must be once or omitted, because a reminder fires once; daily_reminder fires on every trading day",
        ),
        (
            json!({"cooldown": "1d"}),
            "options.cooldown: must be omitted, because a reminder fires once",
        ),
        (
            json!({"max_firings": 1}),
            "options.max_firings: must be omitted, because a reminder fires once",
        ),
        (
            json!({"expires_at": "2030-01-31"}),
            "options.expires_at: must be omitted, because a reminder fires at its moment and has ended then",
        ),
        (
            json!({"hold": "1h"}),
            "options.hold: must be omitted, because a reminder fires at its moment and has ended then",
        ),
    ] {
        assert_eq!(errors(&reminder, &options), message);
    }
    for options in [
        json!({"cooldown_refire": true}),
        json!({"rearm": {"at": 5}}),
        json!({"notify_on_expiry": true}),
        json!({"trigger": "bid"}),
        json!({"base": "open"}),
    ] {
        assert_ne!(errors(&reminder, &options), "", "{options}");
    }
}

#[test]
fn averages_cross_for_less_than_a_session() {
    let cross = example(ConditionKind::MaCrossoverGolden);
    assert_eq!(errors(&cross, &json!({"hold": "389m", "trigger": "two_lasts"})), "");
    for hold in ["390m", "1d", "2d"] {
        assert_eq!(
            errors(&cross, &json!({"hold": hold})),
            "options.hold: must be shorter than a session, because a crossing of the averages ends with its session"
        );
    }
}

#[test]
fn firing_again_while_true_needs_a_condition_that_lasts() {
    let refused = refused(&json!({"repeat": "each_time", "cooldown_refire": true}));
    assert_eq!(refused, ["reminder", "daily_reminder"]);
}

#[test]
fn hold_and_two_lasts_need_a_condition_that_can_stay_true() {
    for options in [json!({"hold": "1h"}), json!({"trigger": "two_lasts"})] {
        let kinds = refused(&options);
        for (kind, fits) in [
            ("reminder", false),
            ("daily_reminder", false),
            ("ma_crossover_golden", true),
            ("ma_touch_above", false),
            ("ma_touch_below", false),
            ("price_above", true),
        ] {
            assert_eq!(!kinds.contains(&kind), fits, "{kind}");
        }
    }
    let hold = json!({"hold": "1h"});
    for (text, within, fits) in [
        ("price crosses above 100", None, false),
        ("price crosses above 100", Some("15m"), true),
        ("price crosses above 100 and rsi < 30", None, false),
        ("price crosses above 100 or rsi < 30", None, true),
        ("not price crosses above 100", None, true),
        ("not (price > 5 or not price crosses above 100)", None, false),
        ("price > 100", None, true),
    ] {
        for options in [&hold, &json!({"trigger": "two_lasts"})] {
            assert_eq!(of_expression(text, within, options).is_empty(), fits, "{text}");
        }
    }
    assert_eq!(
        of_expression("price crosses above 100", None, &hold),
        "options.hold: must be omitted, because the condition is true at one judgement only, or give parameters.within"
    );
    assert_eq!(
        errors(&example(ConditionKind::MaTouchAbove), &hold),
        "options.hold: must be omitted, because the condition is true at one judgement only"
    );
}

#[test]
fn price_options_need_a_price() {
    let without_price = [
        "social_buzz",
        "insider_transactions",
        "reminder",
        "daily_reminder",
        "earnings_announcement",
        "dividend_ex_date",
        "dividend_payment",
    ];
    for options in [json!({"trigger": "two_lasts"}), json!({"session": "extended"})] {
        let kinds = refused(&options);
        assert!(without_price.iter().all(|kind| kinds.contains(kind)), "{options}");
        assert!(!kinds.contains(&"price_above"), "{options}");
    }
    let options = json!({"trigger": "two_lasts", "session": "extended"});
    for (text, fits) in [
        ("price > 100", true),
        ("bid > 100", true),
        ("volume > 100", true),
        ("pe < 15", true),
        ("days_to_earnings <= 3", false),
        ("mentions > 100 and insider_buys(30) > 5", false),
        ("mentions > 100 and change_pct > 5", true),
    ] {
        assert_eq!(of_expression(text, None, &options).is_empty(), fits, "{text}");
    }
    assert_eq!(
        of_expression("eps > 3", None, &json!({"base": "open"})),
        "options.base: must be omitted, because the condition does not depend on a price"
    );
}

#[test]
fn only_closes_do_not_fit_extended_hours() {
    for trigger in TriggerPrice::ALL {
        let of_session = |session: &str| {
            of_expression(
                "price > 100",
                None,
                &json!({"session": session, "trigger": trigger.name()}),
            )
        };
        assert_eq!(of_session("regular"), "", "{trigger:?}");
        let expected = match trigger {
            TriggerPrice::Close => {
                "options.session: must be regular if options.trigger is close, because a close is one of the regular session"
            }
            _ => "",
        };
        assert_eq!(of_session("extended"), expected, "{trigger:?}");
    }
}

#[test]
fn rearm_needs_one_metric_against_a_number() {
    let without_level = [
        "new_high",
        "new_low",
        "ma_crossover_golden",
        "ma_crossover_death",
        "ma_touch_above",
        "ma_touch_below",
        "social_buzz",
        "reminder",
        "daily_reminder",
    ];
    let kinds = refused(&json!({"rearm": {"percent": 1}}));
    assert!(without_level.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    for kind in [
        "price_above",
        "price_below",
        "price_change_down",
        "rsi_limit",
        "volume_change",
        "pe_ratio_above",
    ] {
        assert!(!kinds.contains(&kind), "{kind}");
    }
    let options = json!({"rearm": {"at": 50}});
    for (text, fits) in [
        ("price > 100", true),
        ("100 < price", true),
        ("price > 100 * 1.02", true),
        ("price > 1.02 * high(20)", false),
        ("price + 1 > 100", false),
        ("price > 100 and rsi < 30", false),
        ("not price < 100", false),
        ("price between 100 and 200", false),
        ("price crosses above 100", false),
    ] {
        assert_eq!(of_expression(text, None, &options).is_empty(), fits, "{text}");
    }
    assert_eq!(
        of_expression("price > sma(20)", None, &options),
        "options.rearm: must be omitted, because the condition does not compare one metric with a number"
    );
}

#[test]
fn rsi_in_both_directions_has_no_level_and_no_state_that_lasts() {
    let body = |direction: &str| {
        let parameters = json!({"direction": direction});
        let alert = json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 30, "parameters": parameters});
        create(&alert).unwrap().condition
    };
    let options = json!({"rearm": {"at": 35}});
    assert_eq!(errors(&body("below"), &options), "");
    assert_eq!(
        errors(&body("both"), &options),
        "options.rearm: must be omitted, because the condition does not compare one metric with a number"
    );
    assert_eq!(
        errors(&body("both"), &json!({"repeat": "each_time", "cooldown_refire": true})),
        "options.cooldown_refire: must be omitted, because a firing ends the condition: then the other side counts"
    );
    let fitting = json!({"repeat": "each_time", "hold": "1h", "trigger": "two_lasts", "cooldown": "1d"});
    assert_eq!(errors(&body("both"), &fitting), "");
}

#[test]
fn rearm_level_must_be_where_the_condition_is_false() {
    for (text, at, fits) in [
        ("price > 100", 100.0, true),
        ("price > 100", 100.000_001, false),
        ("price >= 100", 99.999_999, true),
        ("price >= 100", 100.0, false),
        ("price < 100", 100.0, true),
        ("price < 100", 99.999_999, false),
        ("price <= 100", 100.000_001, true),
        ("price <= 100", 100.0, false),
        ("change_pct <= -5", -4.5, true),
        ("change_pct <= -5", -5.5, false),
    ] {
        let found = of_expression(text, None, &json!({"rearm": {"at": at}}));
        assert_eq!(found.is_empty(), fits, "{text} {at}");
    }
    for (kind, threshold, fits, misfits) in [
        ("price_above", 200.0, 199.0, 200.0),
        ("price_below", 200.0, 201.0, 200.0),
        ("price_change_up", 5.0, 4.0, 5.0),
        ("price_change_down", 5.0, 4.0, 5.0),
        ("volume_change", 50.0, 40.0, 60.0),
        ("pe_ratio_below", 15.0, 16.0, 14.0),
        ("earnings_announcement", 3.0, 4.0, 3.0),
    ] {
        let condition = named(kind, threshold);
        let at = |level: f64| errors(&condition, &json!({"rearm": {"at": level}}));
        assert_eq!(at(fits), "", "{kind}");
        assert!(at(misfits).starts_with("options.rearm.at: must be "), "{kind}");
    }
    assert_eq!(
        of_expression("price <= 100", None, &json!({"rearm": {"at": 100}})),
        "options.rearm.at: must be above the level of the condition, where the condition is false"
    );
    let percent = json!({"rearm": {"percent": 5}});
    assert_eq!(of_expression("macd > 0", None, &percent), "");
    assert_eq!(
        of_expression("macd >= 0", None, &percent),
        "options.rearm.percent: has no effect, because the level of the condition is 0; give options.rearm.at"
    );
}

#[test]
fn rearm_level_counts_itself() {
    for (text, rearm, reached, not_reached) in [
        ("price >= 200", json!({"at": 196}), "196", "196.000001"),
        ("price >= 200", json!({"percent": 2}), "196", "196.000001"),
        ("price <= 200", json!({"percent": 2}), "204", "203.999999"),
        ("change_pct <= -5", json!({"percent": 20}), "-4", "-4.000001"),
        ("change_pct >= -5", json!({"percent": 20}), "-6", "-5.999999"),
    ] {
        let expression: Expression = text.parse().unwrap();
        let level = ConditionLevel::of(&Condition::expression(expression, None)).unwrap();
        let rearm = restore_options(&json!({"rearm": rearm})).unwrap().rearm.unwrap();
        let is_reached = |value: MetricValue| level.is_rearm_level_reached(rearm, &value);
        assert!(is_reached(exact(reached)), "{text} {reached}");
        assert!(!is_reached(exact(not_reached)), "{text} {not_reached}");
    }
}
