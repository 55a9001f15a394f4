//! Price, technical, volume and fundamental conditions.

use acceptance::clock::days_ago;
use acceptance::market::{SessionBar, bar, bars, flat};
use serde_json::{Value, json};

use crate::conditions::table::{ConditionCase, quote};

/// Returns bars of consecutive days that end with yesterday.
fn sessions(sessions: &[SessionBar]) -> Value {
    json!({"bars": bars("$", sessions)})
}

pub(crate) fn cases() -> Vec<ConditionCase> {
    [levels(), extremes(), averages(), momentum(), ratios()]
        .into_iter()
        .flatten()
        .collect()
}

fn levels() -> Vec<ConditionCase> {
    let case = |condition, threshold: f64, from, before, at| ConditionCase {
        condition,
        settings: json!({"threshold": threshold}),
        data_before: vec![quote(from)],
        not_firing: vec![quote(before)],
        firing: quote(at),
        price: at,
    };
    vec![
        case("price_above", 198.66, 189.2, 198.659_999, 198.66),
        case("price_below", 150.0, 189.2, 150.000_001, 150.0),
        // With binary floating point, 189.20 plus 5 % would miss 198.66.
        case("price_change_up", 5.0, 189.2, 198.659_999, 198.66),
        case("price_change_down", 7.5, 200.0, 185.000_001, 185.0),
    ]
}

fn extremes() -> Vec<ConditionCase> {
    let at = |high, low| SessionBar {
        high,
        low,
        ..flat(100.0)
    };
    // The 52-week range includes the bar of 364 days ago and excludes the bar of 365 days ago.
    let data_before = vec![
        json!({"bars": [bar("$", 365, at(500.0, 5.0)), bar("$", 364, at(120.0, 80.0)), bar("$", 1, flat(100.0))]}),
        quote(100.0),
    ];
    let case = |condition, tie, beyond| ConditionCase {
        condition,
        settings: json!({}),
        data_before: data_before.clone(),
        not_firing: vec![quote(tie)],
        firing: quote(beyond),
        price: beyond,
    };
    vec![case("new_high", 120.0, 120.000_001), case("new_low", 80.0, 79.999_999)]
}

fn averages() -> Vec<ConditionCase> {
    let data_before = vec![sessions(&[flat(100.0); 200]), quote(100.0)];
    let case = |condition, settings, not_firing: &[f64], firing| ConditionCase {
        condition,
        settings,
        data_before: data_before.clone(),
        not_firing: not_firing.iter().copied().map(quote).collect(),
        firing: quote(firing),
        price: firing,
    };
    vec![
        // With constant prices the averages are equal. The smallest price change moves the shorter average further.
        case("ma_crossover_golden", json!({}), &[100.0, 99.999_999], 100.000_001),
        case("ma_crossover_death", json!({}), &[100.0, 100.000_001], 99.999_999),
        case("ma_touch_above", json!({"threshold": 50}), &[99.0, 99.999_999], 100.0),
        case(
            "ma_touch_below",
            json!({"threshold": 200}),
            &[101.0, 100.000_001],
            100.0,
        ),
    ]
}

fn momentum() -> Vec<ConditionCase> {
    // One loss of 3, then no changes: with today's change there are fourteen, so a gain of 7 gives 7 / (7 + 3).
    let mut falling = vec![flat(97.0); 14];
    falling[0] = flat(100.0);
    let mut rising = vec![flat(103.0); 14];
    rising[0] = flat(100.0);
    let rsi = |data_before: &[SessionBar], from, settings, before, at| ConditionCase {
        condition: "rsi_limit",
        settings,
        data_before: vec![sessions(data_before), quote(from)],
        not_firing: vec![quote(before)],
        firing: quote(at),
        price: at,
    };
    let volume = |baseline: &str, count, percent, before: i64, at: i64| {
        let with = |volume: i64| json!({"quotes": [{"symbol": "$", "price": 100, "volume": volume}]});
        ConditionCase {
            condition: "volume_change",
            settings: json!({"threshold": percent, "parameters": {"volumeBaseline": baseline}}),
            data_before: vec![sessions(&vec![flat(100.0); count]), with(1)],
            not_firing: vec![with(before), quote(100.0)],
            firing: with(at),
            price: 100.0,
        }
    };
    vec![
        rsi(&falling, 97.0, json!({"threshold": 70}), 103.999_999, 104.0),
        rsi(&rising, 103.0, json!({"threshold": 30}), 96.000_001, 96.0),
        volume("ma20", 20, 50, 1499, 1500),
        volume("ma100", 100, 200, 2999, 3000),
    ]
}

fn ratios() -> Vec<ConditionCase> {
    let data_before = vec![
        quote(75.0),
        json!({"fundamentals": [
            {"symbol": "$", "as_of": days_ago(1).to_string(), "eps_ttm": 5, "eps_forward": 2.5}
        ]}),
    ];
    let case = |condition, threshold, before, at| ConditionCase {
        condition,
        settings: json!({"threshold": threshold}),
        data_before: data_before.clone(),
        not_firing: vec![quote(before)],
        firing: quote(at),
        price: at,
    };
    vec![
        case("pe_ratio_above", 20, 99.999_999, 100.0),
        case("pe_ratio_below", 10, 50.000_001, 50.0),
        case("forward_pe_above", 40, 99.999_999, 100.0),
        case("forward_pe_below", 20, 50.000_001, 50.0),
    ]
}
