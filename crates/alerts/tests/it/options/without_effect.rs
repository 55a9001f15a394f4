//! Options that have no effect on a condition.

use alerts::condition::ConditionKind;
use serde_json::json;

use super::fit::{of_expression, refused};

#[test]
fn base_needs_a_percent_change() {
    let base = json!({"base": "open"});
    let others = refused(&base);
    for kind in ConditionKind::ALL {
        let is_change = matches!(kind, ConditionKind::PriceChangeUp | ConditionKind::PriceChangeDown);
        assert_eq!(others.contains(&kind.name()), !is_change, "{kind}");
    }
    for (text, fits) in [
        ("change_pct > 5", true),
        ("change_pct(prev_close) > 5", false),
        ("price > 5", false),
        ("price > 5 and SPY.change_pct > 5", true),
    ] {
        assert_eq!(of_expression(text, None, &base).is_empty(), fits, "{text}");
    }
    assert_eq!(
        of_expression("price > 5", None, &base),
        "options.base: must be omitted, because the condition measures no percent change; use price_change_up, \
         price_change_down or change_pct"
    );
}

#[test]
fn bid_ask_and_mid_need_a_price() {
    for trigger in ["bid", "ask", "mid"] {
        let options = json!({"trigger": trigger});
        for (text, fits) in [
            ("volume > 100", false),
            ("rvol(20) > 2 or avg_volume(5) > 3", false),
            ("rvol(20) > 2 and price > 5", true),
            ("drawdown(5) > 5", true),
            ("pe < 15", true),
            ("price <= high_since_armed", true),
            ("open > 5", false),
            ("high > 5 or low < 3", false),
            ("gap_pct < -3", false),
            ("high(20) > 5", false),
            ("bid < 5", false),
            ("vwap > 5", false),
            ("atr(14) > 2", false),
            ("sma(5) > 5", true),
            ("stdev(20) > 5", true),
        ] {
            assert_eq!(of_expression(text, None, &options).is_empty(), fits, "{text} {trigger}");
        }
        assert!(refused(&options).contains(&"volume_change"));
        assert!(!refused(&options).contains(&"ma_crossover_golden"));
    }
    assert_eq!(
        of_expression("volume > 100", None, &json!({"trigger": "two_lasts"})),
        ""
    );
    assert_eq!(
        of_expression("volume > 100", None, &json!({"trigger": "bid"})),
        "options.trigger: must be last, two_lasts or close, because bid, ask and mid take the place of the last price, on which \
         the condition does not depend"
    );
}

#[test]
fn refiring_after_the_cooldown_needs_a_second_firing() {
    let refire = |repeat: &str| json!({"repeat": repeat, "cooldown": "1h", "cooldown_refire": true});
    assert_eq!(
        of_expression("price > 5", None, &refire("once")),
        "options.cooldown_refire: must be omitted for an alert that fires once; or set options.repeat to each_time or \
         once_per_day"
    );
    for repeat in ["each_time", "once_per_day"] {
        assert_eq!(of_expression("price > 5", None, &refire(repeat)), "");
    }
}

#[test]
fn within_needs_a_crossing() {
    assert_eq!(
        of_expression("price > 5", Some("15m"), &json!({})),
        "parameters.within: must be omitted, because the expression has no `crosses`; options.hold is the time for which a \
         condition must be true"
    );
    assert_eq!(
        of_expression("price > 5 or rsi crosses 30", Some("15m"), &json!({})),
        ""
    );
}
