//! The form of the builder as the body of a create request, and the other way round.
//!
//! An input is named as the member that it sets (`options.rearm.at`), so that errors of the body are errors of the input. The two
//! functions are inverse for every body that a rule is read as, so that creating from the form creates what the rule says.

use std::collections::BTreeMap;

use alerts::condition::{ConditionKind, ParameterRule};
use serde_json::{Map, Number, Value, json};
use web::screens::builder::alert_form::{CONDITION, ONE_STOCK, SEVERAL_STOCKS, STOCKS, SYMBOL, SYMBOLS, THRESHOLD};

use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;

/// Options that are numbers.
const NUMBERS: [&str; 3] = ["options.max_firings", "options.rearm.at", "options.rearm.percent"];
/// Options that are true or false.
const FLAGS: [&str; 2] = ["options.cooldown_refire", "options.notify_on_expiry"];

/// Returns the body of the request that creates the alert of a form. Inputs that are left empty are omitted.
pub(super) fn body_of_form(form: &FormFields) -> Map<String, Value> {
    let mut body = Map::new();
    let value = |name: &str| form_field(form, name).trim();
    match value(STOCKS) {
        "" | ONE_STOCK => insert(&mut body, SYMBOL, json!(value(SYMBOL).to_uppercase())),
        SEVERAL_STOCKS => insert(&mut body, SYMBOLS, json!(symbols(value(SYMBOLS)))),
        part => insert(&mut body, "scope.watchlist", json!(part)),
    }
    let condition = value(CONDITION);
    insert(&mut body, CONDITION, json!(condition));
    let kind = ConditionKind::from_name(condition);
    let has_threshold = kind.is_some_and(|kind| kind.spec().request.threshold.is_some());
    // Of repeated inputs the last counts.
    let inputs: BTreeMap<&str, &str> = form.0.iter().map(|(name, text)| (name.as_str(), text.trim())).collect();
    for (name, text) in inputs {
        let is_member = name.starts_with("options.") || name == "notification";
        let member = match (name.strip_prefix("parameters."), text) {
            (_, "") => None,
            (Some(parameter), _) => kind.and_then(|kind| parameter_value(kind, parameter, text)),
            (None, _) if name == THRESHOLD && has_threshold => Some(number(text)),
            (None, _) if NUMBERS.contains(&name) => Some(number(text)),
            (None, _) if FLAGS.contains(&name) => Some(json!(text == "true")),
            (None, _) => is_member.then(|| json!(text)),
        };
        if let Some(member) = member {
            insert(&mut body, name, member);
        }
    }
    body
}

/// Returns a parameter; `None` if the condition has none of this name, because the input is of another condition.
fn parameter_value(kind: ConditionKind, name: &str, text: &str) -> Option<Value> {
    let parameters = kind.spec().request.parameters;
    let spec = parameters.iter().find(|parameter| parameter.name == name)?;
    Some(match (spec.rule, text) {
        (ParameterRule::Number(_), _) => number(text),
        (ParameterRule::Flag, "true" | "false") => json!(text == "true"),
        _ => json!(text),
    })
}

/// Returns a number with all its digits. A text that is no number stays a text, which the use case refuses with the field's name.
fn number(text: &str) -> Value {
    serde_json::from_str::<Number>(text).map_or_else(|_| json!(text), Value::Number)
}

fn symbols(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    words.filter(|word| !word.is_empty()).map(str::to_uppercase).collect()
}

/// Puts a member at its place, such as `options.rearm.at`.
fn insert(members: &mut Map<String, Value>, place: &str, value: Value) {
    match place.split_once('.') {
        None => drop(members.insert(place.to_owned(), value)),
        Some((parent, rest)) => {
            let parent = members.entry(parent).or_insert_with(|| json!({}));
            if let Value::Object(members) = parent {
                insert(members, rest, value);
            }
        }
    }
}

/// Returns the values of the inputs for the body of a create request.
pub(super) fn values_of_body(body: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    add_values("", body, &mut values);
    values.entry(STOCKS.to_owned()).or_insert_with(|| ONE_STOCK.to_owned());
    values
}

fn add_values(parent: &str, members: &Map<String, Value>, values: &mut BTreeMap<String, String>) {
    for (name, value) in members {
        let place = format!("{parent}{name}");
        let text = match value {
            Value::Object(members) => {
                add_values(&format!("{place}."), members, values);
                continue;
            }
            Value::Null => continue,
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                values.insert(STOCKS.to_owned(), SEVERAL_STOCKS.to_owned());
                items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            Value::Bool(_) => value.to_string(),
            Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        };
        if place == "scope.watchlist" {
            values.insert(STOCKS.to_owned(), text);
        } else {
            values.insert(place, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(values: BTreeMap<String, String>) -> FormFields {
        FormFields(values.into_iter().collect())
    }

    #[test]
    fn form_and_body_are_inverse() {
        for body in [
            json!({"symbol": "AAPL", "condition": "price_below", "threshold": 180}),
            json!({"symbol": "BRK.B", "condition": "price_above", "threshold": 0.123456, "notification": "sms"}),
            json!({
                "symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < 3", "within": "15m"},
                "options": {
                    "repeat": "each_time", "max_firings": 3, "cooldown": "2h", "cooldown_refire": true,
                    "rearm": {"at": 4.5}, "hold": "15m", "expires_at": "2030-01-31", "notify_on_expiry": true,
                    "snoozed_until": "2030-01-31T09:30:00Z", "session": "extended", "trigger": "two_lasts", "base": "open",
                },
            }),
            json!({
                "symbol": "AAPL", "condition": "insider_transactions", "threshold": 1_000_000,
                "parameters": {"direction": "buy", "windowDays": 14, "openMarketOnly": false},
            }),
            json!({"scope": {"symbols": ["AAPL", "MSFT"]}, "condition": "new_high"}),
            json!({"scope": {"watchlist": "buy"}, "condition": "new_high"}),
        ] {
            let values = values_of_body(body.as_object().unwrap());
            assert_eq!(Value::Object(body_of_form(&form(values))), body);
        }
    }

    #[test]
    fn inputs_of_another_condition_are_left_out() {
        let fields = [
            ("symbol", "aapl"),
            ("condition", "new_high"),
            ("threshold", "5"),
            ("parameters.direction", "rising"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let body = body_of_form(&FormFields(fields.into()));
        assert_eq!(Value::Object(body), json!({"symbol": "AAPL", "condition": "new_high"}));
    }

    #[test]
    fn text_in_place_of_a_number_stays_a_text() {
        let fields = [("condition", "price_below"), ("threshold", "1OO")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(body_of_form(&FormFields(fields.into()))["threshold"], "1OO");
    }
}
