//! Texts with their alerts, and texts with errors.

use alerts::condition::ConditionKind;
use alerts::expression::ExpressionError;
use alerts::request::{ParseContext, parse_create};
use alerts::text::{AlertText, parse_text, sentence};
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::{Value, json};

/// Reads a text on 8 March 2024.
pub(super) fn read(text: &str) -> Result<AlertText, ExpressionError> {
    in_context(|context| parse_text(text, context).map_err(|errors| errors.expression_error().unwrap().clone()))
}

/// Returns what is read on 8 March 2024.
fn in_context<T>(read: impl Fn(&ParseContext<'_>) -> T) -> T {
    read(&ParseContext {
        now: "2024-03-08T15:00:00Z".parse().unwrap(),
        time_zone: &TimeZone::get("America/New_York").unwrap(),
        calendar: &Calendar::nyse(),
    })
}

fn body(text: &str) -> Value {
    match read(text) {
        Ok(parsed) => Value::Object(parsed.body),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn options(text: &str) -> Value {
    body(&format!("AAPL < 180 {text}"))["options"].clone()
}

#[test]
fn text_of_the_specification_is_read() {
    assert_eq!(
        body("AAPL < 180"),
        json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < 180"}})
    );
    assert_eq!(
        body("AAPL below 180 and rsi under 30 each time until 2027-01-31 to sms"),
        json!({
            "symbol": "AAPL",
            "condition": "expression",
            "parameters": {"when": "price < 180 and rsi(14) < 30"},
            "options": {"repeat": "each_time", "expires_at": "2027-01-31"},
            "notification": "sms",
        })
    );
}

#[test]
fn one_of_the_23_conditions_is_chosen_only_if_it_means_exactly_the_same() {
    for (text, condition, threshold) in [
        ("AAPL <= 180", "price_below", json!(180)),
        ("AAPL at or above 180.5", "price_above", json!(180.5)),
        ("AAPL falls to 180.00 or below", "price_below", json!(180)),
        ("AAPL pe <= 15", "pe_ratio_below", json!(15)),
        ("AAPL change_pct(creation) >= 5", "price_change_up", json!(5)),
        ("AAPL price crosses above sma(50)", "ma_touch_above", json!(50)),
        ("AAPL days_to_earnings <= 3", "earnings_announcement", json!(3)),
        ("AAPL rvol(50) >= 2", "volume_change", json!(100)),
    ] {
        let body = body(text);
        assert_eq!(
            (&body["condition"], &body["threshold"]),
            (&condition.into(), &threshold),
            "{text}"
        );
    }
    for text in [
        "AAPL < 180",
        "AAPL change_pct >= 5",
        "AAPL price > high_52w",
        "AAPL rsi <= 30",
        "AAPL price crosses above sma(50) within 15m",
        "AAPL price crosses sma(50)",
        "AAPL SPY.price <= 180",
    ] {
        assert_eq!(body(text)["condition"], "expression", "{text}");
    }
}

#[test]
fn parameters_of_named_conditions_are_written() {
    assert_eq!(
        body("AAPL rvol(50) >= 2")["parameters"],
        json!({"volumeBaseline": "ma50"})
    );
    assert_eq!(
        body("AAPL insider_buys(30) >= 500000"),
        json!({
            "symbol": "AAPL", "condition": "insider_transactions", "threshold": 500_000,
            "parameters": {"direction": "buy", "windowDays": 30},
        })
    );
}

#[test]
fn options_are_read_in_words() {
    for (text, expected) in [
        ("each time", json!({"repeat": "each_time"})),
        ("every time", json!({"repeat": "each_time"})),
        ("once per day", json!({"repeat": "once_per_day"})),
        ("Once A Day", json!({"repeat": "once_per_day"})),
        ("once", json!({"repeat": "once"})),
        (
            "each time up to 5 times",
            json!({"repeat": "each_time", "max_firings": 5}),
        ),
        (
            "each time, cooldown 1h",
            json!({"repeat": "each_time", "cooldown": "1h"}),
        ),
        (
            "each time at most every 1h",
            json!({"repeat": "each_time", "cooldown": "1h"}),
        ),
        (
            "each time cooldown 1h again after cooldown",
            json!({"repeat": "each_time", "cooldown": "1h", "cooldown_refire": true}),
        ),
        (
            "each time re-arm at 190",
            json!({"repeat": "each_time", "rearm": {"at": 190}}),
        ),
        (
            "each time rearm after 2%",
            json!({"repeat": "each_time", "rearm": {"percent": 2}}),
        ),
        (
            "each time re-arm after 2 percent",
            json!({"repeat": "each_time", "rearm": {"percent": 2}}),
        ),
        ("for 15m", json!({"hold": "15m"})),
        ("holding 15m", json!({"hold": "15m"})),
        ("until 2027-01-31", json!({"expires_at": "2027-01-31"})),
        (
            "until 2027-01-31T09:30:00-05:00",
            json!({"expires_at": "2027-01-31T14:30:00.000Z"}),
        ),
        (
            "until 2027-01-31 notify on expiry",
            json!({"expires_at": "2027-01-31", "notify_on_expiry": true}),
        ),
        (
            "snoozed until 2027-01-31T09:30:00Z",
            json!({"snoozed_until": "2027-01-31T09:30:00.000Z"}),
        ),
        ("on two lasts", json!({"trigger": "two_lasts"})),
        ("", Value::Null),
    ] {
        assert_eq!(options(text), expected, "{text}");
    }
    assert_eq!(
        body("AAPL change_pct < -5 since the previous close")["options"],
        json!({"base": "prev_close"})
    );
    assert_eq!(
        options("snoozed until 2024-03-08T09:59:00-05:00 each time"),
        json!({"repeat": "each_time"})
    );
    assert_eq!(body("AAPL < 180 to EMAIL")["notification"], "email");
    assert_eq!(
        body("AAPL price crosses above 180 within 15m")["parameters"],
        json!({"when": "price crosses above 180", "within": "15m"})
    );
}

#[test]
fn errors_have_a_position_and_what_was_expected() {
    for (text, position, message) in [
        (
            "AAPL < 180 to telegram",
            15,
            "unexpected `telegram` at 15; did you mean `email` or `sms`?",
        ),
        (
            "AAPL < 180 to emial",
            15,
            "unexpected `emial` at 15; did you mean `email`?",
        ),
        ("AAPL < 180 to", 14, "unexpected end at 14; expected `email` or `sms`"),
        (
            "AAPL < 180 untill 2027-01-31",
            12,
            "unexpected `untill` at 12; did you mean `until`?",
        ),
        (
            "AAPL < 180 adn rsi < 30",
            12,
            "unexpected `adn` at 12; did you mean `and`?",
        ),
        (
            "AAPL < 180 each day",
            12,
            "unexpected `each` at 12; expected `each time`",
        ),
        (
            "AAPL < 180 for",
            15,
            "unexpected end at 15; expected a duration such as 15m",
        ),
        (
            "AAPL < 180 each time re-arm at low",
            32,
            "unexpected `low` at 32; expected a number",
        ),
        (
            "AAPL < 180 each time up to 5",
            29,
            "unexpected end at 29; expected `times`",
        ),
        (
            "AAPL < 180 once each time",
            17,
            "unsuitable `each` at 17; this was said before; say it once",
        ),
        (
            "AAPL < 180 each time re-arm at 170",
            22,
            "unsuitable `re-arm at` at 22; must be at or above the level of the condition, where the condition is false",
        ),
        (
            "AAPL smaa(20) < 180",
            6,
            "unknown metric `smaa` at 6; did you mean `sma`?",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(
            (error.position, error.to_string().as_str()),
            (position, message),
            "{text}"
        );
    }
    let hold = read("AAPL price crosses above 180 holding 15m").unwrap_err();
    assert_eq!(hold.position, 30);
    assert!(hold.to_string().contains("within"), "{hold}");
    let past = read("AAPL < 180 until 2024-03-07").unwrap_err();
    assert!(past.position == 12 && past.to_string().contains("past"), "{past}");
}

#[test]
fn sentence_has_the_options() {
    for (text, expected) in [
        ("AAPL < 180", "AAPL falls below 180.00"),
        (
            "AAPL <= 180 and rsi < 30 every time at most every 60m until 2027-01-31 by sms",
            "AAPL falls to 180.00 or below while its 14-day RSI is under 30 each time cooldown 60m until 2027-01-31 to sms",
        ),
        (
            "BF-B price crosses above 50 within session",
            "\"BF-B\" crosses above 50.00 within the session",
        ),
    ] {
        let parsed = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(sentence(&parsed.alert).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn conditions_that_are_no_expressions_have_words() {
    for (text, expected) in [
        (
            "AAPL golden cross each time",
            json!({"symbol": "AAPL", "condition": "ma_crossover_golden", "options": {"repeat": "each_time"}}),
        ),
        (
            "AAPL: Death Cross",
            json!({"symbol": "AAPL", "condition": "ma_crossover_death"}),
        ),
        (
            "AAPL rising mentions each time cooldown 1d to sms",
            json!({
                "symbol": "AAPL", "condition": "social_buzz", "parameters": {"direction": "rising"},
                "options": {"repeat": "each_time", "cooldown": "1d"}, "notification": "sms",
            }),
        ),
        (
            "AAPL daily reminder until 2027-01-31",
            json!({"symbol": "AAPL", "condition": "daily_reminder", "options": {"expires_at": "2027-01-31"}}),
        ),
        (
            "AAPL New 52-week HIGH once per day",
            json!({"symbol": "AAPL", "condition": "new_high", "options": {"repeat": "once_per_day"}}),
        ),
        (
            "AAPL up 5% since the open",
            json!({"symbol": "AAPL", "condition": "price_change_up", "threshold": 5, "options": {"base": "open"}}),
        ),
        (
            "AAPL rsi reaches 70.5 from either side",
            json!({
                "symbol": "AAPL", "condition": "rsi_limit", "threshold": 70.5, "parameters": {"direction": "both"},
            }),
        ),
    ] {
        assert_eq!(body(text), expected, "{text}");
        let alert = read(text).unwrap().alert;
        let sentence = sentence(&alert).unwrap();
        assert_eq!(read(&sentence).unwrap().alert, alert, "{sentence}");
    }
    let reminder = body("AAPL reminder on 2030-01-31");
    assert_eq!(
        (&reminder["condition"], &reminder["parameters"]),
        (&"reminder".into(), &json!({"date": "2030-01-31"}))
    );
    let sentence = sentence(&read("AAPL daily reminder after the close up to 5 times").unwrap().alert);
    assert_eq!(
        sentence.as_deref(),
        Some("AAPL daily reminder after the close each time up to 5 times")
    );
}

/// Requests of every condition with each of its parameters and, for those that depend on it, each base.
fn requests_of_every_condition() -> Vec<Value> {
    let examples = ConditionKind::ALL.iter().map(|kind| kind.spec().example);
    let variants = [
        r#"{"symbol": "AAPL", "condition": "price_change_up", "threshold": 2.5, "options": {"base": "prev_close"}}"#,
        r#"{"symbol": "AAPL", "condition": "price_change_down", "threshold": 5, "options": {"base": "open", "repeat": "each_time"}}"#,
        r#"{"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70.5}"#,
        r#"{"symbol": "AAPL", "condition": "rsi_limit", "threshold": 30}"#,
        r#"{"symbol": "AAPL", "condition": "rsi_limit", "threshold": 50, "parameters": {"direction": "both"}}"#,
        r#"{"symbol": "AAPL", "condition": "volume_change", "threshold": 12.34567, "parameters": {"volumeBaseline": "ma100"}}"#,
        r#"{"symbol": "AAPL", "condition": "social_buzz", "parameters": {"direction": "falling"}}"#,
        r#"{"symbol": "AAPL", "condition": "insider_transactions", "threshold": 500000}"#,
        r#"{"symbol": "AAPL", "condition": "insider_transactions", "threshold": 5, "parameters": {"direction": "sell", "openMarketOnly": false}}"#,
        r#"{"symbol": "AAPL", "condition": "insider_transactions", "threshold": 5, "parameters": {"minExecutives": 3, "openMarketOnly": false}}"#,
        r#"{"symbol": "AAPL", "condition": "reminder", "threshold": 3}"#,
        r#"{"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2030-01-31T09:30:00"}}"#,
        r#"{"symbol": "AAPL", "condition": "reminder", "parameters": {"reminder_date": "2030-01-31", "reminder_time": "10:15"}}"#,
        r#"{"symbol": "AAPL", "condition": "daily_reminder", "parameters": {"deliveryTime": "after_market_close"}}"#,
        r#"{"symbol": "AAPL", "condition": "dividend_ex_date"}"#,
        r#"{"symbol": "AAPL", "condition": "dividend_payment"}"#,
    ];
    let texts = examples.chain(variants);
    texts.map(|text| serde_json::from_str(text).unwrap()).collect()
}

#[test]
fn every_condition_has_a_sentence_that_is_read_as_the_same_condition() {
    for request in requests_of_every_condition() {
        let alert =
            in_context(|context| parse_create(&request, context)).unwrap_or_else(|error| panic!("{request}: {error}"));
        let sentence = sentence(&alert).unwrap_or_else(|| panic!("{request} has no sentence"));
        let parsed = read(&sentence).unwrap_or_else(|error| panic!("{sentence}: {error}"));
        assert_eq!(parsed.alert.condition, alert.condition, "{sentence}");
        assert_eq!(parsed.body["condition"], request["condition"], "{sentence}");
        assert_eq!(parsed.alert.options, alert.options, "{sentence}");
    }
}

#[test]
fn options_that_do_not_fit_a_named_condition_are_errors_at_their_phrase() {
    for (text, position) in [
        ("AAPL golden cross within 15m", 19),
        ("AAPL golden cross each time for 1d", 29),
        ("AAPL daily reminder once", 21),
        ("AAPL golden cros", 6),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.position, position, "{text}: {error}");
    }
}

#[test]
fn metrics_that_no_new_alert_can_have_are_refused_at_their_place() {
    for (text, position, part) in [
        ("AAPL macd(26,12,9) > 1", 6, "write macd(12, 26, 9)"),
        (
            "AAPL < 180 and macd_signal(12,12,9) > 1",
            16,
            "fast must be less than slow",
        ),
        (
            "AAPL < SPY.price and SPY.high_since_armed > 3",
            22,
            "write high_since_armed",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.position, position, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}
