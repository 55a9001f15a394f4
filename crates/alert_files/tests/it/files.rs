//! Reading of files: formats, defaults, variables and errors with their places.

use crate::support::{alerts, channels, read, read_as, with_context};

fn errors(text: &str) -> Vec<String> {
    errors_of("alerts.yaml", text)
}

fn errors_of(name: &str, text: &str) -> Vec<String> {
    let errors = match read_as(name, text) {
        Err(errors) => errors,
        Ok(set) => with_context(|context| set.validate(&channels(), context)).unwrap_err(),
    };
    errors.0.iter().map(ToString::to_string).collect()
}

/// Returns the bodies of the create requests.
fn bodies(name: &str, text: &str) -> Vec<serde_json::Value> {
    let set = read_as(name, text).unwrap();
    with_context(|context| {
        let valid = set.validate(&channels(), context).unwrap();
        valid.into_iter().map(|alert| alert.body.into()).collect()
    })
}

const YAML: &str = "
version: 1
defaults:
  symbol: AAPL
  options: {repeat: each_time, cooldown: 1h}
  notify: sms
  tags: [swing]
alerts:
  - name: dip
    when: price < ${LEVEL} and rsi(14) < 30
    options: {cooldown: 2h}
  - name: highs
    scope: {symbols: [MSFT, SPY]}
    condition: new_high
    notify: {channels: [phone], urgent: true}
    tags: []
";

const TOML: &str = "
version = 1
defaults = {symbol = \"AAPL\", notify = \"sms\", tags = [\"swing\"], options = {repeat = \"each_time\", cooldown = \"1h\"}}

[[alerts]]
name = \"dip\"
when = \"price < ${LEVEL} and rsi(14) < 30\"
options.cooldown = \"2h\"

[[alerts]]
name = \"highs\"
scope.symbols = [\"MSFT\", \"SPY\"]
condition = \"new_high\"
notify = {channels = [\"phone\"], urgent = true}
tags = []
";

const JSON: &str = r#"{
    "version": 1,
    "defaults": {"symbol": "AAPL", "options": {"repeat": "each_time", "cooldown": "1h"}, "notify": "sms", "tags": ["swing"]},
    "alerts": [
        {"name": "dip", "when": "price < ${LEVEL} and rsi(14) < 30", "options": {"cooldown": "2h"}},
        {"name": "highs", "scope": {"symbols": ["MSFT", "SPY"]}, "condition": "new_high",
         "notify": {"channels": ["phone"], "urgent": true}, "tags": []}
    ]
}"#;

#[test]
fn all_formats_are_read_as_the_same_alerts() {
    let yaml = bodies("alerts.yaml", YAML);
    assert_eq!(yaml[0]["parameters"]["when"], "price < 180 and rsi(14) < 30");
    assert_eq!(
        yaml[0]["options"],
        serde_json::json!({"repeat": "each_time", "cooldown": "2h"})
    );
    assert_eq!(
        (&yaml[0]["symbol"], &yaml[0]["notification"]),
        (&"AAPL".into(), &"sms".into())
    );
    assert_eq!(
        yaml[1]["channels"],
        serde_json::json!(["00000000-0000-0000-0000-000000000007"])
    );
    // An alert over many stocks does not get the symbol of the defaults.
    assert_eq!(yaml[1].get("symbol"), None);
    assert_eq!(bodies("alerts.toml", TOML), yaml);
    assert_eq!(bodies("alerts.json", JSON), yaml);
}

#[test]
fn variable_without_quotes_may_be_a_number() {
    let text =
        "version: 1\nalerts:\n  - name: a\n    symbol: AAPL\n    condition: price_below\n    threshold: ${LEVEL}\n";
    let body = &bodies("alerts.yaml", text)[0];
    assert_eq!(body["threshold"], 180);
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    let text = "version: 1\nalert: []\nalerts:\n  - name: a\n    simbol: AAPL\n    when: price < 1\n    expect: {fire_on: []}\n";
    assert_eq!(
        errors(text),
        [
            "alerts.yaml:2:1: unknown key `alert`; did you mean `alerts`?",
            "alerts.yaml:5:5: unknown key `simbol`; did you mean `symbol`?",
            "alerts.yaml:7:14: unknown key `fire_on`; did you mean `fires_on`?",
        ]
    );
}

#[test]
fn errors_of_the_server_have_their_places_and_keys() {
    let text = "version: 1
alerts:
  - name: a
    symbol: AAPL
    when: price < smaa(50)
  - name: b
    symbol: AAPL
    condition: price_above
    threshold: -1
    options:
      repeet: once
    notify: fax
";
    let errors = errors(text);
    let places: Vec<&str> = errors.iter().map(|error| error.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "alerts.yaml:5:11",
            "alerts.yaml:9:16",
            "alerts.yaml:11:15",
            "alerts.yaml:12:13"
        ]
    );
    assert!(
        errors[0].contains("when: ") && errors[0].contains("did you mean `sma`"),
        "{errors:?}"
    );
    assert!(errors[1].contains("threshold: "), "{errors:?}");
    assert!(errors[3].contains("notify: "), "{errors:?}");
}

#[test]
fn alert_needs_a_name_a_condition_and_one_kind_of_stocks() {
    let text = "version: 1
alerts:
  - when: price < 1
  - name: a
  - name: b
    when: price < 1
    condition: price_below
    symbol: AAPL
    scope: {watchlist: all}
  - dip
";
    let errors = errors(text);
    for (place, part) in [
        ("3:5", "no name"),
        ("4:5", "no condition"),
        ("6:11", "either `when` or `condition`"),
        ("8:13", "either `symbol` or `scope`"),
        ("10:5", "must be a map"),
    ] {
        let is_there = |error: &String| error.starts_with(&format!("alerts.yaml:{place}: ")) && error.contains(part);
        assert!(errors.iter().any(is_there), "{place} {part}: {errors:?}");
    }
}

#[test]
fn name_belongs_to_one_alert() {
    let text = "version: 1\nalerts:\n  - {name: a, symbol: AAPL, when: price < 1}\n  - {name: a, symbol: SPY, when: price < 1}\n";
    let errors = errors(text);
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].starts_with("alerts.yaml:4:12: the name `a` is also that of the alert at alerts.yaml:3"),
        "{errors:?}"
    );
}

#[test]
fn version_and_list_are_required() {
    assert_eq!(errors("alerts: []\n").len(), 1);
    assert!(errors("version: 2\nalerts: []\n")[0].starts_with("alerts.yaml:1:10: this program reads version 1"));
    assert!(errors("version: 1\n")[0].contains("`alerts` is missing"));
    assert!(errors("")[0].contains("begins with"));
    assert_eq!(read("version: 1\nalerts: []\n").unwrap().alerts.len(), 0);
}

#[test]
fn missing_variables_and_channels_are_errors() {
    let text = "version: 1\nalerts:\n  - {name: a, symbol: AAPL, when: 'price < ${NO}'}\n";
    assert!(
        errors(text)[0].contains("the variable NO is not set"),
        "{:?}",
        errors(text)
    );
    let text = "version: 1\nalerts:\n  - {name: a, symbol: AAPL, when: price < 1, notify: {channels: [phon]}}\n";
    let errors = errors(text);
    assert!(
        errors[0].starts_with("alerts.yaml:3:66: the account has no notification channel `phon`; it has phone"),
        "{errors:?}"
    );
}

#[test]
fn syntax_errors_have_their_places() {
    assert!(errors("version: 1\nalerts: [\n")[0].contains("not valid YAML"));
    assert!(errors_of("a.toml", "version = 1\nalerts = [\n")[0].contains("not valid TOML"));
    assert!(errors_of("a.json", "{\"version\": 1,")[0].starts_with("a.json:1:"));
}

#[test]
fn expectations_must_be_dates_and_numbers() {
    let text = "version: 1\nalerts:\n  - {name: a, symbol: AAPL, when: price < 1, expect: {fires_on: [today], at_most_per_year: -1}}\n";
    let errors = errors(text);
    assert!(
        errors[0].contains("must have dates") && errors[1].contains("at least 0"),
        "{errors:?}"
    );
    let set =
        alerts(&["{name: a, symbol: AAPL, when: price < 1, expect: {fires_on: [2024-08-05], at_most_per_year: 12}}"]);
    assert_eq!(set.alerts[0].expect.fires_on.len(), 1);
    assert!(!set.alerts[0].expect.is_empty());
}
