//! Price, technical, volume and fundamental conditions.

use acceptance::clock::days_ago;
use acceptance::market::{Session, bar, bars, flat};
use serde_json::{Value, json};

use crate::table::{Case, quote};

/// Bars of the days up to yesterday.
fn sessions(sessions: &[Session]) -> Value {
    json!({"bars": bars("$", sessions)})
}

pub(crate) fn cases() -> Vec<Case> {
    [levels(), extremes(), averages(), momentum(), ratios()]
        .into_iter()
        .flatten()
        .collect()
}

fn levels() -> Vec<Case> {
    let case = |condition, threshold: f64, from, short, level| Case {
        condition,
        asked: json!({"threshold": threshold}),
        known: vec![quote(from)],
        quiet: vec![quote(short)],
        fires: quote(level),
        price: level,
    };
    vec![
        case("price_above", 198.66, 189.2, 198.659_999, 198.66),
        case("price_below", 150.0, 189.2, 150.000_001, 150.0),
        // A float would make 189.20 up 5 % miss 198.66.
        case("price_change_up", 5.0, 189.2, 198.659_999, 198.66),
        case("price_change_down", 7.5, 200.0, 185.000_001, 185.0),
    ]
}

fn extremes() -> Vec<Case> {
    let at = |high, low| Session {
        high,
        low,
        ..flat(100.0)
    };
    // What was 365 days ago has left the 52 weeks; what was 364 days ago is the last that counts.
    let known = vec![
        json!({"bars": [bar("$", 365, at(500.0, 5.0)), bar("$", 364, at(120.0, 80.0)), bar("$", 1, flat(100.0))]}),
        quote(100.0),
    ];
    let case = |condition, tie, beyond| Case {
        condition,
        asked: json!({}),
        known: known.clone(),
        quiet: vec![quote(tie)],
        fires: quote(beyond),
        price: beyond,
    };
    vec![case("new_high", 120.0, 120.000_001), case("new_low", 80.0, 79.999_999)]
}

fn averages() -> Vec<Case> {
    let known = vec![sessions(&[flat(100.0); 200]), quote(100.0)];
    let case = |condition, asked, quiet: &[f64], fires| Case {
        condition,
        asked,
        known: known.clone(),
        quiet: quiet.iter().copied().map(quote).collect(),
        fires: quote(fires),
        price: fires,
    };
    vec![
        // On a flat history the averages are equal; the smallest move parts them, the shorter one further.
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

fn momentum() -> Vec<Case> {
    // One loss of 3, then nothing: with today's change there are fourteen, so a gain of 7 makes 7 / (7 + 3).
    let mut falling = vec![flat(97.0); 14];
    falling[0] = flat(100.0);
    let mut rising = vec![flat(103.0); 14];
    rising[0] = flat(100.0);
    let rsi = |known: &[Session], from, asked, short, level| Case {
        condition: "rsi_limit",
        asked,
        known: vec![sessions(known), quote(from)],
        quiet: vec![quote(short)],
        fires: quote(level),
        price: level,
    };
    let volume = |baseline: &str, count, percent, short: i64, level: i64| {
        let with = |volume: i64| json!({"quotes": [{"symbol": "$", "price": 100, "volume": volume}]});
        Case {
            condition: "volume_change",
            asked: json!({"threshold": percent, "parameters": {"volumeBaseline": baseline}}),
            known: vec![sessions(&vec![flat(100.0); count]), with(1)],
            quiet: vec![with(short), quote(100.0)],
            fires: with(level),
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

fn ratios() -> Vec<Case> {
    let known = vec![
        quote(75.0),
        json!({"fundamentals": [
            {"symbol": "$", "as_of": days_ago(1).to_string(), "eps_ttm": 5, "eps_forward": 2.5}
        ]}),
    ];
    let case = |condition, threshold, short, level| Case {
        condition,
        asked: json!({"threshold": threshold}),
        known: known.clone(),
        quiet: vec![quote(short)],
        fires: quote(level),
        price: level,
    };
    vec![
        case("pe_ratio_above", 20, 99.999_999, 100.0),
        case("pe_ratio_below", 10, 50.000_001, 50.0),
        case("forward_pe_above", 40, 99.999_999, 100.0),
        case("forward_pe_below", 20, 50.000_001, 50.0),
    ]
}
